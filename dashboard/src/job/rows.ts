/** Which lanes are shown: of very many only those of the last runs, and of any that somebody opens. */
import type { Lane } from './time.ts'

/** Beyond so many they are folded but for the last runs. */
const LANES_MOST = 200
const OPEN_RUNS = 3

export interface Folded {
  readonly isFolded: boolean
  /** Lanes below that of the run. */
  readonly steps: number
}

export interface LaneRow {
  readonly lane: Lane
  /** Of a run that can be folded. */
  readonly folded: Folded | undefined
}

/** The first lane that stays open; 0 where nothing is folded. */
export function foldedFrom(lanes: readonly Lane[]): number {
  if (lanes.length <= LANES_MOST) return 0
  const runs = lanes.flatMap(({ isRun }, n) => (isRun ? [n] : []))
  return runs.at(-OPEN_RUNS) ?? 0
}

/** `until`: what `foldedFrom` says. `unfolded`: keys of runs that were opened. */
export function rowsOf(lanes: readonly Lane[], until: number, unfolded: ReadonlySet<string>): readonly LaneRow[] {
  const rows: LaneRow[] = []
  let isShown = true
  for (const [n, lane] of lanes.entries()) {
    if (lane.isRun) {
      const end = lanes.findIndex((each, at) => at > n && each.isRun)
      const steps = (end < 0 ? lanes.length : end) - n - 1
      const isFolded = n < until && !unfolded.has(lane.key)
      isShown = !isFolded
      rows.push({ lane, folded: n < until && steps > 0 ? { isFolded, steps } : undefined })
    } else if (isShown) rows.push({ lane, folded: undefined })
  }
  return rows
}
