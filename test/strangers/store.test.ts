/** Whoever writes a store for pawl finds all that it takes in the package: the port, the proof, and a way to open it. */
import { describe, expect, it } from 'vitest'
import { openOn } from '../../src/engine.ts'
import { defineJob } from '../../src/index.ts'
import { VirtualClock } from '../engine/virtual-clock.ts'
import { prove } from '../store/conformance/prove.ts'
import { importsOf, sources } from '../support/source.ts'
import { ScanningStore } from './scanning-store.ts'

prove({
  name: 'a stranger’s store',
  cannot: {
    flow: 'it lets nobody in: limits are much to build, and a store is one without them',
    reopen: 'it lives and dies with its process',
    transaction: 'there is no database whose transactions it could join',
    setClock: 'it reads the clock it was given, and nobody sets that',
  },
  async open() {
    const clock = new VirtualClock()
    const store = new ScanningStore(() => clock.now())
    // Whoever waits in it looks again when the event loop turns.
    const advance = async (ms: number) => {
      clock.advance(ms)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    return { store, advance, close: () => store.close() }
  },
})

describe('a stranger’s store', () => {
  it('is made of public names alone', () => {
    const [store] = sources('test/strangers/scanning-store.ts')
    expect(store && importsOf(store)).toEqual([{ specifier: '../../src/engine.ts', typeOnly: false }])
  })

  it('is opened like any other, and runs jobs', async () => {
    const double = defineJob({
      type: 'double',
      async run(n: number, ctx) {
        const doubled = await ctx.step('double', () => n * 2)
        await ctx.waitFor('approved')
        return { doubled }
      },
    })
    const store = new ScanningStore(() => Date.now())
    const pawl = openOn(store, { log: 'silent' })
    pawl.work([double])
    const job = await pawl.enqueue(double, 21)
    await job.signal('approved')
    expect(await job.result({ timeout: '30s' })).toEqual({ doubled: 42 })
    expect(await pawl.verify()).toMatchObject({ jobs: 1, discrepancies: [] })
    await pawl.close()
    await expect(store.load([])).rejects.toThrow('closed')
  })
})
