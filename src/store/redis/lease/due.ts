import type { Time } from '../../../core/job.ts'
import type { DueAnswer } from '../../store.ts'
import type { Calls } from '../connection/calls.ts'
import { triples, words } from '../connection/reply.ts'
import { jobOf } from '../job/decode.ts'
import type { Kinds } from '../job/kinds.ts'
import { storedJobs } from '../read/stored-jobs.ts'

export interface DueParts {
  readonly calls: Calls
  readonly kinds: Kinds
  /** How long the feed, and reading events by type, reach back. */
  readonly feedMs: number
}

/** Less is how two clocks that nobody touches differ. */
const NOTICED_MS = 50

/** What waits to be judged. Who judges looks after nothing else. */
export function unjudged({ calls, kinds }: DueParts, limit: number): Promise<DueAnswer> {
  return calls.repeated(async () => {
    const answer = await calls.call('unjudged', [String(limit)])
    const [, ...rows] = words(answer)
    return { now: calls.timeIn(answer), jobs: (await storedJobs(kinds, triples(rows))).map(jobOf) }
  })
}

export function due({ calls, kinds, feedMs }: DueParts, limit: number): Promise<DueAnswer> {
  return calls.repeated(async () => {
    const answer = await calls.call('due', [String(limit), String(feedMs)])
    const [, setBack, isOutdated, ...rows] = words(answer)
    if (isOutdated === '1') await calls.call('outdated', [String(feedMs)])
    const jobs = (await storedJobs(kinds, triples(rows))).map(jobOf)
    const setBackMs = Number(setBack)
    return { now: calls.timeIn(answer), jobs, setBackMs: setBackMs > NOTICED_MS ? setBackMs : 0 }
  })
}

/** When `due` was last asked, and whether by this process. */
export interface LastDue {
  readonly now: Time
  readonly at: Time
  readonly isOwn: boolean
}

export function lastDue(calls: Calls): Promise<LastDue> {
  return calls.repeated(async () => {
    const answer = await calls.call('notch', [])
    const [, at, by = ''] = words(answer)
    return { now: calls.timeIn(answer), at: Number(at), isOwn: calls.isOwn(by) }
  })
}
