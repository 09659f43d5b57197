/**
 * Durations as people write them: milliseconds, or a number and its unit (`'250ms'`, `'30s'`, `'5m'`, `'2h'`, `'7d'`), or
 * several of these, the greatest unit first (`'4m59s'`, `'1d12h'`). The type says so as far as types can: `'5 parsecs'` does
 * not compile. Text that is known only when the program runs goes through `duration(text)`.
 */
export type Duration = number | DurationText

/** In order, each at most once. */
export type DurationText = Exclude<
  `${'' | `${number}d`}${'' | `${number}h`}${'' | `${number}m`}${'' | `${number}s`}${'' | `${number}ms`}`,
  ''
>

/** What a text that is none should have been. */
export const DURATION_RULE = "must be milliseconds, or text like '250ms', '30s', '4m59s', '2h', '1d12h'"

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const

export const DURATION = new RegExp(
  `^(?=\\d)${UNITS.map(([unit]) => `(?:(\\d{1,15}(?:\\.\\d{1,6})?)${unit})?`).join('')}$`,
)

/** Milliseconds, or undefined where it is not a duration. */
export function parseDuration(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value !== 'string') return undefined
  const match = DURATION.exec(value)
  if (match === null) return undefined
  let ms = 0
  for (const [i, [, unitMs]] of UNITS.entries()) ms += Number(match[i + 1] ?? 0) * unitMs
  return ms
}
