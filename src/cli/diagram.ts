import { TERMINAL_STATES } from '../core/job.ts'
import { edges } from '../core/transitions.ts'

/** The machine as a Mermaid state diagram, one arrow for all events that lead the same way. */
export function diagram(): string {
  const all = edges()
  const labels = new Map<string, string[]>()
  for (const { from, to, event } of all) {
    const arrow = `${from === 'none' ? '[*]' : from} --> ${to}`
    labels.set(arrow, [...(labels.get(arrow) ?? []), event])
  }
  const arrows = [...labels].map(([arrow, events]) => `  ${arrow}: ${events.join(', ')}`)
  const ends = TERMINAL_STATES.filter((state) => !all.some(({ from }) => from === state)).map((s) => `  ${s} --> [*]`)
  return ['stateDiagram-v2', ...arrows, ...ends].join('\n')
}
