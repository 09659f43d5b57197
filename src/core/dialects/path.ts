/** How one of our state changes is told in a document: the moves of its table that lead from status to status. */
import type { TransitionType } from '../event.ts'
import type { State } from '../job.ts'
import type { Dialect, Reach, Row, Status, Step } from './dialect.ts'

export const NONE = 'none'

export interface Path {
  readonly steps: readonly Step[]
  /** The document's endings are final: the steps begin a new record. */
  readonly fresh: boolean
}

/** As much of a document as its moves are found in. */
type Moves = Pick<Dialect, 'table' | 'tells' | 'ended'>

/** Undefined: the document has no way. The refinement proves that this never happens. */
export function pathOf(dialect: Moves, event: TransitionType, from: Status, to: Status): Path | undefined {
  const steps = stepsOf(dialect, event, from, to)
  if (steps !== undefined) return { steps, fresh: false }
  const again = event === 'reopened' ? stepsOf(dialect, event, NONE, to) : undefined
  return again && { steps: again, fresh: true }
}

export function shownAs(dialect: Pick<Dialect, 'shows'>, state: State | 'none', reach: Reach): Status {
  if (state === 'none') return NONE
  const shown = dialect.shows[state]
  return typeof shown === 'string' ? shown : shown[reach]
}

/**
 * By the event's own word where some row with it leads there, all moves before it implied; else all are. A job that
 * stays where it is makes no detour to say so; but a claim is always told, even of a job that shows as claimed.
 */
function stepsOf(dialect: Moves, event: TransitionType, from: Status, to: Status): readonly Step[] | undefined {
  const own = dialect.tells[event]
  const table = dialect.table.filter((row) => row.deriveOnly === undefined)
  const [told] = table
    .filter((row) => own !== undefined && row.word === own && row.to === to)
    .flatMap((last) => {
      const before = shortest(dialect, table, from, last.from)
      return before === undefined ? [] : [[...before.map(implied), { ...stepOf(last), implied: false }]]
    })
    .sort((a, b) => a.length - b.length)
  const detour = from === to && event !== 'claimed' && told !== undefined && told.length > 1
  if (told !== undefined && !detour) return told
  // Its word may still be on the way there: 002 accepts a job and schedules it, of which we know one event.
  return shortest(dialect, table, from, to)?.map((row) => ({
    ...stepOf(row),
    implied: own === undefined || row.word !== own,
  }))
}

const stepOf = ({ from, to, word }: Row) => ({ from, to, word })
const implied = (row: Row): Step => ({ ...stepOf(row), implied: true })

/** Breadth first, in the order of the table; never through an ending. */
function shortest(dialect: Moves, table: readonly Row[], from: Status, to: Status): readonly Row[] | undefined {
  const seen = new Set([from])
  let fringe: readonly { readonly at: Status; readonly rows: readonly Row[] }[] = [{ at: from, rows: [] }]
  while (fringe.length > 0) {
    const there = fringe.find(({ at }) => at === to)
    if (there !== undefined) return there.rows
    fringe = fringe.flatMap(({ at, rows }) =>
      table
        .filter((row) => row.from === at && !seen.has(row.to) && (row.to === to || !dialect.ended.includes(row.to)))
        .map((row) => {
          seen.add(row.to)
          return { at: row.to, rows: [...rows, row] }
        }),
    )
  }
  return undefined
}
