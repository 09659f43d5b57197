/**
 * When a server wants to be asked again, as the error of a failed request tells it. Clients keep the answer's headers in
 * `error.headers` or `error.response.headers`, some of them only in the cause; a bare `retryAfter` of somebody else's error
 * is not believed, because it is seconds here and milliseconds there.
 */
import { parseDuration } from '../core/duration.ts'
import type { Time } from '../core/job.ts'
import { RETRY_AFTER_MAX_MS } from '../core/limits.ts'
import { property, unheard } from './thrown-value.ts'

/** Milliseconds from now; undefined where nothing says so. */
export function retryAfterMsOf(thrown: unknown, now: Time): number | undefined {
  try {
    const ms = ownWish(thrown, now) ?? headersOf(thrown, now) ?? headersOf(fieldOf(thrown, 'cause'), now)
    return ms === undefined ? undefined : Math.min(Math.round(ms), RETRY_AFTER_MAX_MS)
  } catch {
    // An error whose fields cannot be read has nothing to say about time.
    return undefined
  }
}

/** The wait that a `JobError` asks for. */
const ownWish = (thrown: unknown, now: Time): number | undefined =>
  fieldOf(thrown, 'errorClass') === undefined ? undefined : fromNow(fieldOf(thrown, 'retryAfter'), now)

function headersOf(error: unknown, now: Time): number | undefined {
  for (const carrier of [error, fieldOf(error, 'response')]) {
    const [inMs, after] = headersIn(fieldOf(carrier, 'headers'), ['retry-after-ms', 'retry-after'])
    const ms = Number(inMs ?? Number.NaN)
    if (ms >= 0) return ms
    const wish = fromNow(after, now)
    if (wish !== undefined) return wish
  }
  return undefined
}

/** `Headers`, or a plain object with names in any case, which are listed once. */
function headersIn(headers: unknown, wanted: readonly string[]): readonly unknown[] {
  if (typeof headers !== 'object' || headers === null) return []
  const { get } = headers as { readonly get?: unknown }
  if (typeof get === 'function') return wanted.map((name) => unheard(Reflect.apply(get, headers, [name])))
  const names = Object.keys(headers)
  return wanted.map((name) => {
    const spelt = names.find((each) => each.length === name.length && each.toLowerCase() === name)
    return spelt === undefined ? undefined : property(headers, spelt)
  })
}

const SECONDS = /^\d{1,10}(?:\.\d{1,6})?$/
/** Dates of HTTP and of ISO 8601: `Date.parse` takes other texts as well, and guesses. */
const DATE =
  /^(?:[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT|\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2}))$/

function fromNow(wish: unknown, now: Time): number | undefined {
  if (wish instanceof Date) return untilMs(wish.getTime(), now)
  if (typeof wish !== 'string') return typeof wish === 'number' && wish >= 0 ? wish : undefined
  const text = wish.trim()
  if (SECONDS.test(text)) return Number(text) * 1_000
  return DATE.test(text) ? untilMs(Date.parse(text), now) : parseDuration(text)
}

const untilMs = (time: number, now: Time): number | undefined =>
  Number.isNaN(time) ? undefined : Math.max(0, time - now)

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? property(value, name) : undefined
