/** The words that are a slip of the finger away, nearest first. */
export function nearest<T extends string>(word: string, known: readonly T[]): readonly T[] {
  const wanted = word.toLowerCase()
  const most = Math.max(1, Math.floor(wanted.length * 0.4))
  const ranked = known
    .map((each) => ({ each, away: distance(wanted, each.toLowerCase()) }))
    .filter(({ away }) => away <= most)
    .sort((a, b) => a.away - b.away)
  return ranked
    .filter(({ away }) => away === ranked[0]?.away)
    .map(({ each }) => each)
    .slice(0, 3)
}

/** Edits between two words: a letter put in, left out, changed, or two of them swapped. */
function distance(a: string, b: string): number {
  let [above, twoAbove]: [number[], number[]] = [Array.from({ length: b.length + 1 }, (_, j) => j), []]
  let last = b.length
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    let [diagonal, left] = [i - 1, i]
    for (const [before, up] of above.slice(1).entries()) {
      const ways = [up + 1, left + 1, diagonal + (a[i - 1] === b[before] ? 0 : 1)]
      const isSwapped = i > 1 && before > 0 && a[i - 1] === b[before - 1] && a[i - 2] === b[before]
      if (isSwapped) ways.push(...twoAbove.slice(before - 1, before).map((edits) => edits + 1))
      diagonal = up
      left = Math.min(...ways)
      row.push(left)
    }
    ;[twoAbove, above, last] = [above, row, left]
  }
  return last
}
