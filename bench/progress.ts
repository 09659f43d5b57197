/** How far it is, on standard error: a bar on a terminal, a line per cell elsewhere; what is left by the time it takes. */
const WIDTH = 30
const REDRAW_MS = 1_000

export class Progress {
  readonly #expected: readonly number[]
  readonly #sinceMs = performance.now()
  readonly #redraw: NodeJS.Timeout | undefined
  #done = 0
  #what = ''

  /** How long each is thought to take, in the order in which they come. */
  constructor(cells: readonly { readonly seconds: number }[]) {
    this.#expected = cells.map(({ seconds }) => seconds)
    process.stderr.write(`${cells.length} cells, about ${minutes(sum(this.#expected))}\n`)
    if (process.stderr.isTTY) this.#redraw = setInterval(() => this.#draw(), REDRAW_MS).unref()
  }

  now(what: string): void {
    this.#what = what
    this.#draw()
  }

  done(what: string): void {
    this.#done += 1
    const line = process.stderr.isTTY ? `\r\x1b[2K${what}` : `${this.#done}/${this.#expected.length} ${what}`
    process.stderr.write(`${line}\n`)
  }

  end(): void {
    clearInterval(this.#redraw)
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[2K')
  }

  #draw(): void {
    if (!process.stderr.isTTY) return
    const total = sum(this.#expected)
    const full = Math.round((WIDTH * sum(this.#expected.slice(0, this.#done))) / total)
    const bar = '█'.repeat(full) + '░'.repeat(WIDTH - full)
    process.stderr.write(`\r\x1b[2K${bar} ${this.#done}/${this.#expected.length} ${this.#left()} left, ${this.#what}`)
  }

  /** What was expected, by how wrong it has been so far. */
  #left(): string {
    const thought = sum(this.#expected.slice(0, this.#done))
    const tookS = (performance.now() - this.#sinceMs) / 1_000
    return minutes(sum(this.#expected.slice(this.#done)) * (thought === 0 ? 1 : tookS / thought))
  }
}

const sum = (all: readonly number[]) => all.reduce((total, each) => total + each, 0)
const minutes = (seconds: number) => `${(seconds / 60).toFixed(seconds < 120 ? 1 : 0)} min`
