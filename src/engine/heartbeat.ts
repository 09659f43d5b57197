import { stillHere } from '../core/decide/heartbeat.ts'
import { decide } from '../core/decide.ts'
import type { JobId, Lease, Time } from '../core/job.ts'
import { leaseRenewedAt, leaseWindowMs } from '../core/timers.ts'
import type { Beaten } from '../store/store.ts'
import type { Engine, HeartbeatAnswer, HeartbeatRequest, Word } from './engine.ts'
import type { ExecutorParts } from './execute.ts'

const BUSY_TRIES = 5
const BUSY_PAUSE_MS = 20

/**
 * Renews leases in one statement. Who has lost its lease, and what became of it, is told by core; and so is whatever a
 * heartbeat says besides that the lease goes on.
 */
export async function heartbeat(
  parts: ExecutorParts,
  settle: Engine['settle'],
  beats: readonly HeartbeatRequest[],
): Promise<readonly HeartbeatAnswer[]> {
  const answers: HeartbeatAnswer[] = new Array(beats.length)
  let open = beats.map((_, i) => i)
  const forCore: number[] = []
  let renewed = 0
  for (let n = 0; n < BUSY_TRIES && open.length > 0; n += 1) {
    if (n > 0) await parts.timers.sleep(BUSY_PAUSE_MS)
    const askedMs = parts.clock.asked()
    const answer = await parts.store.heartbeat(open.map((i) => beats[i] as HeartbeatRequest))
    parts.clock.heard(answer.now, askedMs)
    const busy: number[] = []
    for (const [n, place] of open.entries()) {
      const beaten = answer.items[n] as Beaten
      if (beaten.status === 'busy') busy.push(place)
      else if (beaten.status !== 'renewed') forCore.push(place)
      else {
        const { rev, leaseExpiresAt } = beaten
        answers[place] = { ok: true, rev, leaseExpiresAt, cancel: undefined }
        renewed += 1
        follow(parts, beats[place] as HeartbeatRequest, rev, leaseExpiresAt)
      }
    }
    open = busy
  }
  if (renewed > 0) parts.observer.renewed(renewed)
  await throughCore(parts, settle, beats, [...forCore, ...open], answers)
  return answers
}

/** The held record takes the same step. If it does not arrive where the store did, the job was changed in between, and is not held any more. */
function follow({ held }: ExecutorParts, beat: HeartbeatRequest, rev: number, leaseExpiresAt: Time): void {
  const job = held.get(beat.id, undefined)
  if (job === undefined) return
  const at = leaseRenewedAt(leaseExpiresAt, leaseWindowMs(job.spec.kind.policy))
  const decision = decide(job, stillHere(job, beat.fence, beat.requestId), at)
  const agrees =
    decision.kind === 'accepted' && decision.job.rev === rev && decision.job.lease?.expiresAt === leaseExpiresAt
  if (agrees) held.keep(decision.job)
  else held.drop(beat.id)
}

/**
 * As any other word: a refusal with its reasons and its note beside the log; or, where there was more to say or a row was
 * only busy, the renewal after all.
 */
async function throughCore(
  parts: ExecutorParts,
  settle: Engine['settle'],
  beats: readonly HeartbeatRequest[],
  places: readonly number[],
  answers: HeartbeatAnswer[],
): Promise<void> {
  if (places.length === 0) return
  const words = places.map((place): Word => {
    const { id, fence, requestId } = beats[place] as HeartbeatRequest
    return { id, byFence: true, command: { type: 'heartbeat', actor: 'worker', requestId, fence } }
  })
  const judged = await settle(words)
  for (const [n, place] of places.entries()) {
    const answer = judged[n]
    if (answer === undefined) continue
    if (!answer.ok) answers[place] = answer
    else {
      const { rev, cancel, at, jobId } = answer
      answers[place] = { ok: true, rev, leaseExpiresAt: (await leaseOf(parts, jobId))?.expiresAt ?? at, cancel }
    }
  }
}

/** The lease after a renewal: out of what is held, or, where a try whose answer was lost had renewed it, out of the store. */
async function leaseOf({ held, store }: ExecutorParts, id: JobId): Promise<Lease | undefined> {
  const job = held.get(id, undefined) ?? (await store.load([{ id }])).items[0]?.job
  return job?.lease
}
