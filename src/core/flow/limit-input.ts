/** From what a caller writes about a key to the limit that is kept for it. */
import { DURATION_RULE, type Duration, parseDuration } from '../duration.ts'
import { type Bound, LENGTHS, LIMITS, SIZES } from '../limits.ts'
import type { DeclaredLimit, Policy } from '../policy.ts'
import type { Violation } from '../refusal.ts'
import { unknownWords } from '../unknown-words.ts'
import type { Limit } from './key.ts'

export interface LimitInput {
  /**
   * So many jobs at once.
   * @default any number
   */
  readonly concurrency?: number | undefined
  /**
   * So many starts within any window: `'5/s'`, `'100/m'`, `'10/30s'`, `{ most: 10, per: '30s' }`.
   * @default any number
   */
  readonly rate?: string | { readonly most: number; readonly per: Duration } | undefined
  /**
   * So much may be spent (`ctx.spend`) within each window; windows begin at multiples of their length.
   * @default any amount
   */
  readonly budget?: { readonly amount: number; readonly per: Duration } | undefined
  /**
   * Its share of the turns among those that wait at one place.
   * @default 1
   */
  readonly weight?: number | undefined
  /**
   * Whether this key hears how attempts end, and slows down when it is pushed back.
   * @default the first key does, unless another is marked
   */
  readonly adaptive?: boolean | undefined
}

/** What is wrong goes to `found`, each by its field. */
export function resolveLimit(asked: LimitInput, field: string, found: Violation[]): DeclaredLimit {
  const { concurrency, rate, budget, weight, adaptive } = asked
  const within = (name: string, value: number, { min, max }: Bound, whole: boolean) => {
    if ((whole ? Number.isInteger(value) : Number.isFinite(value)) && value >= min && value <= max) return
    found.push({ field: `${field}.${name}`, rule: `must be a ${whole ? 'whole ' : ''}number from ${min} to ${max}` })
  }
  const perMs = (name: string, per: Duration, bound: Bound): number => {
    const ms = parseDuration(per)
    if (ms === undefined) found.push({ field: `${field}.${name}`, rule: DURATION_RULE })
    else within(name, ms, bound, true)
    return ms ?? 0
  }
  if (concurrency !== undefined) within('concurrency', concurrency, LIMITS.concurrency, true)
  if (weight !== undefined) within('weight', weight, LIMITS.weight, false)
  if (budget !== undefined) within('budget.amount', budget?.amount, LIMITS.amount, false)
  const paced = rate === undefined ? undefined : rateOf(rate)
  if (rate !== undefined && paced === undefined) found.push({ field: `${field}.rate`, rule: RATE_RULE })
  if (paced !== undefined) within('rate.most', paced.most, LIMITS.rate, true)
  return {
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(paced === undefined ? {} : { rate: { most: paced.most, perMs: perMs('rate.per', paced.per, LIMITS.rateMs) } }),
    ...(budget === undefined
      ? {}
      : { budget: { amount: budget?.amount, perMs: perMs('budget.per', budget?.per, LIMITS.budgetMs) } }),
    ...(weight === undefined ? {} : { weight }),
    ...(adaptive === undefined ? {} : { adaptive }),
  }
}

const NUMBERS: readonly string[] = ['concurrency', 'rate', 'budget', 'weight']
const WORDS: readonly string[] = [...NUMBERS, 'adaptive']

/** What is set by hand: at least one number, for to set none would be to remove those that are set. */
export function resolveByHand(asked: unknown, field: string, found: Violation[]): Limit {
  const wrong = misspelt(asked, field, NUMBERS)
  found.push(...wrong)
  if (wrong.length > 0) return {}
  const limit = resolveLimit(asked as LimitInput, field, found)
  if (Object.keys(limit).length === 0) found.push({ field, rule: `must have one of ${NUMBERS.join(', ')}` })
  return limit
}

/** What a policy has of them: numbers for each of its jobs' keys, and the codes that break one. */
export function resolveLimits(
  {
    limits,
    breaking,
  }: { readonly limits?: readonly LimitInput[] | undefined; readonly breaking?: readonly string[] | undefined },
  found: Violation[],
): Pick<Policy, 'limits' | 'breaking'> {
  const most = { limits: SIZES.limits, breaking: SIZES.breaking }
  if (limits !== undefined && !(Array.isArray(limits) && limits.length <= most.limits))
    found.push({ field: 'limits', rule: `must be a list of at most ${most.limits}` })
  else found.push(...(limits ?? []).flatMap((each, i) => misspelt(each, `limits.${i}`, WORDS)))
  const isCode = (code: unknown) => typeof code === 'string' && code !== '' && code.length <= LENGTHS.name
  if (
    breaking !== undefined &&
    !(Array.isArray(breaking) && breaking.length <= most.breaking && breaking.every(isCode))
  )
    found.push({ field: 'breaking', rule: `must be a list of at most ${most.breaking} codes` })
  return {
    ...(Array.isArray(limits)
      ? { limits: limits.map((each, i) => resolveLimit(each ?? {}, `limits.${i}`, found)) }
      : {}),
    ...(breaking === undefined ? {} : { breaking }),
  }
}

function misspelt(limit: unknown, field: string, words: readonly string[]): readonly Violation[] {
  if (typeof limit !== 'object' || limit === null) return [{ field, rule: 'must be an object' }]
  return unknownWords(limit, words, field)
}

const RATE_RULE = "must be like '5/s', '100/m', '10/30s', or { most, per }"
const RATE = /^(\d+)\s*\/\s*(\d+(?:\.\d+)?)?\s*([a-z]+)$/

function rateOf(rate: NonNullable<LimitInput['rate']>): { readonly most: number; readonly per: Duration } | undefined {
  if (typeof rate !== 'string') return { most: rate?.most, per: rate?.per }
  const [, most, count = '1', unit] = RATE.exec(rate) ?? []
  const per = `${count}${unit}` as Duration
  return most === undefined || unit === undefined ? undefined : { most: Number(most), per }
}
