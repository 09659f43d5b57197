/** A gentle stream of work, for as long as the demo runs: a job a round, each type in its turn. */
import type { Pawl } from '../../pawl.ts'
import { silentLog } from '../../system/log.ts'
import { type Service, service } from '../../system/service.ts'
import type { Timers } from '../../system/timers.ts'
import { chargeCard, fetchPage, greet, parseMail, refund, renderFilm } from './jobs.ts'

const NAMES = ['Ada', 'Grace', 'Edsger', 'Barbara', 'Leslie', 'Radia', 'Tony', 'Frances']
const FILMS = ['The Ratchet', 'Forward Only', 'A Lease of Life', 'The Second Attempt']

/** What a round enqueues; read from the top, again and again. Most of it simply works. */
const ROUNDS: readonly ((pawl: Pawl, n: number) => Promise<unknown>)[] = [
  (pawl, n) => pawl.enqueue(renderFilm, { title: nth(FILMS, n) }, { priority: 'batch' }),
  (pawl, n) => pawl.enqueue(greet, { name: nth(NAMES, n) }),
  (pawl, n) =>
    pawl.enqueue(refund, { order: `A-${100 + n}`, cents: 4_200 + n }, { labels: { customer: nth(NAMES, n) } }),
  (pawl, n) => pawl.enqueue(fetchPage, { url: `https://example.org/${n}` }),
  (pawl, n) => pawl.enqueue(greet, { name: nth(NAMES, n) }),
  (pawl, n) => pawl.enqueue(chargeCard, { customer: nth(NAMES, n), cents: 100 * n }),
  (pawl, n) => pawl.enqueue(greet, { name: nth(NAMES, n) }, { delay: '15s' }),
  (pawl, n) => pawl.enqueue(fetchPage, { url: `https://example.org/${n}` }, { priority: 'interactive' }),
  (pawl, n) => pawl.enqueue(parseMail, { subject: `Re: offer ${n}` }),
  (pawl) => approveOne(pawl),
]

const nth = (list: readonly string[], n: number): string => list[n % list.length] as string

/** Somebody comes by and approves the oldest refund; the others are yours to approve. */
async function approveOne(pawl: Pawl): Promise<void> {
  const { jobs } = await pawl.find({ types: [refund.type], states: ['waiting', 'parked'], order: 'oldest', limit: 1 })
  const [job] = jobs
  if (job !== undefined) await pawl.signal(job.id, 'approved', { by: 'the night shift' })
}

export function workload(pawl: Pawl, timers: Timers, perSecond: number): Service {
  let n = 0
  const round = async () => {
    const turn = ROUNDS[n % ROUNDS.length] as (typeof ROUNDS)[number]
    n += 1
    await turn(pawl, n)
  }
  return service({ name: 'demo workload', everyMs: 1_000 / perSecond, timers, log: silentLog, round })
}
