/**
 * The cells of a worker: never more at a time than it may have, each kept for a while for the next job of its module,
 * because starting a process takes longer than most jobs do.
 */
import { assert } from '../../core/assert.ts'
import type { Timers } from '../../system/timers.ts'
import type { JobDefinition } from '../definition.ts'
import type { Run } from '../run.ts'
import { Cell, Unusable } from './cell.ts'

export interface CellsOptions {
  /** The module that a cell starts with. */
  readonly entry: URL
  readonly max: number
  readonly timers: Timers
  /** The worker's engine is traced: cells are sent the span that a run is in. */
  readonly traced: boolean
}

/** Which of them may run a job: the same module, and the same bound on its memory. */
type Sort = string

const IDLE_MS = 10_000

export class Cells {
  readonly max: number
  readonly #options: CellsOptions
  readonly #busy = new Map<Run, Cell>()
  readonly #idle: { readonly sort: Sort; readonly cell: Cell; readonly leaving: Disposable }[] = []
  /** Ended or about to be: until they are gone they have their memory. */
  readonly #ending = new Set<Cell>()
  readonly #unusable = new Set<string>()

  constructor(options: CellsOptions) {
    this.#options = options
    this.max = options.max
  }

  /** How many runs could begin in cells now. */
  get free(): number {
    return this.max - this.#busy.size
  }

  /** False for a module that could not be imported when it was tried. */
  serves(module: string): boolean {
    return !this.#unusable.has(module)
  }

  async run(definition: JobDefinition, input: unknown, run: Run): Promise<unknown> {
    const { module, memoryMb, type, tenant } = definition
    assert(module !== undefined, 'what runs in a cell can be imported there')
    const sort = JSON.stringify([module, memoryMb])
    const cell = this.#take(sort) ?? new Cell({ ...this.#options, module, memoryMb })
    this.#busy.set(run, cell)
    const { assignment, desk } = run
    const order = { type, tenant, input, assignment: { ...assignment, input: undefined }, actor: desk.actor }
    try {
      return await cell.run({ ...order, now: desk.engine.now(), traced: this.#options.traced }, run)
    } catch (error) {
      if (error instanceof Unusable) this.#unusable.add(module)
      throw error
    } finally {
      this.#busy.delete(run)
      this.#leave(sort, cell)
    }
  }

  /** The worker has no use for this run any more. */
  leave(run: Run): void {
    this.#busy.get(run)?.leave(run)
  }

  /** Resolves when all of them have ended. */
  async close(): Promise<void> {
    const cells = [...this.#busy.values(), ...this.#ending, ...this.#idle.map(({ cell }) => cell)]
    for (const { leaving } of this.#idle.splice(0)) leaving[Symbol.dispose]()
    for (const cell of cells) cell.kill()
    await Promise.all(cells.map(({ exited }) => exited))
  }

  /** An idle cell of this sort, if there is one. Else, where all places are taken, the oldest idle cell of another sort ends to make room. */
  #take(sort: Sort): Cell | undefined {
    const place = this.#idle.findLastIndex((each) => each.sort === sort)
    const isFull = this.#busy.size + this.#idle.length >= this.max
    const taken = place >= 0 || isFull ? this.#idle.splice(Math.max(0, place), 1)[0] : undefined
    taken?.leaving[Symbol.dispose]()
    if (taken?.sort === sort) return taken.cell
    if (taken !== undefined) this.#end(taken.cell)
    return undefined
  }

  #leave(sort: Sort, cell: Cell): void {
    if (cell.isGone) return this.#end(cell)
    const leaving = this.#options.timers.after(IDLE_MS, () => {
      this.#idle.splice(
        this.#idle.findIndex((each) => each.cell === cell),
        1,
      )
      this.#end(cell)
    })
    this.#idle.push({ sort, cell, leaving })
  }

  #end(cell: Cell): void {
    this.#ending.add(cell)
    void cell.exited.then(() => this.#ending.delete(cell))
    cell.kill()
  }
}
