/** The jobs of the demo: one for each thing worth seeing. With schemas, from which the dashboard makes its form. */
import { z } from 'zod'
import { PermanentError, ThrottledError, TransientError } from '../../core/thrown.ts'
import { defineJob } from '../../library/define-job.ts'
import { realTimers } from '../../system/timers.ts'

const queue = 'demo'
/** Short, so that a lost worker is noticed while somebody is looking: after two heartbeats and a second. */
const lease = '10s'
const heartbeat = '2s'

/** Succeeds at once. */
export const greet = defineJob({
  type: 'greet',
  input: z.object({ name: z.string().min(1).describe('Who is greeted') }),
  queue,
  lease,
  heartbeat,
  run: ({ name }) => `Hello, ${name}!`,
})

/** Fails twice, then works: watch it go through `retrying`. */
export const fetchPage = defineJob({
  type: 'fetch.page',
  input: z.object({ url: z.string().describe('Where the page is') }),
  queue,
  lease,
  heartbeat,
  retry: { attempts: 5, base: '1s', factor: 2, max: '5s', jitter: 'full' },
  async run({ url }, ctx) {
    if (ctx.attempt < 3) throw new TransientError(`503 from ${url}`, { code: 'E_5XX_ORIGIN' })
    const html = await ctx.step('fetch', () => `<html>${url}</html>`)
    return { bytes: html.length }
  },
})

/** Never works, and is put aside when its retries are spent. */
export const chargeCard = defineJob({
  type: 'charge.card',
  input: z.object({ customer: z.string(), cents: z.int().min(0) }),
  queue: 'payments',
  lease,
  heartbeat,
  retry: { attempts: 3, base: '500ms', factor: 2, max: '2s', jitter: 'none' },
  onExhausted: 'dead_letter',
  run({ customer }): never {
    throw new TransientError(`the bank does not answer for “${customer}”`, { code: 'bank_down' })
  },
})

/** Cannot work, and says so at once. */
export const parseMail = defineJob({
  type: 'parse.mail',
  input: z.object({ subject: z.string() }),
  queue,
  lease,
  heartbeat,
  run({ subject }): never {
    throw new PermanentError(`“${subject}” is no mail`, { code: 'unsupported_mime' })
  },
})

/** Waits for a person, holding no worker meanwhile; after a working day nobody has answered. */
export const refund = defineJob({
  type: 'refund',
  input: z.object({ order: z.string(), cents: z.int().min(1) }),
  queue: 'payments',
  lease,
  heartbeat,
  async run({ order, cents }, ctx) {
    const answer = await ctx.waitFor<{ readonly by?: string }>('approved', { timeout: '8h' })
    if (answer.timedOut) throw new PermanentError(`nobody approved the refund of ${order}`, { code: 'not_approved' })
    return `${cents / 100} € for ${order}, approved by ${answer.payload?.by ?? 'somebody'}`
  },
})

/** Does not run before it is let in: by the demo's policy if it is small, by a person if it is not. */
export const payOut = defineJob({
  type: 'pay.out',
  input: z.object({ invoice: z.string(), euros: z.number().min(1).max(100_000) }),
  queue: 'payments',
  lease,
  heartbeat,
  admission: true,
  run: ({ invoice, euros }) => `${euros} € for ${invoice}`,
})

/** Runs once somebody other than who asked for it has approved it. */
export const sendCampaign = defineJob({
  type: 'send.campaign',
  input: z.object({ subject: z.string().min(1), recipients: z.int().min(1) }),
  queue: 'mail',
  lease,
  heartbeat,
  admission: true,
  dedupe: ({ subject }) => subject,
  run: ({ recipients }) => ({ sent: recipients }),
})

/** Asks somebody who never answers: its time is over before it has come to anything. */
export const askPartner = defineJob({
  type: 'ask.partner',
  input: z.object({ question: z.string() }),
  queue,
  lease,
  heartbeat,
  deadline: '6s',
  async run(_, ctx) {
    // Not long enough to be parked for.
    await ctx.waitFor('answered', { timeout: '30s' })
  },
})

