/** Jobs for processes of their own: everything a handler can do, and every way to end a process. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { PermanentError, ThrottledError } from '../../src/core/thrown.ts'
import { defineJob } from '../../src/library/define-job.ts'
import { leaveNoCore } from '../support/no-core.ts'

const apart = {
  module: import.meta.url,
  isolate: 'process',
  retry: { attempts: 2, base: 1, max: 1, jitter: 'none' },
} as const

class Money {
  readonly cents: number

  constructor(cents: number) {
    this.cents = cents
  }

  /** Nothing that travels between processes has methods. */
  doubled(): number {
    return this.cents * 2
  }
}

const money: StandardSchemaV1<{ cents: number }, Money> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) => {
      const { cents } = value as { cents: unknown }
      return typeof cents === 'number' ? { value: new Money(cents) } : { issues: [{ message: 'no money' }] }
    },
  },
}

export const rich = defineJob({
  ...apart,
  type: 'rich',
  input: money,
  async run(input, ctx) {
    const doubled = await ctx.step('double', () => input.doubled())
    ctx.progress({ done: 1, total: 2, message: 'half' })
    ctx.count('seen', 3)
    await ctx.checkpoint({ at: 'half' })
    ctx.log.info('from the cell', { doubled })
    const { payload } = await ctx.waitFor<string>('word', { timeout: '1m' })
    await ctx.artifact('report', 's3://bucket/report')
    const child = await ctx.spawn(quiet, undefined)
    return { doubled, payload, child, kept: await ctx.checkpoint(), attempt: ctx.attempt, pid: process.pid }
  },
})

export const quiet = defineJob({ type: 'quiet', module: import.meta.url, run: () => process.pid })

/** Known by its queue and policy, and picky. */
export const picky = defineJob({
  type: 'picky',
  queue: 'picky',
  retry: { attempts: 3 },
  input: money,
  dedupe: ({ cents }) => `cents ${cents}`,
  run: (input) => input.doubled(),
})

/** Children by a definition, by a definition with a schema of its own, and by name. */
export const spawns = defineJob({
  ...apart,
  type: 'spawns',
  async run(what: { readonly kind: 'spec' | 'name' | 'picky'; readonly cents?: unknown }, ctx): Promise<string[]> {
    if (what.kind === 'spec') return [await ctx.spawn(quiet, undefined)]
    if (what.kind === 'name') return [await ctx.spawn('picky', { cents: 1 }, { priority: 'critical' })]
    const input = { cents: what.cents as number }
    return [await ctx.spawn(picky, input, { delay: '1h' }), await ctx.spawn(picky, input, { delay: '2h' })]
  },
})

export const which = defineJob({ ...apart, type: 'which', run: () => process.pid })

export const ends = defineJob({
  ...apart,
  type: 'ends',
  run: (how: 'snooze' | 'cancel' | 'deadLetter' | 'twoWaits' | 'careless' | 'careless wait' | 'tx', ctx): unknown => {
    if (how === 'snooze') return ctx.attempt === 1 ? ctx.snooze(1) : 'rested'
    if (how === 'cancel') return ctx.cancel('enough')
    if (how === 'deadLetter') return ctx.deadLetter('policy_violation', 'no')
    if (how === 'twoWaits') return Promise.race([ctx.waitFor('a'), ctx.waitFor('b')])
    if (how === 'careless' || how === 'careless wait') void ctx.artifact('', 'nobody waits for this')
    if (how === 'careless') return 'done'
    if (how === 'careless wait') return ctx.waitFor('a')
    return ctx.tx(async () => 1)
  },
})

export const throws = defineJob({
  ...apart,
  type: 'throws',
  run(what: 'permanent' | 'throttled' | 'busy server' | 'revoked' | 'function' | 'unclonable answer') {
    if (what === 'busy server') throw Object.assign(new TypeError('busy'), { headers: { 'Retry-After': '3600' } })
    if (what === 'permanent') throw new PermanentError('never', { code: 'E_NEVER', context: { a: 'b' } })
    if (what === 'throttled') throw new ThrottledError('slow', { retryAfterMs: 5 })
    if (what === 'unclonable answer') return { f: () => {}, n: 1n }
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    throw what === 'revoked' ? proxy : () => {}
  },
})

export const undoes = defineJob({
  ...apart,
  type: 'undoes',
  retry: { attempts: 1 },
  async run(_: undefined, ctx) {
    await ctx.step('book', () => 'room', { compensate: (what) => void ctx.log.info(`undo ${what}`) })
    await ctx.step('pay', () => 'money', { compensate: (what) => void ctx.log.info(`undo ${what}`) })
    throw new Error('no')
  },
})

export const crashes = defineJob({
  ...apart,
  type: 'crashes',
  memoryMb: 64,
  run(how: 'abort' | 'exit' | 'memory' | 'throw' | 'reject' | 'kill') {
    leaveNoCore()
    if (how === 'abort') process.abort()
    if (how === 'exit') process.exit(3)
    if (how === 'kill') process.kill(process.pid, 'SIGKILL')
    if (how === 'throw') setTimeout(() => Promise.reject(new Error('out of the blue')), 1)
    if (how === 'reject') void Promise.reject(new RangeError('nobody looked'))
    const kept: unknown[] = []
    while (how === 'memory') kept.push(new Array(10_000).fill({ how }))
    return new Promise(() => {})
  },
})

/** Says who it is, then lets nothing else happen in its process. */
export const deaf = defineJob({
  ...apart,
  type: 'deaf',
  async run(_: undefined, ctx) {
    await ctx.checkpoint(process.pid)
    for (;;) {}
  },
})

/** Says who it is, and notes when it is told to stop. */
export const listens = defineJob({
  ...apart,
  type: 'listens',
  async run(_: undefined, ctx) {
    await ctx.checkpoint(process.pid)
    await new Promise<void>((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)))
  },
})

/** Exported from nowhere. */
export const elsewhere = [
  defineJob({ ...apart, type: 'lost', module: new URL('./nowhere.ts', import.meta.url), run: () => 1 }),
]
