/**
 * A log in stretches that a store may be told of at once: attempts are counted one by one, a reopening is a commit of its own, and so is
 * the one by which bodies go.
 */
import type { Event, EventType } from '../../core/event.ts'

const FIRST: readonly EventType[] = ['claimed', 'reopened', 'stripped']
const ALONE: readonly EventType[] = ['reopened', 'stripped']

/** What follows this revision, up to where the next stretch begins. */
export function stretchAfter(log: readonly Event[], rev: number): readonly Event[] {
  const [first, ...rest] = log.filter((event) => event.rev > rev)
  if (first === undefined) return []
  if (ALONE.includes(first.type)) return [first]
  const end = rest.findIndex(({ type }) => FIRST.includes(type))
  return [first, ...(end < 0 ? rest : rest.slice(0, end))]
}
