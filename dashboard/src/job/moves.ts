/** The way a job has taken: its state changes in order, and which of them are of which generation. */
import type { JobEvent, State } from '../api/wire.ts'
import { type LineName, lineOf } from '../machine/lines.ts'

export interface Step {
  readonly rev: number
  readonly at: number
  readonly event: string
  readonly from: State | undefined
  readonly to: State
  readonly line: LineName | undefined
}

/** A new generation begins a new path: the reopening is its first step. */
export function pathsOf(events: readonly JobEvent[]): readonly (readonly Step[])[] {
  const paths: Step[][] = []
  for (const { type, from, to, rev, at, generation } of events) {
    if (to === undefined) continue
    const path = paths[generation] ?? []
    paths[generation] = path
    path.push({
      rev,
      at: Date.parse(at),
      event: type,
      from,
      to,
      line: lineOf({ event: type, from: from ?? 'none', to }),
    })
  }
  return paths.filter((path) => path !== undefined)
}
