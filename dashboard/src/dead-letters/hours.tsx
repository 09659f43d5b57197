/** How many came in each of the last hours, the oldest first, as bars of one scale. */
import type { ReactNode } from 'react'
import { plural } from '../words/format.ts'

const HIGH = 20
const WIDE = 5

export interface HoursProps {
  readonly hours: readonly number[]
  /** The most of one hour among all that are shown together. */
  readonly most: number
}

export function Hours({ hours, most }: HoursProps): ReactNode {
  const sum = hours.reduce((total, n) => total + n, 0)
  const text = `${plural(sum, 'job')} in the last ${hours.length} h, hour by hour: ${hours.join(', ')}`
  return (
    <svg width={hours.length * WIDE} height={HIGH} role="img" aria-label={text}>
      <title>{text}</title>
      {hours.map((n, at) => {
        const high = n === 0 ? 1 : Math.max(2, (n / Math.max(1, most)) * HIGH)
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: an hour is its place
            key={at}
            x={at * WIDE}
            y={HIGH - high}
            width={WIDE - 1}
            height={high}
            fill={n === 0 ? 'var(--line-2)' : 'var(--bad)'}
          />
        )
      })}
    </svg>
  )
}
