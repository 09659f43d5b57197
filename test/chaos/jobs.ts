/** Job types that behave badly, and what they say about it on standard output: one JSON line each. */
import { existsSync } from 'node:fs'
import { defineJob } from '../../src/library/define-job.ts'
import { standStill } from '../support/stand-still.ts'

export const LEASE_MS = 2_000

export interface Line {
  readonly what: 'ready' | 'run' | 'aborted' | 'done' | 'write'
  readonly id?: string
  readonly attempt?: number
  readonly type?: string
  readonly reason?: string
  readonly keeper?: string
  readonly pid?: number
}

export const say = (line: Line): void => void process.stdout.write(`${JSON.stringify(line)}\n`)

const policy = { lease: LEASE_MS, heartbeat: 500, retry: { stalls: 3 } } as const

const ran = (ctx: { readonly job: { readonly id: string }; readonly attempt: number }) =>
  say({ what: 'run', id: ctx.job.id, attempt: ctx.attempt })

/** Runs until it is told to stop. */
export const hold = defineJob({
  type: 'hold',
  ...policy,
  async run(_: undefined, ctx) {
    ran(ctx)
    await aborted(ctx.signal, ctx.job.id)
    throw ctx.signal.reason
  },
})

/** The same, with a heartbeat that no test waits for: what it hears before, it has not heard by that. */
export const NEVER_BEATS = { lease: '2h', heartbeat: '1h', missedHeartbeats: 2 } as const
export const calm = defineJob({ type: 'calm', ...NEVER_BEATS, run: hold.run })

/** The first attempt runs until it is told to stop, and then tries to have the last word all the same. */
export const relay = defineJob({
  type: 'relay',
  ...policy,
  async run(_: undefined, ctx): Promise<string> {
    ran(ctx)
    if (ctx.attempt > 1) return `attempt ${ctx.attempt}`
    await aborted(ctx.signal, ctx.job.id)
    await ctx.checkpoint({ from: 'the grave' }).then(
      () => say({ what: 'write', reason: 'accepted' }),
      (error: Error) => say({ what: 'write', reason: error.name }),
    )
    return 'zombie'
  },
})

/** Takes its process along. */
export const fatal = defineJob({
  type: 'fatal',
  ...policy,
  lease: 1_000,
  retry: { stalls: 1 },
  run(_: undefined, ctx) {
    ran(ctx)
    process.kill(process.pid, 'SIGKILL')
    return new Promise<void>(() => {})
  },
})

/** Takes a while, and does not listen meanwhile. */
export const short = defineJob({
  type: 'short',
  ...policy,
  async run(input: { readonly ms: number }, ctx) {
    ran(ctx)
    await new Promise((resolve) => setTimeout(resolve, input.ms))
    say({ what: 'done', id: ctx.job.id })
  },
})

export const LONG_LEASE_MS = 60_000

/** Done at once, under a lease that nobody would want to wait for. */
export const brief = defineJob({
  type: 'brief',
  ...policy,
  lease: LONG_LEASE_MS,
  run(_: undefined, ctx): void {
    ran(ctx)
  },
})

/** Its first attempt lets nothing else happen in its process. */
export const block = defineJob({
  type: 'block',
  ...policy,
  run(input: { readonly ms: number; readonly untilFile?: string }, ctx) {
    ran(ctx)
    const until = performance.now() + input.ms
    const isEnough = () => performance.now() >= until || (input.untilFile !== undefined && existsSync(input.untilFile))
    while (ctx.attempt === 1 && !isEnough()) standStill(20)
    say({ what: 'done', id: ctx.job.id, attempt: ctx.attempt })
    return ctx.attempt
  },
})

/** The same, which it may for a second. */
export const endless = defineJob({ type: 'endless', ...policy, timeout: 1_000, run: block.run })

const aborted = (signal: AbortSignal, id: string): Promise<void> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      say({ what: 'aborted', id, reason: (signal.reason as Error).name })
      resolve()
    })
  })

export const JOBS = [hold, calm, relay, fatal, short, brief, block, endless]
