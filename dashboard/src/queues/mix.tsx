import type { ReactNode } from 'react'
import type { Queue, State } from '../api/wire.ts'
import { FAMILY } from '../machine/families.ts'
import { count } from '../words/format.ts'

/** One bar with the mix of states. */
export function Mix({
  queue,
  states,
  total,
}: {
  readonly queue: Queue
  readonly states: readonly State[]
  readonly total: number
}): ReactNode {
  const parts = states.filter((state) => (queue.counts[state] ?? 0) > 0)
  const text = parts.map((state) => `${count(queue.counts[state] ?? 0)} ${state}`).join(', ')
  return (
    <span className="flex flex-col gap-0.5" title={text}>
      <span className="flex h-1.5 overflow-hidden rounded-full bg-hover">
        {parts.map((state) => (
          <span
            key={state}
            style={{
              width: `${(100 * (queue.counts[state] ?? 0)) / Math.max(1, total)}%`,
              background: `var(--${FAMILY[state]})`,
            }}
          />
        ))}
      </span>
      <span className="truncate text-xs text-text-3">{text || 'nothing live'}</span>
    </span>
  )
}
