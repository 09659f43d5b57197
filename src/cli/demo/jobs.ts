/** The jobs of the demo: one for each thing worth seeing. */
import { PermanentError, TransientError } from '../../core/thrown.ts'
import { defineJob } from '../../library/define-job.ts'
import { realTimers } from '../../system/timers.ts'

const queue = 'demo'
const lease = '10s'
const heartbeat = '2s'

/** Succeeds at once. */
export const greet = defineJob<'greet', { readonly name: string }, string>({
  type: 'greet',
  queue,
  lease,
  heartbeat,
  run: ({ name }) => `Hello, ${name}!`,
})

/** Fails twice, then works: watch it go through `retrying`. */
export const fetchPage = defineJob<'fetch.page', { readonly url: string }, { readonly bytes: number }>({
  type: 'fetch.page',
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
export const chargeCard = defineJob<'charge.card', { readonly customer: string; readonly cents: number }, never>({
  type: 'charge.card',
  queue: 'payments',
  lease,
  heartbeat,
  retry: { attempts: 3, base: '500ms', factor: 2, max: '2s', jitter: 'none' },
  onExhausted: 'dead_letter',
  run({ customer }) {
    throw new TransientError(`the bank does not answer for “${customer}”`, { code: 'bank_down' })
  },
})

/** Cannot work, and says so at once. */
export const parseMail = defineJob<'parse.mail', { readonly subject: string }, never>({
  type: 'parse.mail',
  queue,
  lease,
  heartbeat,
  run({ subject }) {
    throw new PermanentError(`“${subject}” is no mail`, { code: 'unsupported_mime' })
  },
})

/** Waits for a person, holding no worker meanwhile; after a working day nobody has answered. */
export const refund = defineJob<'refund', { readonly order: string; readonly cents: number }, string>({
  type: 'refund',
  queue: 'payments',
  lease,
  heartbeat,
  async run({ order, cents }, ctx) {
    const answer = await ctx.waitFor<{ readonly by?: string }>('approved', { timeout: '8h' })
    if (answer.timedOut) throw new PermanentError(`nobody approved the refund of ${order}`, { code: 'not_approved' })
    return `${cents / 100} € for ${order}, approved by ${answer.payload?.by ?? 'somebody'}`
  },
})

const FRAMES = 20

/**
 * Takes a while and says how far it is; stops when it is cancelled. A film is rendered once at a time: however fast films
 * are asked for, they leave room for everything else.
 */
export const renderFilm = defineJob<'render.film', { readonly title: string }, { readonly frames: number }>({
  type: 'render.film',
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

export const DEMO_JOBS = [greet, fetchPage, chargeCard, parseMail, refund, renderFilm]
