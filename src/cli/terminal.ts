/**
 * What a person sees: tables, colours, progress; or JSON, one object or one per line, which is the stable contract.
 * Whatever a job contains, the terminal is not its to command: control characters are shown, never sent.
 */
import pc from 'picocolors'
import { withoutCiphertext } from '../encryption.ts'
import { visible, visibleJson } from '../system/visible.ts'

export interface Streams {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  /** Standard output is a terminal; standard error is one. */
  readonly isTTY: boolean
  readonly errIsTTY: boolean
  readonly columns: number
}

export interface Look {
  readonly json: boolean
  readonly quiet: boolean
  readonly colour: boolean
}

export type Cell = string | number | undefined
type Painter = (text: string) => string

export class Terminal {
  readonly #streams: Streams
  readonly look: Look
  readonly paint: ReturnType<typeof pc.createColors>
  #barShown = false

  constructor(streams: Streams, look: Look) {
    this.#streams = streams
    this.look = look
    this.paint = pc.createColors(look.colour)
  }

  get isTTY(): boolean {
    return this.#streams.isTTY
  }

  /** For people only, and not for those who want it quiet. */
  say(line = ''): void {
    if (!this.look.json && !this.look.quiet) this.#streams.out(`${line}\n`)
  }

  /** What was asked for: quiet or not, it is printed. */
  print(text: string): void {
    this.#streams.out(text)
  }

  /** One object for programs; for people, what `show` makes of it. */
  tell(value: unknown, show: () => void): void {
    if (this.look.json) this.#streams.out(`${visibleJson(value)}\n`)
    else show()
  }

  /** To standard error, whoever listens. */
  warn(line: string): void {
    this.progressDone()
    this.#streams.err(`${line}\n`)
  }

  table(
    head: readonly string[],
    rows: readonly (readonly Cell[])[],
    painters: readonly (Painter | undefined)[] = [],
  ): void {
    for (const line of this.lines(head, rows, painters)) this.say(line)
  }

  lines(
    head: readonly string[],
    rows: readonly (readonly Cell[])[],
    painters: readonly (Painter | undefined)[] = [],
  ): string[] {
    const cells = rows.map((row) => row.map((cell) => short(safe(cell === undefined ? '–' : String(cell)))))
    const widths = head.map((title, i) => Math.max(title.length, ...cells.map((row) => widthOf(row[i] ?? ''))))
    const padded = (row: readonly string[], i: number) =>
      pad(row[i] ?? '', i === head.length - 1 ? 0 : (widths[i] ?? 0))
    const painted = (row: readonly string[]) => head.map((_, i) => (painters[i] ?? asIs)(padded(row, i))).join('  ')
    return [this.paint.dim(head.map((_, i) => padded(head, i)).join('  ')), ...cells.map(painted)].map((line) =>
      line.trimEnd(),
    )
  }

  /** A bar that moves on a terminal, and says nothing elsewhere. */
  progress(label: string, done: number, total?: number): void {
    if (!this.#streams.errIsTTY || this.look.json || this.look.quiet) return
    const share = total === undefined || total === 0 ? undefined : Math.min(1, done / total)
    const bar =
      share === undefined ? '' : `${'█'.repeat(Math.round(share * 24)).padEnd(24, '░')} ${Math.round(share * 100)} % `
    this.#streams.err(`\r\u001b[2K${bar}${label} ${done}${total === undefined ? '' : ` of ${total}`}`)
    this.#barShown = true
  }

  progressDone(): void {
    if (this.#barShown) this.#streams.err('\r\u001b[2K')
    this.#barShown = false
  }

  /** A screenful, drawn over the last one. */
  frame(lines: readonly string[]): void {
    this.#streams.out(this.#streams.isTTY ? `\u001b[H\u001b[2J${lines.join('\n')}\n` : `${lines.join('\n')}\n`)
  }
}

const asIs: Painter = (text) => text

/** For a terminal: nothing it would obey, and no ciphertext. */
export const safe = (text: string): string => visible(withoutCiphertext(text))

/** JSON for eyes: indented, and safe line by line. */
export const safeJson = (value: unknown): string =>
  (JSON.stringify(value, undefined, 2) ?? 'null').split('\n').map(safe).join('\n')

const LONGEST_CELL = 80
const short = (text: string): string =>
  widthOf(text) <= LONGEST_CELL ? text : `${[...text].slice(0, LONGEST_CELL - 1).join('')}…`
const widthOf = (text: string): number => [...text].length
const pad = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)))

/** "3 s ago", "in 2 h". */
export const ago = (time: number, now: number): string =>
  time > now ? `in ${span(time - now)}` : `${span(now - time)} ago`

export function span(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`
}
