/** Which of two positions of the feed comes first: they are whole numbers, joined by dots, and ascend number by number. */
export function comparePositions(a: string, b: string): number {
  const left = a.split('.')
  const right = b.split('.')
  for (let i = 0; i < Math.max(left.length, right.length); i += 1) {
    const difference = Number(left[i] ?? 0) - Number(right[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
