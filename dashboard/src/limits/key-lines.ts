/** Where the machine of keys is drawn: positions are data, which changes there are comes from the table. */
import type { KeyMachine, KeyState } from '../api/wire.ts'

export const NODES: Readonly<Record<KeyState, readonly [x: number, y: number]>> = {
  open: [50, 20],
  slow: [290, 20],
  broken: [290, 110],
  probing: [50, 110],
}

export interface KeyLine {
  readonly from: KeyState
  readonly to: KeyState
  readonly path: string
  readonly label: string
  readonly at: readonly [x: number, y: number]
}

/** By hand, from anywhere to open: a button, and no line. */
const BY_HAND: ReadonlySet<string> = new Set(['reset', 'probe', 'set'])

export const KEY_LINES: readonly KeyLine[] = [
  { from: 'open', to: 'slow', path: 'M98 14H240', label: 'throttled', at: [170, 9] },
  { from: 'slow', to: 'open', path: 'M242 26H100', label: 'calm again', at: [170, 39] },
  { from: 'slow', to: 'broken', path: 'M290 34V94', label: 'worse', at: [312, 68] },
  { from: 'open', to: 'broken', path: 'M84 34 250 94', label: 'told to wait', at: [126, 66] },
  { from: 'broken', to: 'probing', path: 'M242 104H100', label: 'time is up', at: [170, 99] },
  { from: 'probing', to: 'broken', path: 'M98 116H240', label: 'it fails', at: [170, 130] },
  { from: 'probing', to: 'slow', path: 'M84 96 250 36', label: 'it works', at: [216, 66] },
]

/** Changes of the table that no line stands for. */
export const undrawn = (machine: KeyMachine): readonly string[] =>
  Object.entries(machine)
    .filter(([input]) => !BY_HAND.has(input))
    .flatMap(([input, cells]) =>
      Object.entries(cells).flatMap(([from, moves]) =>
        moves
          .filter(({ to }) => to !== from && !KEY_LINES.some((line) => line.from === from && line.to === to))
          .map(({ to }) => `${input}: ${from} → ${to}`),
      ),
    )
