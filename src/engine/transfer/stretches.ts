/**
 * A log in stretches that a store may be told of at once: attempts and generations are counted one by one, and bodies go by a commit
 * of its own.
 */
import type { Event } from '../../core/event.ts'

/** What follows this revision, up to where the next stretch begins. */
export function stretchAfter(log: readonly Event[], rev: number): readonly Event[] {
  const [first, ...rest] = log.filter((event) => event.rev > rev)
  if (first === undefined) return []
  const end = rest.findIndex((event) => !isOneStretch(first, event))
  return [first, ...(end < 0 ? rest : rest.slice(0, end))]
}

const isOneStretch = (first: Event, event: Event): boolean =>
  event.generation === first.generation &&
  event.attempt === first.attempt &&
  first.type !== 'stripped' &&
  event.type !== 'stripped'
