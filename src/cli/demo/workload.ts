/** A gentle stream of work, for as long as the demo runs: some of everything at once, then a job a round. */
import type { JobId } from '../../core/job.ts'
import type { Pawl } from '../../library/pawl.ts'
import { silentLog } from '../../system/log.ts'
import { type Service, service } from '../../system/service.ts'
import type { Timers } from '../../system/timers.ts'
import {
  askPartner,
  bookTrip,
  chargeCard,
  crawlSite,
  fetchPage,
  fetchPrice,
  greet,
  parseMail,
  payOut,
  refund,
  renderFilm,
  STRICT_SHOP,
  sendCampaign,
  summarise,
  tidyUp,
} from './jobs.ts'
import { approveOthers, callOff, doToMany, reviewOthers, sizeOf, waitingRefunds } from './night-shift.ts'
import { YOURSELF } from './policy.ts'

const NAMES = ['Ada', 'Grace', 'Edsger', 'Barbara', 'Leslie', 'Radia', 'Tony', 'Frances']
const FILMS = ['The Ratchet', 'Forward Only', 'A Lease of Life', 'The Second Attempt']
const SITES = ['one.example', 'two.example', 'three.example']
const PLACES = ['Oslo', 'Porto', 'Riga', 'Turin']

const SHOPS = [STRICT_SHOP, 'busy.example', 'shop.example', 'corner.example', 'mill.example']
/** Of one shop, at once: more than it lets in. */
const ITEMS = 6

/** Comes by the clock; while it is paused, nothing else is enqueued either: so whoever watches may stop all of it, from the dashboard as from a terminal. */
const WORK = 'demo-work'

type Turn = (pawl: Pawl, n: number) => Promise<unknown>

const film: Turn = (pawl, n) => pawl.enqueue(renderFilm, { title: nth(FILMS, n) }, { priority: 'batch' })
const greeting: Turn = (pawl, n) => pawl.enqueue(greet, { name: nth(NAMES, n) })
const money: Turn = (pawl, n) =>
  pawl.enqueue(refund, { order: `A-${100 + n}`, cents: 4_200 + n }, { labels: { customer: nth(NAMES, n) } })
const page: Turn = (pawl, n) => pawl.enqueue(fetchPage, { url: `https://example.org/${n}` })
const charge: Turn = (pawl, n) => pawl.enqueue(chargeCard, { customer: nth(NAMES, n), cents: 100 * n })
const mail: Turn = (pawl, n) => pawl.enqueue(parseMail, { subject: `Re: offer ${n}` })
const payment: Turn = (pawl, n) => {
  const euros = 100 + ((n * 370) % 1_900)
  return pawl.enqueue(payOut, { invoice: `R-${n}`, euros }, { labels: { size: sizeOf(euros) } })
}
/** One that is yours, which another must approve, and one that is another's. */
const campaigns: Turn = (pawl) =>
  Promise.all([
    pawl.enqueue(sendCampaign, { subject: 'The winter sale', recipients: 48_210 }, { actor: YOURSELF }),
    pawl.enqueue(sendCampaign, { subject: 'We have moved', recipients: 1_204 }, { actor: 'producer:shop' }),
  ])
const question: Turn = (pawl, n) => pawl.enqueue(askPartner, { question: `Where is parcel ${n}?` })
const trip: Turn = (pawl, n) => pawl.enqueue(bookTrip, { to: nth(PLACES, n), seats: 1 + (n % 3), car: n % 2 === 1 })
const site: Turn = (pawl, n) => pawl.enqueue(crawlSite, { site: nth(SITES, n) })
const prices: Turn = (pawl, n) =>
  Promise.all(Array.from({ length: ITEMS }, (_, item) => pawl.enqueue(fetchPrice, { shop: nth(SHOPS, n), item })))
const summary: Turn = (pawl, n) => pawl.enqueue(summarise, { title: nth(NAMES, n) })

const OPENING: readonly Turn[] = [
  money,
  money,
  charge,
  mail,
  page,
  greeting,
  payment,
  payment,
  payment,
  payment,
  campaigns,
  question,
  trip,
  site,
  film,
  prices,
  summary,
]

/** What a round enqueues; read from the top, again and again. Most of it simply works. As many as no list of names divides: each meets all. */
const ROUNDS: readonly Turn[] = [
  film,
  greeting,
  prices,
  money,
  page,
  summary,
  trip,
  charge,
  greeting,
  site,
  payment,
  (pawl, n) => pawl.enqueue(greet, { name: nth(NAMES, n) }, { delay: '15s' }),
  (pawl, n) => pawl.enqueue(fetchPage, { url: `https://example.org/${n}` }, { priority: 'interactive' }),
  summary,
  question,
  prices,
  mail,
  approveOthers,
  greeting,
  reviewOthers,
  doToMany,
  callOff,
  prices,
]

const nth = (list: readonly string[], n: number): string => list[n % list.length] as string

/** So that there is something of every kind to see before anybody has typed a word. Answers with a refund that is yours. */
export async function openingHand(pawl: Pawl): Promise<JobId> {
  // In a store that was kept, those of the last time are the oldest.
  const [left] = await waitingRefunds(pawl, 1)
  const mine = await pawl.enqueue(refund, { order: 'A-100', cents: 4_200 }, { labels: { customer: nth(NAMES, 0) } })
  await Promise.all([
    ...OPENING.map((turn, n) => turn(pawl, n + 1)),
    pawl.schedule(WORK, { every: '1m', paused: false }, greet, { name: 'whoever watches' }),
    pawl.schedule('tidy-films', { every: '30s' }, tidyUp, { shelf: 'films' }),
    pawl.schedule('tidy-mail', { cron: '0 3 * * *', timeZone: 'Europe/Berlin' }, tidyUp, { shelf: 'mail' }),
  ])
  return left?.id ?? mine.id
}

export function workload(pawl: Pawl, timers: Timers, perSecond: number): Service {
  let n = 0
  const round = async () => {
    if ((await pawl.schedules.get(WORK))?.paused === true) return
    const turn = ROUNDS[n % ROUNDS.length] as Turn
    n += 1
    await turn(pawl, n)
  }
  return service({ name: 'demo workload', everyMs: 1_000 / perSecond, timers, log: silentLog, round })
}
