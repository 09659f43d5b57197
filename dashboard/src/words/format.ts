/** Numbers and times as this page says them. */

export function count(n: number): string {
  const whole = Math.round(n)
  if (whole < 100_000) return whole.toLocaleString('en-US')
  if (whole < 1_000_000) return `${Math.round(whole / 1_000)} k`
  return `${(whole / 1_000_000).toFixed(1)} M`
}

/** Per minute; from ten a second on, per second. */
export function rate(perMinute: number): string {
  if (perMinute < 0.05) return '–'
  if (perMinute >= 600) return `${count(perMinute / 60)}/s`
  return `${perMinute < 10 ? perMinute.toFixed(1) : count(perMinute)}/min`
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** `0.4 s`, `18 min`, `2 h 40 min`, `6 d`. */
export function span(ms: number): string {
  const length = Math.max(0, ms)
  if (length < 1) return 'under 1 ms'
  if (length < 100) return `${Math.round(length)} ms`
  if (length < 10 * SECOND) return `${(length / SECOND).toFixed(1)} s`
  if (length < MINUTE) return `${Math.floor(length / SECOND)} s`
  if (length < HOUR) return two(length, MINUTE, 'min', SECOND, 's', 5)
  if (length < DAY) return two(length, HOUR, 'h', MINUTE, 'min', 10)
  return two(length, DAY, 'd', HOUR, 'h', 10)
}

function two(ms: number, unit: number, name: string, below: number, belowName: string, until: number): string {
  const n = Math.floor(ms / unit)
  const rest = Math.floor((ms % unit) / below)
  return n >= until || rest === 0 ? `${n} ${name}` : `${n} ${name} ${rest} ${belowName}`
}

/** How long ago, in whole units: what changes every second in a list is one number, and no tenth of it. */
export function ago(ms: number): string {
  if (ms < SECOND) return 'now'
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`
  return span(ms)
}

/** A moment, seen from now. */
export const relative = (at: number, now: number): string =>
  at > now ? `in ${span(at - now)}` : now - at < SECOND ? 'just now' : `${ago(now - at)} ago`

export const clock = (at: number): string => new Date(at).toISOString().slice(11, 19)

/** To the millisecond, for a tooltip. */
export const absolute = (at: number): string => `${new Date(at).toISOString().replace('T', ' ').slice(0, 23)} UTC`

export function bytes(n: number): string {
  if (n < 1_000) return `${n} B`
  return n < 1_000_000 ? `${(n / 1_000).toFixed(1)} kB` : `${(n / 1_000_000).toFixed(1)} MB`
}

export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`

const NUMBERS = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine'] as const

/** At the beginning of a sentence. */
export const inWords = (n: number): string => NUMBERS[n] ?? count(n)
