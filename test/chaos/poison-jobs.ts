/** A job that takes its process along, in several ways, and one that would do no harm. */
import { defineJob } from '../../src/library/define-job.ts'
import { leaveNoCore } from '../support/no-core.ts'
import { say } from './jobs.ts'

const policy = {
  // Long for a test: whatever else the machine does, the only leases that are lost are those of a dead process.
  lease: 6_000,
  heartbeat: 500,
  retry: { attempts: 3, stalls: 3, base: 10, max: 10, jitter: 'none' },
} as const

export type How = 'abort' | 'exit' | 'memory' | 'kill'

function die(how: How): Promise<never> {
  leaveNoCore()
  if (how === 'abort') process.abort()
  if (how === 'exit') process.exit(7)
  if (how === 'kill') process.kill(process.pid, 'SIGKILL')
  const kept: unknown[] = []
  while (how === 'memory') kept.push(new Array(10_000).fill({ how }))
  return new Promise(() => {})
}

const poisonous = {
  ...policy,
  run: (how: How, ctx: { readonly job: { readonly id: string }; readonly attempt: number }): Promise<never> => {
    say({ what: 'run', id: ctx.job.id, attempt: ctx.attempt, pid: process.pid })
    return die(how)
  },
}

/** Long enough to be there when the poison takes effect, in its first attempt. */
const harmless = {
  ...policy,
  async run(_: undefined, ctx: { readonly job: { readonly id: string }; readonly attempt: number }): Promise<number> {
    say({ what: 'run', id: ctx.job.id, attempt: ctx.attempt, pid: process.pid })
    await new Promise((resolve) => setTimeout(resolve, ctx.attempt === 1 ? 60_000 : 50))
    return ctx.attempt
  },
}

/** Known by nothing but their definition. */
export const poison = defineJob({ type: 'poison', ...poisonous })
export const innocent = defineJob({ type: 'innocent', ...harmless })

/** The same, which can be imported. */
export const importedPoison = defineJob({ type: 'imported poison', module: import.meta.url, ...poisonous })
export const importedInnocent = defineJob({ type: 'imported innocent', module: import.meta.url, ...harmless })
