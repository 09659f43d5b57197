/**
 * What a person sees: tables, colours, progress; or JSON, one object or one per line, which is the stable contract.
 * Whatever a job contains, the terminal is not its to command: control characters are shown, never sent.
 */
import pc from 'picocolors'

export interface Streams {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  readonly isTTY: boolean
  readonly columns: number
}

export interface Look {
  readonly json: boolean
  readonly quiet: boolean
  readonly colour: boolean
}

export type Cell = string | number | undefined

export class Terminal {
  readonly #streams: Streams
  readonly look: Look
  readonly paint: ReturnType<typeof pc.createColors>

  constructor(streams: Streams, look: Look) {
    this.#streams = streams
    this.look = look
    this.paint = pc.createColors(look.colour)
  }

  /** For people only. */
  say(line = ''): void {
    if (!this.look.json && !this.look.quiet) this.#streams.out(`${line}\n`)
  }

  /** One object for programs; for people, what `show` makes of it. */
  tell(value: unknown, show: () => void): void {
    if (this.look.json) this.#streams.out(`${JSON.stringify(value)}\n`)
    else show()
  }

  /** To standard error, whoever listens. */
  warn(line: string): void {
    this.#streams.err(`${line}\n`)
  }

  table(head: readonly string[], rows: readonly (readonly Cell[])[]): void {
    const cells = rows.map((row) => row.map((cell) => safe(cell === undefined ? '–' : String(cell))))
    const widths = head.map((title, i) => Math.max(title.length, ...cells.map((row) => widthOf(row[i] ?? ''))))
    const line = (row: readonly string[]) => row.map((cell, i) => pad(cell, i === row.length - 1 ? 0 : (widths[i] ?? 0))).join('  ')
    this.say(this.paint.dim(line(head)))
    for (const row of cells) this.say(line(row))
  }

  /** A bar that moves on a terminal, and says nothing elsewhere. */
  progress(label: string, done: number, total: number | undefined): void {
    if (!this.#streams.isTTY || this.look.json || this.look.quiet) return
    const share = total === undefined || total === 0 ? undefined : Math.min(1, done / total)
    const bar = share === undefined ? '' : `${'█'.repeat(Math.round(share * 24)).padEnd(24, '░')} ${Math.round(share * 100)} % `
    this.#streams.err(`\r\u001b[2K${bar}${label} ${done}${total === undefined ? '' : ` of ${total}`}`)
  }

  progressDone(): void {
    if (this.#streams.isTTY && !this.look.json && !this.look.quiet) this.#streams.err('\r\u001b[2K')
  }

  /** A screenful, drawn over the last one. */
  frame(lines: readonly string[]): void {
    this.#streams.out(this.#streams.isTTY ? `\u001b[H\u001b[2J${lines.join('\n')}\n` : `${lines.join('\n')}\n`)
  }
}

/** Control characters, and those that turn text around or hide in it, become visible. */
export const safe = (text: string): string =>
  text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)

const widthOf = (text: string): number => [...text].length
const pad = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)))

/** "3 s ago", "in 2 h". */
export function ago(time: number, now: number): string {
  const seconds = Math.round(Math.abs(now - time) / 1_000)
  const [n, unit] = seconds < 60 ? [seconds, 's'] : seconds < 3_600 ? [Math.round(seconds / 60), 'min'] : seconds < 172_800 ? [Math.round(seconds / 3_600), 'h'] : [Math.round(seconds / 86_400), 'd']
  return time > now ? `in ${n} ${unit}` : `${n} ${unit} ago`
}
