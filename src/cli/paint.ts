/** Colours, where there are any. What a state looks like is the same wherever it is shown. */
import { styleText } from 'node:util'
import type { State } from '../core/job.ts'

const STYLES = ['bold', 'dim', 'red', 'green', 'yellow', 'cyan', 'magenta'] as const
type Style = (typeof STYLES)[number]

export type Brush = (text: string) => string

export interface Paint extends Readonly<Record<Style, Brush>> {
  /** A state in its own colour, with blanks around it or not; any other word, a dialect's say, as it is. */
  readonly state: Brush
}

/** Whether there are colours was decided by whoever asks; the stream is not asked again. */
export function paintOf(colour: boolean): Paint {
  const brush = (style: Style): Brush =>
    colour ? (text) => styleText(style, text, { validateStream: false }) : (text) => text
  const brushes = Object.fromEntries(STYLES.map((style) => [style, brush(style)])) as Record<Style, Brush>
  const lookOf = (word: string) => (Object.hasOwn(LOOKS, word) ? LOOKS[word as State] : undefined)
  const state: Brush = (text) => {
    const look = lookOf(text.trim())
    return look === undefined ? text : brushes[look](text)
  }
  return { ...brushes, state }
}

/** Green is done, red ended badly, yellow needs somebody's patience, cyan is under way; the rest is plain waiting. */
const LOOKS: Readonly<Record<State, Style>> = {
  pending: 'dim',
  queued: 'bold',
  claimed: 'cyan',
  running: 'cyan',
  stalled: 'magenta',
  retrying: 'yellow',
  waiting: 'yellow',
  parked: 'yellow',
  succeeded: 'green',
  failed: 'red',
  dead_lettered: 'red',
  timed_out: 'red',
  cancelled: 'dim',
  denied: 'red',
}
