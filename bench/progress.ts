/** How far it is, on standard error: a bar on a terminal, a line per cell elsewhere. */
export class Progress {
  readonly #total: number
  readonly #sinceMs = performance.now()
  #done = 0

  constructor(total: number) {
    this.#total = total
  }

  now(what: string): void {
    if (!process.stderr.isTTY) return
    const width = 30
    const full = Math.round((width * this.#done) / this.#total)
    const bar = '█'.repeat(full) + '░'.repeat(width - full)
    process.stderr.write(`\r\x1b[2K${bar} ${this.#done}/${this.#total} ${this.#left()} ${what}`)
  }

  done(what: string): void {
    this.#done += 1
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K${what}\n`)
    else process.stderr.write(`${this.#done}/${this.#total} ${what}\n`)
  }

  #left(): string {
    if (this.#done === 0) return ''
    const perCellMs = (performance.now() - this.#sinceMs) / this.#done
    const minutes = (perCellMs * (this.#total - this.#done)) / 60_000
    return `about ${minutes.toFixed(minutes < 2 ? 1 : 0)} min left`
  }
}
