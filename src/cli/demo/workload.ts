/** A gentle stream of work, for as long as the demo runs: some of everything at once, then a job a round. */
import { FIELDS } from '../../core/invariants.ts'
import type { JobId } from '../../core/job.ts'
import type { Pawl } from '../../library/pawl.ts'
import { silentLog } from '../../system/log.ts'
import { type Service, service } from '../../system/service.ts'
import type { Timers } from '../../system/timers.ts'
import { chargeCard, fetchPage, greet, parseMail, refund, renderFilm } from './jobs.ts'

const NAMES = ['Ada', 'Grace', 'Edsger', 'Barbara', 'Leslie', 'Radia', 'Tony', 'Frances']
const FILMS = ['The Ratchet', 'Forward Only', 'A Lease of Life', 'The Second Attempt']

type Turn = (pawl: Pawl, n: number) => Promise<unknown>

const film: Turn = (pawl, n) => pawl.enqueue(renderFilm, { title: nth(FILMS, n) }, { priority: 'batch' })
const greeting: Turn = (pawl, n) => pawl.enqueue(greet, { name: nth(NAMES, n) })
const money: Turn = (pawl, n) =>
  pawl.enqueue(refund, { order: `A-${100 + n}`, cents: 4_200 + n }, { labels: { customer: nth(NAMES, n) } })
const page: Turn = (pawl, n) => pawl.enqueue(fetchPage, { url: `https://example.org/${n}` })
const charge: Turn = (pawl, n) => pawl.enqueue(chargeCard, { customer: nth(NAMES, n), cents: 100 * n })
const mail: Turn = (pawl, n) => pawl.enqueue(parseMail, { subject: `Re: offer ${n}` })

const OPENING: readonly Turn[] = [money, money, charge, mail, page, greeting]

/** What a round enqueues; read from the top, again and again. Most of it simply works. */
const ROUNDS: readonly Turn[] = [
  film,
  greeting,
  money,
  page,
  greeting,
  charge,
  (pawl, n) => pawl.enqueue(greet, { name: nth(NAMES, n) }, { delay: '15s' }),
  (pawl, n) => pawl.enqueue(fetchPage, { url: `https://example.org/${n}` }, { priority: 'interactive' }),
  mail,
  approveOthers,
]

const nth = (list: readonly string[], n: number): string => list[n % list.length] as string

/** How many refunds wait for whoever is watching. */
const YOURS = 5
const NIGHT_SHIFT_MOST = 50

/**
 * Somebody comes by and approves what has come last. The oldest are yours: an id stays good for as long as it takes to
 * read it and type it, and however fast jobs are made, no more than these wait.
 */
async function approveOthers(pawl: Pawl): Promise<void> {
  for (const { id } of (await waitingRefunds(pawl, YOURS + NIGHT_SHIFT_MOST)).slice(YOURS))
    await pawl.signal(id, 'approved', { by: 'the night shift' })
}

const waitingRefunds = async (pawl: Pawl, limit: number) =>
  (await pawl.find({ types: [refund.type], states: FIELDS.wait, order: 'oldest', limit })).jobs

/** So that there is something of every kind to see before anybody has typed a word. Answers with a refund that is yours. */
export async function openingHand(pawl: Pawl): Promise<JobId> {
  // In a store that was kept, those of the last time are the oldest.
  const [left] = await waitingRefunds(pawl, 1)
  const mine = await pawl.enqueue(refund, { order: 'A-100', cents: 4_200 }, { labels: { customer: nth(NAMES, 0) } })
  for (const [n, turn] of OPENING.entries()) await turn(pawl, n + 1)
  return left?.id ?? mine.id
}

export function workload(pawl: Pawl, timers: Timers, perSecond: number): Service {
  let n = 0
  const round = async () => {
    const turn = ROUNDS[n % ROUNDS.length] as Turn
    n += 1
    await turn(pawl, n)
  }
  return service({ name: 'demo workload', everyMs: 1_000 / perSecond, timers, log: silentLog, round })
}
