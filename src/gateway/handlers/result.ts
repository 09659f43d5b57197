/** `GET /jobs/{id}/result`: how it ended; waits for the end where asked to. */
import type { z } from 'zod'
import { isEnded } from '../../core/job.ts'
import { refuse } from '../../core/refuse.ts'
import { resultGone } from '../../core/stripped.ts'
import type { Share } from '../allowance.ts'
import { type Call, type Handler, json, type Parts, type Reply } from '../call.ts'
import type { resultQuery } from '../contract/queries.ts'
import { toWire } from '../contract/wire.ts'
import { isMasked } from '../masking.ts'
import { Objected, problemOf } from '../problem.ts'
import { loaded } from './jobs.ts'

/** Hints may be lost. */
const LOOK_EVERY_MS = 1_000

export const showResult: Handler = (call, parts) => {
  const { waitMs } = call.query as z.output<typeof resultQuery>
  return ended(call, parts, waitMs)
}

/** How the job that the path names has ended, or that it has not within the time. */
export async function ended(call: Call, parts: Parts, waitMs: number): Promise<Reply> {
  const until = parts.clock.monotonicMs() + waitMs
  const bodies = isMasked(call) ? [] : ['output']
  using poll: Share = parts.polls.share(call.token)
  let waits = false
  for (;;) {
    const { job, bodies: texts } = await loaded(call, parts, bodies)
    const { id, state, rev, error, deadLetter, verdict, cancel, endedAt, executionMs } = job
    if (isEnded(job)) {
      const bare = resultGone(job)
      if (bare !== undefined) throw new Objected(problemOf(refuse(bare.code, { job, message: bare.message })))
      const shown = toWire({
        jobId: id,
        state,
        rev,
        error,
        deadLetter,
        verdict,
        cancel,
        endedAt,
        executionMs,
        resultPtr: job.result?.ptr,
      }) as object
      return json(200, shown, { result: texts['output'] === '' ? undefined : texts['output'] })
    }
    const leftMs = until - parts.clock.monotonicMs()
    if (leftMs <= 0 || call.signal.aborted) return json(202, { jobId: id, state, rev })
    if (!waits) poll.take(1)
    waits = true
    call.leave()
    await parts.wakes.next(id, Math.min(leftMs, LOOK_EVERY_MS), call.signal)
    await call.stillWelcome()
  }
}
