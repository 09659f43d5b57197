import type { Event, TransitionEvent } from '../../src/core/event.ts'
import { RANK } from '../../src/core/job.ts'

/** What is wrong with the order of a log, if anything: gaps, moves that do not join, moves backwards. */
export function disorder(events: readonly Event[]): readonly string[] {
  const found: string[] = []
  const moves = events.filter((event): event is TransitionEvent => event.seq !== undefined)
  for (const [i, event] of moves.entries()) {
    const before = moves[i - 1]
    const at = `${event.jobId}/${event.rev} ${event.type}`
    if (event.seq !== i + 1) found.push(`${at}: seq ${event.seq}, not ${i + 1}`)
    if (event.from !== before?.to) found.push(`${at}: from ${event.from}, after ${before?.to}`)
    if (before === undefined) continue
    if (event.at < before.at) found.push(`${at}: earlier than what came before it`)
    if (compare(triple(event), triple(before)) <= 0) found.push(`${at}: backwards from ${before.to} to ${event.to}`)
  }
  for (const [i, event] of events.entries()) {
    const before = events[i - 1]
    // One heartbeat entry may stand for several; every other event takes one revision.
    const taken = event.type === 'heartbeat' ? event.payload.count : event.type === 'compacted' ? event.rev : 1
    if (before !== undefined && event.rev !== before.rev + taken) found.push(`${event.jobId}: rev ${event.rev}`)
  }
  return found
}

const triple = ({ generation, attempt, to }: TransitionEvent): readonly number[] => [generation, attempt, RANK[to]]

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [i, each] of a.entries()) {
    const difference = each - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
