/**
 * The history of a job in a document's words: for each of our events the moves of the document's own table that tell
 * it. An event the document has no words for adds nothing.
 */
import { assert } from '../assert.ts'
import type { Event, TransitionEvent } from '../event.ts'
import { Chain, type Marks } from './chain.ts'
import type { Dialect, Fields, Status, Step } from './dialect.ts'
import { NONE, pathOf, shownAs } from './path.ts'
import { reach, type Trail, trailAfter, trailBefore } from './reach.ts'
import { READINGS, type Reading } from './registry.ts'
import { isInvented } from './telling.ts'

export interface Told {
  /** Counts the records the document would have: a reopened job is a new one where endings are final. */
  readonly record: number
  readonly step: Step
  /** The document's own log entry, and how it hangs together with the others; undefined where it has no event for the move. */
  readonly entry: (Fields & Marks) | undefined
}

/** `events`: in order, all of them or from some point on. `partial`: others follow that are not among them. */
export function history(events: readonly Event[], name: Reading, partial = false): readonly Told[] {
  const dialect = READINGS[name]
  const [first] = events
  if (first === undefined) return []
  const told: Told[] = []
  const chain = new Chain(events, partial)
  let trail = trailBefore(first)
  let status = first.type === 'enqueued' ? NONE : shownAs(dialect, first.from ?? first.state, reach(trail))
  let record = 0
  let silent: TransitionEvent | undefined
  let state = first.from
  for (const event of events) {
    // Something is missing before it: it is told from where it says it came from, and the chain says that there is a gap.
    if (event.seq !== undefined && event.from !== state) {
      trail = trailBefore(event)
      status = event.from === undefined ? NONE : shownAs(dialect, event.from, reach(trail))
    }
    if (event.to !== undefined) state = event.to
    const next = trailAfter(trail, event)
    const { steps, fresh } = tell(dialect, event, status, next)
    record += fresh ? 1 : 0
    const afterRev = chain.follow(event, fresh)
    const entries = steps.filter(({ word }) => word !== undefined)
    for (const step of steps) {
      const move = entries.indexOf(step) + 1
      const entry =
        move === 0
          ? undefined
          : {
              ...dialect.entry(event, step, { nth: entries.length - move, after: silent }),
              ...chainMarks(event, step, move, entries.length, afterRev),
            }
      told.push({ record, step, entry })
    }
    if (entries.length > 0) chain.told(event)
    if (event.to !== undefined) silent = entries.length > 0 ? undefined : event
    status = steps.at(-1)?.to ?? status
    trail = next
  }
  return told
}

/** The same as the document's own log, and nothing around it: what its fold reads. */
export const log = (events: readonly Event[], name: Reading, partial = false): readonly (Fields & Marks)[] =>
  history(events, name, partial).flatMap(({ entry }) => (entry === undefined ? [] : [entry]))

const chainMarks = ({ rev }: Event, step: Step, move: number, moves: number, afterRev: number): Marks => ({
  rev,
  after_rev: move === 1 ? afterRev : rev,
  ...(moves > 1 ? { move, moves } : {}),
  ...(isInvented(step) ? { implied: true } : {}),
})

function tell(
  dialect: Dialect,
  event: Event,
  status: Status,
  after: Trail,
): { steps: readonly Step[]; fresh: boolean } {
  if (event.to === undefined) return { steps: noted(dialect, event, status), fresh: false }
  const path = pathOf(dialect, event.type, status, shownAs(dialect, event.to, reach(after)))
  assert(path !== undefined, `${dialect.name} can tell ${event.type} from ${status}`)
  return path
}

/** An observation is told where the document's table has its word in this very status. */
function noted(dialect: Dialect, event: Event, status: Status): readonly Step[] {
  if (event.type === 'compensating') return []
  const aside = dialect.aside?.(event)
  if (aside !== undefined) return [{ from: status, to: status, word: aside, implied: false }]
  const words = dialect.notes[event.type as keyof Dialect['notes']] ?? []
  return words
    .filter((word) => dialect.table.some((row) => row.from === status && row.to === status && row.word === word))
    .map((word) => ({ from: status, to: status, word, implied: false }))
}
