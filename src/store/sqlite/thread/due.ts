import type { Time } from '../../../core/job.ts'
import { HANDED_OUT_MS } from '../../handed-out.ts'
import { lettersIn } from '../burden.ts'
import type { JobRow } from '../job-row.ts'
import type { Answered, Asked } from '../protocol.ts'
import type { Ledger } from './ledger.ts'
import { all, one } from './rows.ts'

export const anythingDue = (ledger: Ledger, { agenda }: Asked<'due'>): boolean =>
  one(ledger.sql[agenda === 'ticks' ? 'anyDue' : 'anyUnjudged'], ledger.clock.now())?.[0] === 1 || ledger.mustTellTime

/** The answer where nothing is due. */
export const notDue = ({ clock }: Ledger): Answered<'due'> => ({
  jobs: [],
  more: false,
  setBackMs: clock.takeSetBackMs(),
  heldMore: false,
})

/** Each is handed out by putting its time off, so that nobody else is given the job meanwhile. */
export function due(ledger: Ledger, { limit, agenda }: Asked<'due'>): Answered<'due'> {
  const heldMore = agenda === 'ticks' && letIn(ledger)
  if (ledger.mustTellTime) ledger.tellTime()
  const wanted = agenda === 'ticks' ? ticks(ledger, limit) : judgements(ledger, limit)
  const jobs: JobRow[] = []
  let looked = 0
  for (; looked < wanted.length && (looked === 0 || !ledger.burden.isFull); looked += 1) {
    const { id, putOff } = wanted[looked] as Due
    const job = ledger.whole(id)
    if (job === undefined) continue
    putOff(ledger.now + HANDED_OUT_MS)
    jobs.push(job)
    ledger.burden.take(lettersIn(job))
  }
  return { jobs, more: looked < wanted.length, setBackMs: ledger.clock.takeSetBackMs(), heldMore }
}

/** Whom time has made room for; whether there are more of them. */
function letIn({ usher, now }: Ledger): boolean {
  usher.noteDue(now)
  return usher.letIn(now)
}

interface Due {
  readonly id: number
  readonly putOff: (until: Time) => void
}

/** What has waited longest for a policy's word. */
const judgements = ({ sql, now }: Ledger, limit: number): readonly Due[] =>
  all(sql.unjudged, now, limit).map(([id]) => ({
    id: id as number,
    putOff: (until) => sql.judgeRest.run(until, id as number),
  }))

/**
 * The earliest ticks of all three places. A tick moves when it is put off; in a lane it stays where it is, and the job says when
 * it may be handed out again.
 */
function ticks({ sql, now }: Ledger, limit: number): readonly Due[] {
  // Jobs of a claim share the end of their leases until one of them is due: then each gets its own.
  if (one(sql.claimDue, now) !== undefined) {
    sql.tickClaimed.run(now)
    sql.untickClaims.run(now)
  }
  const found = [
    ...all(sql.dueLease, now, limit).map(([id, tick]) => ({
      id: id as number,
      tick: tick as number,
      putOff: (until: Time) => sql.tickLease.run(until, id as number),
    })),
    ...all(sql.dueRest, now, limit).map(([id, tick]) => ({
      id: id as number,
      tick: tick as number,
      putOff: (until: Time) => sql.tickRest.run(until, id as number),
    })),
    ...all(sql.dueReady, now, now, limit).map(([id, tick, lane, readyAt]) => ({
      id: id as number,
      tick: tick as number,
      putOff: (until: Time) => sql.tickReady.run(until, lane as number, readyAt as number, id as number),
    })),
  ]
  return found.sort((a, b) => a.tick - b.tick).slice(0, limit)
}

/** Leases that heartbeats have renewed since their tick was set: the true one, unless the job has moved again. */
export function retick(ledger: Ledger, rows: Asked<'retick'>): Answered<'retick'> {
  for (const [id, rev, tick] of rows) ledger.sql.retickLease.run(tick, id, rev)
  return null
}
