/**
 * The history of a job in a document's words: for each of our events the moves of the document's own table that tell
 * it. An event the document has no words for adds nothing.
 */
import { assert } from '../assert.ts'
import type { Event } from '../event.ts'
import type { Dialect, Fields, Status, Step } from './dialect.ts'
import { NONE, pathOf, shownAs } from './path.ts'
import { reach, type Trail, trailAfter, trailBefore } from './reach.ts'
import { READINGS, type Reading } from './registry.ts'

export interface Told {
  /** Counts the records the document would have: a reopened job is a new one where endings are final. */
  readonly record: number
  readonly step: Step
  /** The document's own log entry; undefined where it has no event for the move. */
  readonly entry: Fields | undefined
}

/** `events`: in order, all of them or from some point on. */
export function history(events: readonly Event[], name: Reading): readonly Told[] {
  const dialect = READINGS[name]
  const [first] = events
  if (first === undefined) return []
  const told: Told[] = []
  let trail = trailBefore(first)
  let status = first.type === 'enqueued' ? NONE : shownAs(dialect, first.from ?? first.state, reach(trail))
  let record = 0
  for (const event of events) {
    const next = trailAfter(trail, event)
    const { steps, fresh } = tell(dialect, event, status, next)
    record += fresh ? 1 : 0
    steps.forEach((step, i) => {
      const entry = step.word === undefined ? undefined : dialect.entry(event, step, steps.length - 1 - i)
      told.push({ record, step, entry })
    })
    status = steps.at(-1)?.to ?? status
    trail = next
  }
  return told
}

/** The same as the document's own log, and nothing around it: what its fold reads. */
export const log = (events: readonly Event[], name: Reading): readonly Fields[] =>
  history(events, name).flatMap(({ entry }) => (entry === undefined ? [] : [entry]))

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
