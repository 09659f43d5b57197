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

export function Moment({ at, as = 'relative' }: MomentProps): ReactNode {
  const now = useNow()
  const [times] = useKept('times', 'relative')
  const when = typeof at === 'number' ? at : Date.parse(at)
  const text = times === 'utc' ? clock(when) : as === 'ago' && when <= now ? ago(now - when) : relative(when, now)
  return (
    <time dateTime={new Date(when).toISOString()} title={absolute(when)}>
      {text}
    </time>
  )
}
