/** Counters with more counted. */
export function added(
  counters: Readonly<Record<string, number>>,
  more: Readonly<Record<string, number>> | undefined,
): Readonly<Record<string, number>> {
  if (more === undefined) return counters
  const sum: Record<string, number> = { ...counters }
  for (const [name, value] of Object.entries(more))
    sum[name] = (Object.hasOwn(sum, name) ? (sum[name] as number) : 0) + value
  return sum
}
