/** Operations: asked for, listed, shown and cancelled. An operation does what the token that asked for it may, and no more. */
import type { z } from 'zod'
import type { OperationStatus } from '../../core/operation.ts'
import { refuse } from '../../core/refuse.ts'
import { Operations } from '../../engine/operations/operations.ts'
import { operationFrom } from '../../engine/operations/words.ts'
import { type Call, type Handler, json, type Parts, type Reply } from '../call.ts'
import { type operation, type operationsQuery, operationToWire } from '../contract/operation-schema.ts'
import { isMasked } from '../masking.ts'
import { Objected, objection, problemOf } from '../problem.ts'
import { audited } from './audit.ts'
import { fromCursor } from './jobs.ts'

export const startOperation: Handler = (call, parts) => started(call, parts, call.body as z.output<typeof operation>)

export const redriveDeadLetters: Handler = (call, parts) =>
  started(call, parts, { ...(call.body as z.output<typeof operation>), action: 'redrive' })

async function started(call: Call, parts: Parts, words: z.output<typeof operation>) {
  const { token, kept } = call
  if (words.action === 'purge' && token.scope !== 'admin')
    throw new Objected(objection('FORBIDDEN', 'What is purged is gone with its log: that takes an admin token.'))
  const by = actorOf(call)
  const edit = { input: kept.get('input'), patch: kept.get('patch') }
  const judged = operationFrom(words, { by, queues: token.queues, ...edit })
  if (!judged.ok)
    throw new Objected(
      objection(
        'MALFORMED',
        'The operation cannot be begun.',
        judged.violations.map(({ field, rule }) => ({ field: `body.${field}`, rule })),
      ),
    )
  const { action, query, dryRun, reason } = judged.spec
  if (!dryRun) await audited(call, parts, { act: 'operation.started', about: `${action} ${query}`, reason })
  const operations = new Operations(parts.engine)
  const work = () => operations.start(token.tenant, judged.spec, words.requestId ?? call.requestId)
  const answer = await parts.writes.take({ holder: token, weight: 1, work })
  if (!answer.ok) throw new Objected(problemOf(answer.refusal))
  return shown(call, await mustFind(call, operations, answer.job.id), 202)
}

export const listOperations: Handler = async (call, parts) => {
  const { limit, cursor } = call.query as z.output<typeof operationsQuery>
  const read = () => new Operations(parts.engine).page(call.token.tenant, cursor, limit)
  const page = await fromCursor(cursor, 'cursor', read)
  const operations = page.operations.filter((status) => isTheirs(call, status))
  return json(200, { operations: operations.map((status) => told(call, status)), cursor: page.cursor })
}

export const showOperation: Handler = async (call, parts) =>
  shown(call, await mustFind(call, new Operations(parts.engine), idIn(call)))

export const cancelOperation: Handler = async (call, parts) => {
  const operations = new Operations(parts.engine)
  const { id } = await mustFind(call, operations, idIn(call))
  await audited(call, parts, { act: 'operation.cancelled', about: id })
  const answer = await operations.cancel(call.token.tenant, id, actorOf(call), call.requestId)
  if (!answer.ok) throw new Objected(problemOf(answer.refusal))
  return shown(call, await mustFind(call, operations, id))
}

async function mustFind(call: Call, operations: Operations, id: string): Promise<OperationStatus> {
  const status = await operations.find(call.token.tenant, id)
  if (status !== undefined && isTheirs(call, status)) return status
  throw new Objected(problemOf(refuse('NOT_FOUND', { message: `There is no operation ${id}.` })))
}

const idIn = ({ params }: Call): string => params['operation'] ?? ''

const actorOf = ({ token }: Call): string => `${token.scope}:${token.name}`

/** A token that is bound to queues sees what was done to these alone. */
const isTheirs = ({ token }: Call, { spec }: OperationStatus): boolean =>
  token.queues === undefined || spec.queues?.every((queue) => token.queues?.includes(queue)) === true

const shown = (call: Call, status: OperationStatus, code = 200): Reply => json(code, told(call, status))

/** Viewers do not see inputs, and a search may quote them. */
function told(call: Call, status: OperationStatus): object {
  const wire = operationToWire(status)
  return isMasked(call) ? { ...wire, query: undefined, masked: true } : wire
}
