/** How long a cell will take: as long as it took in the newest run of the same mode that is kept. */
import { readdirSync, readFileSync } from 'node:fs'
import type { ContenderName } from './contenders.ts'
import type { Mode } from './options.ts'
import type { Cell } from './summary.ts'

export type Expected = (scenario: string, contender: ContenderName, round: number) => number

const RESULTS = new URL('./results/', import.meta.url)
/** Of a cell nobody knows anything about, in seconds. */
const UNKNOWN = { full: 18, quick: 7, tiny: 3 } as const

export function expected(mode: Mode, cells: readonly Cell[] = newest(mode)): Expected {
  const keyed = new Map(cells.map((cell) => [`${cell.scenario} ${cell.contender} ${cell.round}`, cell.seconds]))
  return (scenario, contender, round) =>
    keyed.get(`${scenario} ${contender} ${round}`) ??
    keyed.get(`${scenario} ${contender} ${round - 1}`) ??
    keyed.get(`${scenario} pawl ${round}`) ??
    UNKNOWN[mode]
}

function newest(mode: Mode): readonly Cell[] {
  const files = readdirSync(RESULTS).filter((name) => name.endsWith('.json'))
  const file = files
    .filter((name) => name.includes('-quick') === (mode === 'quick'))
    .toSorted()
    .at(-1)
  if (file === undefined || mode === 'tiny') return []
  return JSON.parse(readFileSync(new URL(file, RESULTS), 'utf8')).cells
}
