import { afterEach, describe, expect, it, vi } from 'vitest'

type Faked = NonNullable<Parameters<typeof vi.useFakeTimers>[0]>['toFake']

/** What vitest fakes unless told otherwise; all that it can fake in a process of its own. */
const FAKED: Readonly<Record<string, Faked>> = {
  'the default': undefined,
  everything: [
    ...(['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate'] as const),
    ...(['Date', 'performance', 'hrtime', 'queueMicrotask'] as const),
  ],
}

/** Modules as a test loads them that has faked time before its imports, or after. */
async function loaded() {
  vi.resetModules()
  const { defineJob } = await import('../../src/library/define-job.ts')
  const { openTesting } = await import('../../src/testing/testing.ts')
  return { defineJob, openTesting }
}

describe.each(Object.entries(FAKED))('with %s faked', (_, toFake) => {
  const fake = () => vi.useFakeTimers(toFake === undefined ? {} : { toFake })
  afterEach(() => void vi.useRealTimers())

  it.each(['before', 'after'] as const)(
    '%s the library is loaded, jobs run, time passes, and drain ends',
    async (when) => {
      if (when === 'before') fake()
      const { defineJob, openTesting } = await loaded()
      if (when === 'after') fake()
      let runs = 0
      const flaky = defineJob({
        type: 'flaky',
        retry: { base: '1m', jitter: 'none' },
        async run(input: { readonly name: string }, ctx) {
          runs += 1
          if (runs === 1) throw new Error('not yet')
          await ctx.sleep('2h')
          return ctx.step('greet', () => `hello ${input.name}`)
        },
      })
      await using testing = await openTesting([flaky])
      const job = await testing.pawl.enqueue(flaky, { name: 'ann' })
      await testing.drain()
      expect(await job.state()).toBe('retrying')
      await testing.advance('1m')
      await testing.advance('2h')
      await testing.drain()
      expect(await job.result()).toBe('hello ann')
      expect(runs).toBe(3)
    },
  )

  it('a handler that waits for a faked timer is told apart from one that is slow', async () => {
    const { defineJob, openTesting } = await loaded()
    fake()
    const stuck = defineJob({ type: 'stuck', run: () => new Promise((resolve) => setTimeout(resolve, 1_000)) })
    await using testing = await openTesting([stuck], { patienceMs: 50 })
    await testing.pawl.enqueue(stuck, undefined)
    await expect(testing.drain()).rejects.toThrow(/^drain: still running: pj_1 \(stuck\)/)
  })
})
