/** The rows of the machine: which of them there are, which a decision took, which its dialects and policies can take. */
import type { Event } from '../../src/core/event.ts'
import { type From, MACHINE } from '../../src/core/transitions.ts'

const rowText = (command: string, from: From, events: readonly string[], to: string): string =>
  `${command} from ${from} by ${events.join(', ')} to ${to}`

export function allRows(): readonly string[] {
  const rows = new Set<string>()
  for (const [command, cells] of Object.entries(MACHINE)) {
    for (const [from, moves] of Object.entries(cells)) {
      for (const { events, to } of moves) rows.add(rowText(command, from as From, events, to))
    }
  }
  return [...rows]
}

/** Each request of a decision took one: a tick may be two commands. */
export function rowsTaken(before: From, events: readonly Event[]): readonly string[] {
  return requestsIn(before, events).map(({ command, from, path, to }) => rowText(command, from, path, to))
}

export interface Request {
  readonly command: Event['command']
  readonly from: From
  readonly path: readonly Event['type'][]
  readonly to: Event['state']
}

/** The events of a decision, apart by the command that each of them answers. */
export function requestsIn(before: From, events: readonly Event[]): readonly Request[] {
  const found: Request[] = []
  let from = before
  for (let i = 0; i < events.length; ) {
    const { command, requestId } = events[i] as Event
    const end = events.findIndex((event, at) => at > i && event.requestId !== requestId)
    const path = events.slice(i, end < 0 ? undefined : end)
    const to = (path.at(-1) as Event).state
    found.push({ command, from, path: path.map(({ type }) => type), to })
    from = to
    i += path.length
  }
  return found
}
