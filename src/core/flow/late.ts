/**
 * What a key makes of signals that it hears behind the ends they are of: late, and perhaps told before. Late is seconds as a rule, and
 * hours where nobody was there to tell it. The key is to be as if it had heard in time, and by now that may be as if it had not.
 */
import type { Time } from '../job.ts'
import { RETRY_AFTER_MAX_MS } from '../limits.ts'
import { recoveryMs, STRIKE_MS } from './numbers.ts'
import type { GivenSignal } from './signal.ts'

/**
 * As it is heard now; undefined where nothing would be left of it. A time that was asked for runs from the end of the attempt; once it is
 * over, what is left is that the key was pushed back. That is over when the key would have recovered: told then it slows one that
 * nobody pushes back, and rotates a session that nobody has seen through. Failures and successes stand in a row, or end one, for as
 * long as a row may last: a late probe's success is not missed either, since the next probe follows at once.
 */
export function heardLate(signal: GivenSignal, lateMs: number, level: number): GivenSignal | undefined {
  if (lateMs === 0) return signal
  if (signal.type === 'retry_after') {
    const { retryAfterMs, ...rest } = signal
    // Nobody is held for longer than the most that is granted, so what is left is counted from that.
    const leftMs = Math.min(retryAfterMs, RETRY_AFTER_MAX_MS) - lateMs
    if (leftMs > 0) return { ...signal, retryAfterMs: leftMs }
    return heardLate({ ...rest, type: 'throttled' }, lateMs, level)
  }
  const lastsMs = signal.type === 'throttled' ? recoveryMs(level) : STRIKE_MS
  return lateMs > lastsMs ? undefined : signal
}

/** What is told of an attempt, by a name of its own. */
export interface Telling {
  readonly name: string
  readonly signal: GivenSignal
  readonly endedAt: Time
}

/** So many are remembered although nobody notes them any more: somebody may note one again that does not know it was told. */
const REMEMBERED = 100

/** Of those that are remembered: whom it takes a look at the notes to forget. */
export const agedOf = (remembered: readonly string[], told: number): readonly string[] =>
  remembered.slice(0, Math.max(0, remembered.length + told - REMEMBERED))

/**
 * Who of these is news, and who is remembered then. A telling is news while it is noted and not remembered, and is remembered for as long
 * as it is noted: what can be told again counts once, however many others came after it. `noted` is looked at after `remembered` was
 * read: who is no longer remembered is not noted any more.
 */
export function newsOf(remembered: readonly string[], told: readonly Telling[], noted: ReadonlySet<string>) {
  const news = told.filter(({ name }) => noted.has(name) && !remembered.includes(name))
  const aged = new Set(agedOf(remembered, news.length))
  const kept = remembered.filter((name) => !aged.has(name) || noted.has(name))
  return { news, remembered: [...kept, ...news.map(({ name }) => name)] }
}
