/** The state of a key: its icon and its word. Within a list the word always stands beside the icon. */
import type { ReactNode } from 'react'
import type { KeyState } from '../api/wire.ts'
import type { Family } from '../machine/families.ts'

export const KEY_FAMILY: Readonly<Record<KeyState, Family>> = {
  open: 'good',
  slow: 'again',
  broken: 'bad',
  probing: 'wait',
}

const SHAPES: Readonly<Record<KeyState, string>> = {
  open: 'M13.700 8A5.700 5.700 0 1 1 2.300 8a5.700 5.700 0 0 1 11.400 0M5.500 8.200l1.800 1.800 3.200-3.700',
  slow: 'm4 4 4 3.500L12 4M4 8.500 8 12l4-3.500',
  broken: 'M6.400 2.500a5.700 5.700 0 0 0 0 11M9.600 2.500a5.700 5.700 0 0 1 0 11M8.800 4.500 7 8h2l-1.800 3.500',
  probing: 'M8 8h.01',
}

export function KeyIcon({
  state,
  x,
  y,
}: {
  readonly state: KeyState
  readonly x?: number
  readonly y?: number
}): ReactNode {
  const stroke = { fill: 'none', stroke: 'currentColor', strokeWidth: 1.6, strokeLinecap: 'round' } as const
  return (
    <svg
      x={x}
      y={y}
      width="16"
      height="16"
      viewBox="0 0 16 16"
      className="flex-none"
      style={{ color: `var(--${KEY_FAMILY[state]})` }}
      aria-hidden="true"
    >
      {state === 'probing' ? <circle cx="8" cy="8" r="5.700" {...stroke} strokeDasharray="2.1 2.38" /> : null}
      <path d={SHAPES[state]} {...stroke} strokeLinejoin="round" strokeWidth={state === 'probing' ? 4 : 1.6} />
    </svg>
  )
}

export function KeyWord({ state }: { readonly state: KeyState }): ReactNode {
  return (
    <span className="inline-flex items-center align-middle gap-1.5 font-medium whitespace-nowrap">
      <KeyIcon state={state} />
      {state}
    </span>
  )
}
