import { HANDED_OUT_MS } from '../../handed-out.ts'
import { lettersIn } from '../burden.ts'
import type { JobRow } from '../job-row.ts'
import type { Answered, Asked } from '../protocol.ts'
import type { Ledger } from './ledger.ts'
import { all, one } from './rows.ts'

export const anythingDue = (ledger: Ledger): boolean =>
  one(ledger.sql.anyDue, ledger.clock.now())?.[0] === 1 || ledger.mustTellTime

/** The answer where nothing is due. */
export const notDue = ({ clock }: Ledger): Answered<'due'> => ({
  jobs: [],
  more: false,
  setBackMs: clock.takeSetBackMs(),
  heldMore: false,
})

/**
 * The earliest ticks of all three places. Each moves ahead, so that nobody else is handed the job meanwhile; in a lane it
 * stays where it is, and the job says when it may be handed out again.
 */
export function due(ledger: Ledger, limit: Asked<'due'>): Answered<'due'> {
  const { sql, now, usher } = ledger
  usher.noteDue(now)
  const heldMore = usher.letIn(now)
  if (ledger.mustTellTime) ledger.tellTime()
  // Jobs of a claim share the end of their leases until one of them is due: then each gets its own.
  if (one(sql.claimDue, now) !== undefined) {
    sql.tickClaimed.run(now)
    sql.untickClaims.run(now)
  }
  const found = [
    ...all(sql.dueLease, now, limit).map(([id, tick]) => ({
      id,
      tick,
      move: () => sql.tickLease.run(later, id as number),
    })),
    ...all(sql.dueRest, now, limit).map(([id, tick]) => ({
      id,
      tick,
      move: () => sql.tickRest.run(later, id as number),
    })),
    ...all(sql.dueReady, now, now, limit).map(([id, tick, lane, readyAt]) => ({
      id,
      tick,
      move: () => sql.tickReady.run(later, lane as number, readyAt as number, id as number),
    })),
  ]
  const later = now + HANDED_OUT_MS
  found.sort((a, b) => (a.tick as number) - (b.tick as number))
  const jobs: JobRow[] = []
  const wanted = found.slice(0, limit)
  let looked = 0
  for (; looked < wanted.length && (looked === 0 || !ledger.burden.isFull); looked += 1) {
    const { id, move } = wanted[looked] as (typeof wanted)[number]
    const job = ledger.whole(id as number)
    if (job === undefined) continue
    move()
    jobs.push(job)
    ledger.burden.take(lettersIn(job))
  }
  return { jobs, more: looked < wanted.length, setBackMs: ledger.clock.takeSetBackMs(), heldMore }
}

/** Leases that heartbeats have renewed since their tick was set: the true one, unless the job has moved again. */
export function retick(ledger: Ledger, rows: Asked<'retick'>): Answered<'retick'> {
  for (const [id, rev, tick] of rows) ledger.sql.retickLease.run(tick, id, rev)
  return null
}