/** Books one thing after another, and where the last cannot be had undoes those before it. */
export const bookTrip = defineJob({
  type: 'book.trip',
  input: z.object({ to: z.string(), seats: z.int().min(1).max(9), car: z.boolean().optional() }),
  queue: 'travel',
  lease,
  heartbeat,
  async run({ to, seats, car = false }, ctx) {
    const flight = await ctx.step('flight', () => booked(`${seats} to ${to}`), { compensate: undone })
    const hotel = await ctx.step('hotel', () => booked(`a night in ${to}`), { compensate: undone })
    if (car) throw new PermanentError(`no car is to be had in ${to}`, { code: 'no_car' })
    return { flight, hotel }
  },
})

async function booked(what: string): Promise<string> {
  await realTimers.sleep(400)
  return what
}

const undone = (): Promise<void> => realTimers.sleep(400)

const PAGES = 8

/**
 * Takes its time, page by page. It runs in a process beside this one, which is killed now and then: what was read is kept in
 * steps, and the run after that goes on behind it.
 */
export const crawlSite = defineJob({
  type: 'crawl.site',
  input: z.object({ site: z.string() }),
  queue: 'crawl',
  module: import.meta.url,
  lease,
  heartbeat,
  dedupe: ({ site }) => site,
  retry: { stalls: 10 },
  async run({ site }, ctx) {
    for (let page = 1; page <= PAGES; page += 1) {
      await ctx.step(`page ${page}`, () => realTimers.sleep(1_000, ctx.signal))
      ctx.signal.throwIfAborted()
      ctx.progress({ done: page, total: PAGES, message: site })
    }
    return { pages: PAGES }
  },
})

const FRAMES = 20

/**
 * Takes a while and says how far it is; stops when it is cancelled. A film is rendered once at a time: however fast films
 * are asked for, they leave room for everything else.
 */
export const renderFilm = defineJob({
  type: 'render.film',
  input: z.object({ title: z.string() }),
  queue: 'render',
  lease,
  heartbeat,
  dedupe: ({ title }) => title,
  timeout: '5m',
  async run({ title }, ctx) {
    for (let done = 1; done <= FRAMES; done += 1) {
      await realTimers.sleep(1_000, ctx.signal)
      ctx.signal.throwIfAborted()
      ctx.progress({ done, total: FRAMES, message: title })
      ctx.count('frames', 1)
    }
    return { frames: FRAMES }
  },
})

/** A shop that will not be hurried: every third of its prices is refused once, and it says when to come back. */
export const STRICT_SHOP = 'strict.example'

/** Shares its shop with the others: two at a time, so that the third waits; and a shop that pushes back is left alone for a while. */
export const fetchPrice = defineJob({
  type: 'fetch.price',
  input: z.object({ shop: z.string().min(1), item: z.int().min(0) }),
  queue: 'shops',
  lease,
  heartbeat,
  // However fast prices are asked for, no more wait than there are items.
  dedupe: ({ shop, item }) => `${shop} ${item}`,
  limit: { key: ({ shop }) => shop, concurrency: 2, rate: '2/s' },
  async run({ shop, item }, ctx) {
    if (shop === STRICT_SHOP && item % 3 === 0 && ctx.attempt === 1)
      throw new ThrottledError(`${shop} asks for patience`, { code: 'E_429_RATE', retryAfterMs: 12_000 })
    await realTimers.sleep(3_000, ctx.signal)
    return { cents: 100 + item, session: ctx.flow?.session }
  },
})

/** Costs tokens, of which there are so many a minute: once they are spent, the others wait until it is over. */
export const summarise = defineJob({
  type: 'summarise',
  input: z.object({ title: z.string() }),
  queue,
  lease,
  heartbeat,
  dedupe: ({ title }) => title,
  limit: { key: 'tokens', budget: { amount: 2_000, per: '1m' } },
  async run({ title }, ctx) {
    await ctx.spend(800)
    return `${title}, in short`
  },
})

/** Comes by the clock. */
export const tidyUp = defineJob({
  type: 'tidy.up',
  input: z.object({ shelf: z.enum(['films', 'pages', 'mail']) }),
  queue,
  lease,
  heartbeat,
  run: ({ shelf }) => `the ${shelf} are tidy`,
})

/** Those that run in the demo's own process. */
export const HERE = [
  greet,
  fetchPage,
  chargeCard,
  parseMail,
  refund,
  payOut,
  sendCampaign,
  askPartner,
  bookTrip,
  renderFilm,
  fetchPrice,
  summarise,
  tidyUp,
]
