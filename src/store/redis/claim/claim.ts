import { toldKey } from '../../../core/flow/membership.ts'
import { hash53 } from '../../../core/hash.ts'
import type { Kind } from '../../../core/job.ts'
import { areTypes } from '../../../core/needs.ts'
import { leaseEnd } from '../../../core/timers.ts'
import { original, storable } from '../../codec/text.ts'
import { firstSide, letInFirst, SIDES_AT_ONCE } from '../../side-lanes.ts'
import { type ClaimAnswer, type ClaimedJob, type Grant, queueKey } from '../../store.ts'
import type { Calls } from '../connection/calls.ts'
import { triples, word, words } from '../connection/reply.ts'
import { limitId } from '../flow/ids.ts'
import { claimedAgain, jobOf } from '../job/decode.ts'
import { idOf } from '../job/id-text.ts'
import { type JobText, jobTextIn, NONE } from '../job/job-text.ts'
import type { Kinds } from '../job/kinds.ts'
import { needWord } from '../job/lane-word.ts'

export interface ClaimParts {
  readonly calls: Calls
  readonly kinds: Kinds
}

/** What the script gives for one job. */
interface Row {
  readonly id: string
  readonly text: JobText
  readonly input: string
}

export function claim({ calls, kinds }: ClaimParts, grant: Grant): Promise<ClaimAnswer> {
  return calls.repeated(async () => {
    const answer = await calls.call('claim', claimWords(grant))
    const now = calls.timeIn(answer)
    const replayed = answer[1] === '1'
    const rows: Row[] = []
    for (let i = 3; i < answer.length; i += 4) {
      const text = jobTextIn(word(answer[i + 1]), word(answer[i + 2]))
      rows.push({ id: word(answer[i]), text, input: word(answer[i + 3]) })
    }
    await kinds.learn(rows.map(({ text }) => text.kind))
    const at = Number(word(answer[0]))
    const documents = new Map(triples(words(answer[2])).map((document) => [document[0], document]))
    const jobs = rows.map((row) => {
      const kind = kinds.get(row.text.kind)
      const job = replayed
        ? claimedAgain({ id: idOf(row.id), text: row.text, kind }, inputOf(row))
        : claimed(row, kind, at)
      return documents.size === 0 ? job : withTold(job, documents)
    })
    return { now, replayed, jobs }
  })
}

/** With the key that hears how its attempt ends. */
function withTold(job: ClaimedJob, documents: ReadonlyMap<string, readonly [string, string, string]>): ClaimedJob {
  const { spec } = job.before
  const key = spec.flow === undefined ? undefined : toldKey(spec)
  const [, rev, text] = (key !== undefined && documents.get(limitId(spec.kind.tenant, key))) || []
  if (key === undefined || text === undefined) return job
  return { ...job, flow: { key, text: original(text), rev: Number(rev) } }
}

function claimWords(grant: Grant): readonly string[] {
  const { requestId, workerId, actor, nonce, lanes, serves, limit, limited = limit, maxInputBytes } = grant
  const worker = JSON.stringify(storable(workerId))
  const request = storable(requestId)
  // An actor who is the worker itself goes without saying.
  const said = actor === `worker:${workerId}` ? 'null' : JSON.stringify(storable(actor))
  const needs = serves === undefined ? [] : [...new Set(serves)].map(needWord)
  const isWhole = serves !== undefined && areTypes(serves)
  return [
    request,
    nonce,
    worker,
    `${worker},${JSON.stringify(request)},${said}`,
    String(hash53(requestId)),
    String(limit),
    String(firstSide(nonce)),
    String(Math.ceil(SIDES_AT_ONCE / Math.max(1, lanes.length))),
    String(maxInputBytes),
    String(lanes.length),
    String(serves === undefined ? -1 : needs.length),
    String(limited),
    letInFirst(grant) ? '1' : '0',
    isWhole ? '1' : '0',
    ...lanes.flatMap(({ tenant, queue, priority }) => [queueKey(tenant, queue), String(priority)]),
    ...needs,
  ]
}

function claimed(row: Row, kind: Kind, at: number): ClaimedJob {
  const { text } = row
  return {
    before: jobOf({ id: idOf(row.id), text, kind }),
    rev: Number(text.rev) + 1,
    attempt: Number(text.attempt) + 1,
    leaseExpiresAt: leaseEnd(at, Number(text.window)),
    at,
    input: inputOf(row),
  }
}

/** `+`: it is in the job's own text; `-`: there is none, or no room for it. */
function inputOf({ text, input }: Row): string | undefined {
  if (input === NONE) return undefined
  return input === '+' ? original(text.input) : original(input.slice(1))
}
