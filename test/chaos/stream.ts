/** Jobs that are enqueued and worked on all the while, whatever happens to the store; and what became of them. */
import { setTimeout as pause } from 'node:timers/promises'
import { defineJob } from '../../src/library/define-job.ts'
import type { JobHandle } from '../../src/library/job-handle.ts'
import type { Pawl } from '../../src/library/pawl.ts'
import { type OpenOptions, open } from '../../src/open.ts'
import { type Log, stderrLog } from '../../src/system/log.ts'
import type { Worker } from '../../src/worker/worker.ts'
import { eventually } from '../support/eventually.ts'
import { soaking } from '../support/scale.ts'

const EVERY_MS = 10
const PRODUCERS = 4

export class Stream implements AsyncDisposable {
  readonly pawl: Pawl
  readonly #worker: Worker
  readonly #raw: readonly string[]
  readonly #acknowledged: JobHandle<unknown>[] = []
  readonly #producing: Promise<void>[]
  readonly #stopping = new AbortController()
  #refused = 0
  #ran = 0

  static async open(url: string, options: OpenOptions = {}): Promise<Stream> {
    const raw: string[] = []
    const log: Log = {
      ...stderrLog,
      warn: (message, fields) => {
        stderrLog.warn(message, fields)
        if (message === 'claim failed' && !String(fields?.['reason']).startsWith('pawl: '))
          raw.push(String(fields?.['reason']))
      },
    }
    return new Stream(await open(url, { migrate: true, log, ...options }), raw)
  }

  /** `raw`: why claims failed, where that was not in our own words: what a store said that nobody had thought of. */
  constructor(pawl: Pawl, raw: readonly string[] = []) {
    this.pawl = pawl
    this.#raw = raw
    const flow = defineJob({
      type: 'flow',
      // Long enough to be renewed although a silent way had to be found out first; and what happens to a way again and again
      // may happen to one job every time.
      lease: soaking ? '30s' : '10s',
      retry: { stalls: 100 },
      run: async (_: { readonly n: number }, ctx) => {
        await ctx.step('work', () => pause(5))
        this.#ran += 1
      },
    })
    this.#worker = pawl.work([flow], { concurrency: 8, poll: '200ms' })
    this.#producing = Array.from({ length: PRODUCERS }, async (_, n) => {
      while (!this.#stopping.signal.aborted) {
        await pawl.enqueue(flow, { n }).then(
          (handle) => this.#acknowledged.push(handle),
          () => {
            this.#refused += 1
          },
        )
        await pause(EVERY_MS)
      }
    })
  }

  get acknowledged(): number {
    return this.#acknowledged.length
  }

  /** Something was enqueued, claimed, run and settled since now. */
  async flows(withinMs: number): Promise<void> {
    const [before, ran] = [this.acknowledged, this.#ran]
    await eventually('jobs to flow', () => this.acknowledged > before + 20 && this.#ran > ran + 20, { withinMs })
  }

  /** No more; everything that was acknowledged has succeeded, once, and no claim failed for a reason of its own. */
  async done(withinMs: number): Promise<{ readonly acknowledged: number; readonly refused: number }> {
    this.#stopping.abort()
    await Promise.all(this.#producing)
    for (const handle of this.#acknowledged) {
      await handle.result({ timeout: withinMs }).catch(async (cause: unknown) => {
        const told = JSON.stringify({ job: await handle.job(), events: (await handle.events()).slice(-20) })
        throw new Error(`${handle.id} has not succeeded: ${told}`, { cause })
      })
      const ends = (await handle.events()).filter(({ to }) => to === 'succeeded')
      if (ends.length !== 1) throw new Error(`${handle.id} succeeded ${ends.length} times`)
    }
    if (this.#raw.length > 0) throw new Error(`${this.#raw.length} claims failed, the first with: ${this.#raw[0]}`)
    const { discrepancies } = await this.pawl.verify()
    if (discrepancies.length > 0) throw new Error(JSON.stringify(discrepancies.slice(0, 5)))
    return { acknowledged: this.acknowledged, refused: this.#refused }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await this.#worker.stop({ drain: '1s' })
    await this.pawl.close()
  }
}
