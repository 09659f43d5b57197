/** What holds for a key, in words; and a form of it as the gateway takes it. */
import { HELD_COUNTED, type Limit, type LimitKey } from '../api/limits.ts'
import { count } from '../words/format.ts'

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

const UNIT_NAMES = { d: 'day', h: 'hour', m: 'minute', s: 'second', ms: 'ms' } as const

function inUnits(ms: number): { readonly n: number; readonly unit: keyof typeof UNIT_NAMES } {
  const [unit, unitMs] = UNITS.find(([, each]) => ms % each === 0) ?? (['ms', 1] as const)
  return { n: ms / unitMs, unit }
}

/** As the gateway reads it: `1d`, `30s`, `250ms`. */
function windowText(ms: number): string {
  const { n, unit } = inUnits(ms)
  return `${n}${unit}`
}

/** After "per": `minute`, `30 seconds`. */
export function windowWords(ms: number): string {
  const { n, unit } = inUnits(ms)
  return n === 1 ? UNIT_NAMES[unit] : `${count(n)} ${UNIT_NAMES[unit]}${unit === 'ms' ? '' : 's'}`
}

export const rateText = ({ most, perMs }: { readonly most: number; readonly perMs: number }): string =>
  `${most}/${windowText(perMs).replace(/^1(?=[dhms]$)/, '')}`

/** When the present window of a budget ends: windows begin at multiples of their length. */
export const turnsAt = (perMs: number, now: number): number => (Math.floor(now / perMs) + 1) * perMs

export const heldText = (held: number): string => (held >= HELD_COUNTED ? `${count(held)} or more` : count(held))

export function limitWords({ concurrency, rate, budget, weight }: Limit): string {
  const words = [
    concurrency === undefined ? undefined : `${count(concurrency)} at once`,
    rate === undefined ? undefined : `${rateText(rate)} starts`,
    budget === undefined ? undefined : `${count(budget.amount)} to spend per ${windowWords(budget.perMs)}`,
    weight === undefined ? undefined : `weight ${weight}`,
  ].filter((word) => word !== undefined)
  return words.length === 0 ? 'no limit' : words.join(', ')
}

/** Nobody else is let in: all slots are taken, and somebody waits for one. */
export const isFull = ({ taken, held, limit: { concurrency } }: LimitKey): boolean =>
  held > 0 && concurrency !== undefined && taken >= concurrency

/** Whether its budget is gone: what it holds waits for the next window. */
export const isSpent = ({ spent, limit: { budget } }: LimitKey): boolean =>
  budget !== undefined && spent >= budget.amount

export interface LimitForm {
  readonly concurrency: string
  readonly rate: string
  readonly amount: string
  readonly per: string
  readonly weight: string
}

/** Only what was set by hand: an empty field leaves the number to code. */
export const formOf = ({ concurrency, rate, budget, weight }: Limit = {}): LimitForm => ({
  concurrency: concurrency === undefined ? '' : String(concurrency),
  rate: rate === undefined ? '' : rateText(rate),
  amount: budget === undefined ? '' : String(budget.amount),
  per: budget === undefined ? '' : windowText(budget.perMs),
  weight: weight === undefined ? '' : String(weight),
})

/** The gateway judges it: what is no number there is refused with its name. */
export function bodyOf({ concurrency, rate, amount, per, weight }: LimitForm): Readonly<Record<string, unknown>> {
  return {
    ...(concurrency === '' ? {} : { concurrency: Number(concurrency) }),
    ...(rate === '' ? {} : { rate: rate.replaceAll(/\s/g, '') }),
    ...(amount === '' && per === '' ? {} : { budget: { amount: amount === '' ? undefined : Number(amount), per } }),
    ...(weight === '' ? {} : { weight: Number(weight) }),
  }
}
