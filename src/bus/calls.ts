/**
 * What a worker asks and is answered: whether a dispatch in its hand is its to begin; progress; its heartbeat. Each goes to one of the
 * processes that listen. A call whose answer was lost is made again, and gets the answer it got.
 */
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import type { z } from 'zod'
import { parseFence } from '../core/fence.ts'
import { reasonOf } from '../core/reason.ts'
import type { Answer, Engine, Word } from '../engine/engine.ts'
import { beyond, type Caps } from '../gateway/caps.ts'
import { BODY_BYTES } from '../gateway/contract/route.ts'
import { sha256 } from '../system/digest.ts'
import type { Log } from '../system/log.ts'
import { heartbeat, type Progress, progress, read, start, type Told, toldOf, toldOfObjection } from './messages.ts'
import type { Registry } from './registry.ts'
import { consumerOf, subjectsOf } from './subjects.ts'

export interface CallParts {
  readonly connection: NatsConnection
  readonly engine: Pick<Engine, 'settle' | 'events' | 'now'>
  readonly tenant: string
  readonly registry: Registry
  readonly caps: Caps
  readonly log: Log
}

/** Processes that listen together: each call goes to one of them. */
const TOGETHER = 'pawl'
/** A caller beyond what may be under way is told to come again after this long. */
const AGAIN_MS = 1_000
const PAGE = 500

type Respond<S extends z.ZodType> = (parts: CallParts, said: z.output<S>) => Promise<object>

export function openCalls(parts: CallParts): Disposable {
  const { connection, tenant, caps, log } = parts
  const { start: starts, progress: progresses, heartbeat: heartbeats } = subjectsOf(tenant)
  let underWay = 0
  const listen = <S extends z.ZodType>(subject: string, schema: S, respond: Respond<S>, bytes?: number) => {
    const answer = async (message: Msg) => {
      const tell = (told: object) => void (message.reply && message.respond(JSON.stringify(told)))
      if (underWay >= caps.requests) return tell(toldOfObjection(beyond('requests', caps, { retryAfterMs: AGAIN_MS })))
      const said = read(schema, message.string(), bytes)
      if (!said.ok) return tell(said.told)
      underWay += 1
      try {
        tell(await respond(parts, said.value))
      } catch (error) {
        // Told nothing, the caller asks again: by then the store may be back.
        log.warn('a call over the bus failed', { subject, reason: reasonOf(error) })
      } finally {
        underWay -= 1
      }
    }
    return connection.subscribe(subject, {
      queue: TOGETHER,
      callback: (error, message) => void (error === null && answer(message)),
    })
  }
  const listening = [
    listen(starts, start, started),
    listen(progresses, progress, progressed),
    listen(heartbeats, heartbeat, beaten, BODY_BYTES.lists),
  ]
  return {
    [Symbol.dispose]() {
      for (const each of listening) each.unsubscribe()
    },
  }
}

const progressed: Respond<typeof progress> = async ({ engine, tenant }, { job_id, worker_id, fence, ...said }) => {
  const { counters, progress: done } = said
  const command = { type: 'progress', fence, counters, progress: done && progressOf(done) } as const
  const requestId = requestOf('progress', worker_id, fence, JSON.stringify(said))
  return await one(engine, { id: job_id, tenant, command: { ...command, actor: `worker:${worker_id}`, requestId } })
}

const progressOf = ({ done, total, message, etaAt }: NonNullable<Progress['progress']>) => ({
  done,
  total,
  message,
  etaAt: etaAt === undefined ? undefined : Date.parse(etaAt),
})

/**
 * A dispatch may have come twice, to two workers, under one fence: it is whose start is in the log. The store says yes to both, since
 * to say a thing twice is allowed; so the second looks whether it was its own word that it heard repeated. Each call is a request of its own:
 * were it known by its words, the one whose dispatch comes again when its job has ended would be told what it was told, and begin anew.
 */
const started: Respond<typeof start> = async ({ engine, tenant }, { job_id, worker_id, fence }) => {
  const actor = `worker:${worker_id}`
  const requestId = requestOf('start', worker_id, fence, String(engine.now()))
  const [answer] = await engine.settle([{ id: job_id, tenant, command: { type: 'start', fence, actor, requestId } }])
  if (answer?.ok !== true || !answer.replayed) return toldOfAnswer(answer, job_id)
  const other = await startedBy(engine, answer.jobId, fence)
  if (other === undefined || other.actor === actor) return toldOfAnswer(answer, job_id)
  const message = `${other.actor} has begun it, under the same dispatch.`
  const told: Told = { ok: false, job_id, code: 'TAKEN', message, next: 'Drop the dispatch.' }
  return told
}

/** The start of the attempt that a fence is of. */
async function startedBy(engine: CallParts['engine'], id: string, fence: string) {
  const { generation, attempt } = parseFence(fence) ?? {}
  for (let afterRev = 0; ; ) {
    const { events } = await engine.events({ by: 'job', id, afterRev, limit: PAGE })
    const found = events.find(
      (event) => event.type === 'started' && event.generation === generation && event.attempt === attempt,
    )
    if (found !== undefined || events.length < PAGE) return found
    afterRev = events.at(-1)?.rev ?? afterRev
  }
}

/** Says who is there and renews the leases of what it has; hears where its dispatches are, and what of its own it should let go. */
const beaten: Respond<typeof heartbeat> = async ({ engine, tenant, registry }, said) => {
  const { worker_id, jobs } = said
  const heard = await registry.heard(said)
  // Who is one too many gets nothing new, and keeps what it has.
  const place = heard.ok ? { ok: true, take: consumerOf(tenant, heard.squad).next } : heard.told
  const requestId = `bus/${engine.now()}/${worker_id.slice(0, 128)}`
  const words = jobs.map(({ job_id, fence }): Word => {
    const command = { type: 'heartbeat', fence, actor: `worker:${worker_id}`, requestId } as const
    return { id: job_id, tenant, command }
  })
  const answers = words.length === 0 ? [] : await engine.settle(words)
  return { ...place, jobs: jobs.map(({ job_id }, i) => toldOfAnswer(answers[i], job_id)) }
}

async function one(engine: CallParts['engine'], word: Word): Promise<object> {
  const [answer] = await engine.settle([word])
  return toldOfAnswer(answer, word.id)
}

function toldOfAnswer(answer: Answer | undefined, job_id: string): object {
  if (answer === undefined) throw new Error('every word is answered')
  if (!answer.ok) return toldOf(answer.refusal, job_id)
  const { cancel } = answer
  return { ok: true, job_id, ...(cancel !== undefined && { cancel: { mode: cancel.mode, reason: cancel.reason } }) }
}

/** One name for one word of one worker about one lease. The fence is no part of it that could be read. */
const requestOf = (...parts: readonly string[]): string => `bus/${sha256(JSON.stringify(parts)).slice(0, 32)}`
