/** A moment, seen from now; the tooltip has it to the millisecond. */
import type { ReactNode } from 'react'
import { absolute, ago, clock, relative } from '../words/format.ts'
import { useKept } from '../words/kept.ts'
import { useNow } from '../words/now.ts'

export interface MomentProps {
  readonly at: string | number
  /** `ago`: how long, without the word. */
  readonly as?: 'relative' | 'ago'
}

const AHEAD_MS = 1_000

export function Moment({ at, as = 'relative' }: MomentProps): ReactNode {
  const now = useNow()
  const [times] = useKept('times', 'relative')
  const when = typeof at === 'number' ? at : Date.parse(at)
  // Clocks differ a little: what has just happened is not to come.
  const text =
    times === 'utc' ? clock(when) : as === 'ago' && when < now + AHEAD_MS ? ago(now - when) : relative(when, now)
  return (
    <time dateTime={new Date(when).toISOString()} title={absolute(when)}>
      {text}
    </time>
  )
}
