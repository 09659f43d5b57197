/** The icons of the fourteen states: within a family they differ in outline, and the word always stands beside them. */
import type { ReactNode } from 'react'
import type { State } from '../api/wire.ts'
import { FAMILY } from '../machine/families.ts'

const STROKE = {
  fill: 'none',
  stroke: 'currentColor',
  strokeWidth: 1.6,
  strokeLinecap: 'round',
  strokeLinejoin: 'round',
} as const
const HOLE = { ...STROKE, stroke: 'var(--hole, var(--surface))' } as const

const SHAPES: Readonly<Record<State, ReactNode>> = {
  pending: <circle cx="8" cy="8" r="5.7" {...STROKE} strokeDasharray="2.1 2.38" />,
  queued: <circle cx="8" cy="8" r="5.7" {...STROKE} />,
  claimed: (
    <>
      <circle cx="8" cy="8" r="5.7" {...STROKE} />
      <path d="M8 4.6a3.4 3.4 0 0 1 0 6.8z" fill="currentColor" />
    </>
  ),
  running: (
    <>
      <circle cx="8" cy="8" r="6.5" fill="currentColor" />
      <path d="M6.6 5.2v5.6L11 8z" fill="var(--hole, var(--surface))" />
    </>
  ),
  waiting: (
    <>
      <circle cx="8" cy="8" r="5.7" {...STROKE} />
      <path d="M5.4 8h.01M8 8h.01m2.59 0h.01" {...STROKE} strokeWidth="1.9" />
    </>
  ),
  parked: (
    <>
      <rect x="2" y="2" width="12" height="12" rx="3" fill="currentColor" />
      <path d="M6.4 11.6v-7h2.200a2.1 2.1 0 0 1 0 4.200H6.400" {...HOLE} />
    </>
  ),
  retrying: (
    <>
      <path d="M13.3 8a5.3 5.3 0 1 1-1.600-3.800" {...STROKE} />
      <path d="M12.200 1.400v3.200H9" {...STROKE} />
    </>
  ),
  stalled: (
    <>
      <path d="M8 2.2 14.200 13H1.800z" {...STROKE} />
      <path d="M8 6.600v2.700m0 1.900h.01" {...STROKE} />
    </>
  ),
  succeeded: (
    <>
      <circle cx="8" cy="8" r="6.5" fill="currentColor" />
      <path d="m5.2 8.2 2 2 3.700-4.200" {...HOLE} />
    </>
  ),
  failed: (
    <>
      <circle cx="8" cy="8" r="6.5" fill="currentColor" />
      <path d="m5.8 5.8 4.400 4.400m0-4.400-4.400 4.400" {...HOLE} />
    </>
  ),
  timed_out: (
    <>
      <circle cx="8" cy="8.8" r="5.9" fill="currentColor" />
      <path d="M8 5.800v3.100l2 1.400" {...HOLE} />
      <path d="M6.200 1.300h3.600" {...STROKE} />
    </>
  ),
  dead_lettered: (
    <>
      <rect x="1.5" y="3" width="13" height="10" rx="2" fill="currentColor" />
      <path d="m3.8 5.6 4.200 3.200 4.200-3.200" {...HOLE} />
    </>
  ),
  cancelled: (
    <>
      <circle cx="8" cy="8" r="5.7" {...STROKE} />
      <path d="m4.200 11.800 7.600-7.600" {...STROKE} />
    </>
  ),
  denied: (
    <>
      <path d="M5.300 1.700h5.400l3.600 3.600v5.400l-3.600 3.600H5.300l-3.600-3.600V5.300z" fill="currentColor" />
      <path d="M5 8h6" {...HOLE} />
    </>
  ),
}

export interface StateIconProps {
  readonly state: State
  readonly size?: number
  readonly x?: number
  readonly y?: number
}

export function StateIcon({ state, size = 16, x, y }: StateIconProps): ReactNode {
  return (
    <svg
      x={x}
      y={y}
      width={size}
      height={size}
      viewBox="0 0 16 16"
      className="flex-none"
      style={{ color: `var(--${FAMILY[state]})` }}
      aria-hidden="true"
    >
      {SHAPES[state]}
    </svg>
  )
}
