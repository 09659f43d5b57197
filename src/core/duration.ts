/** Durations as people write them: milliseconds, or `'250ms'`, `'30s'`, `'5m'`, `'2h'`, `'7d'`. */
export type Duration = number | string

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const PATTERN = /^(\d{1,15}(?:\.\d{1,6})?)(ms|s|m|h|d)$/

/** Milliseconds, or undefined where it is not a duration. */
export function parseDuration(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value !== 'string') return undefined
  const match = PATTERN.exec(value)
  if (match === null) return undefined
  return Number(match[1]) * (UNITS[match[2] as string] as number)
}
