/**
 * What a person sees: tables, colours, progress; or JSON, one object or one per line, which is the stable contract.
 * Whatever a job contains, the terminal is not its to command: control characters are shown, never sent.
 */
import { withoutCiphertext } from '../library/encryption.ts'
import { visible, visibleJson } from '../system/visible.ts'
import { type Brush, type Paint, paintOf } from './paint.ts'

export interface Streams {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  /** Standard output is a terminal; standard error is one. */
  readonly isTTY: boolean
  readonly errIsTTY: boolean
  readonly columns: number
  readonly rows: number
}

export interface Look {
  readonly json: boolean
  readonly quiet: boolean
  readonly colour: boolean
}

export type Cell = string | number | undefined

export interface TableStyle {
  /** By the title of a column. */
  readonly brushes?: Readonly<Record<string, Brush>>
  /** The title of the column that gives way where a terminal is narrow; undefined: lines wrap. */
  readonly yields?: string
}

const GAP = '  '
/** What is left of a cell that gives way. */
const NARROWEST = 5

export class Terminal {
  readonly #streams: Streams
  readonly look: Look
  readonly paint: Paint
  #barShown = false

  constructor(streams: Streams, look: Look) {
    this.#streams = streams
    this.look = look
    this.paint = paintOf(look.colour)
  }

  get isTTY(): boolean {
    return this.#streams.isTTY
  }

  get columns(): number {
    return this.#streams.columns
  }

  get rows(): number {
    return this.#streams.rows
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

  table(head: readonly string[], rows: readonly (readonly Cell[])[], style: TableStyle = {}): void {
    for (const line of this.lines(head, rows, style)) this.say(line)
  }

  lines(head: readonly string[], rows: readonly (readonly Cell[])[], style: TableStyle = {}): string[] {
    const { brushes = {}, yields } = style
    const whole = rows.map((row) => row.map((cell) => short(safe(cell === undefined ? '–' : String(cell)))))
    const cells = yields === undefined ? whole : this.#fitting(head, whole, head.indexOf(yields))
    const widths = widthsOf(head, cells)
    const padded = (row: readonly string[], i: number) =>
      pad(row[i] ?? '', i === head.length - 1 ? 0 : (widths[i] ?? 0))
    const painted = (row: readonly string[]) =>
      head.map((title, i) => (brushes[title] ?? asIs)(padded(row, i))).join(GAP)
    return [this.paint.dim(head.map((_, i) => padded(head, i)).join(GAP)), ...cells.map(painted)].map((line) =>
      line.trimEnd(),
    )
  }

  /** On a terminal that is too narrow, one column's texts are cut; a pipe gets them whole. */
  #fitting(head: readonly string[], cells: readonly (readonly string[])[], column: number): readonly string[][] {
    const widths = widthsOf(head, cells)
    const needed = widths.reduce((sum, width) => sum + width, GAP.length * (head.length - 1))
    const room = this.isTTY ? Math.max(NARROWEST, (widths[column] ?? 0) - Math.max(0, needed - this.columns)) : Infinity
    return cells.map((row) => row.map((cell, i) => (i === column ? short(cell, room) : cell)))
  }

  /** A text that leads somewhere when it is clicked on a terminal; elsewhere the text alone. */
  linked(text: string, url: string): string {
    return this.isTTY && this.look.colour ? `\u001b]8;;${url}\u001b\\${text}\u001b]8;;\u001b\\` : text
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

const asIs: Brush = (text) => text

/** For a terminal: nothing it would obey, and no ciphertext. */
export const safe = (text: string): string => visible(withoutCiphertext(text))

/** JSON for eyes: indented, and safe line by line. */
export const safeJson = (value: unknown): string =>
  (JSON.stringify(value, undefined, 2) ?? 'null').split('\n').map(safe).join('\n')

const LONGEST_CELL = 80
const short = (text: string, most = LONGEST_CELL): string =>
  widthOf(text) <= most ? text : `${[...text].slice(0, most - 1).join('')}…`
const widthOf = (text: string): number => [...text].length
const widthsOf = (head: readonly string[], cells: readonly (readonly string[])[]): readonly number[] =>
  head.map((title, i) => Math.max(title.length, ...cells.map((row) => widthOf(row[i] ?? ''))))
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
