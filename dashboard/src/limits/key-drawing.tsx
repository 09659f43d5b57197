/** The four states of a key, and which of them it is in. */
import type { ReactNode } from 'react'
import type { KeyState } from '../api/wire.ts'
import { KEY_LINES, NODES } from './key-lines.ts'
import { KEY_FAMILY, KeyIcon } from './key-word.tsx'

const WIDTH = 94
const HEIGHT = 28

export function KeyDrawing({ state }: { readonly state: KeyState }): ReactNode {
  return (
    <svg viewBox="0 0 344 134" className="machine w-full max-w-[400px]" role="img" aria-label={`It is ${state}.`}>
      <title>{`It is ${state}.`}</title>
      <defs>
        <marker id="key-end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M1 1l6 3-6 3" className="edge" />
        </marker>
      </defs>
      {KEY_LINES.map(({ from, to, path, label, at: [x, y] }) => (
        <g key={`${from} ${to}`}>
          <path d={path} className="edge" markerEnd="url(#key-end)" />
          <text x={x} y={y} textAnchor="middle" className="label outside">
            {label}
          </text>
        </g>
      ))}
      {(Object.keys(NODES) as KeyState[]).map((each) => (
        <Node key={each} state={each} isHere={each === state} />
      ))}
    </svg>
  )
}

function Node({ state, isHere }: { readonly state: KeyState; readonly isHere: boolean }): ReactNode {
  const [x, y] = NODES[state]
  const family = KEY_FAMILY[state]
  return (
    <g>
      <rect
        x={x - WIDTH / 2}
        y={y - HEIGHT / 2}
        width={WIDTH}
        height={HEIGHT}
        rx="7"
        fill={isHere ? `var(--${family}-bg)` : 'var(--surface)'}
        stroke={isHere ? `var(--${family})` : 'var(--line-2)'}
        strokeWidth={isHere ? 2 : 1}
      />
      <KeyIcon state={state} x={x - WIDTH / 2 + 9} y={y - 8} />
      <text x={x - WIDTH / 2 + 31} y={y + 4} fontSize="12" fontWeight={isHere ? 600 : 400} fill="var(--text)">
        {state}
      </text>
    </g>
  )
}
