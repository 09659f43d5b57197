/** Document 000, part B: error classes, and its version. */
import { expect, it } from 'vitest'
import { deriveDialect } from '../../../src/core/dialects/derive.ts'
import {
  LeaseConflictError,
  PermanentError,
  type ThrownOptions,
  TransientError,
  ValidationError,
} from '../../../src/core/thrown.ts'
import { implementJob } from '../../../src/library/define-job.ts'
import { eventually } from '../../support/eventually.ts'
import type { Stage } from '../stage.ts'
import { bound, ENDED, SOON } from './jobs.ts'

export function errors(stage: () => Stage): void {
  const actor = bound(stage)

  it.each([
    ['ValidationError', ValidationError, 1],
    ['TransientError', TransientError, 3],
    ['PermanentError', PermanentError, 1],
  ] as const)('000B:122 %s', async (_, Thrown: new (message: string, options?: ThrownOptions) => Error, runs) => {
    const each = actor({ retry: { attempts: 3, ...SOON } })
    let ran = 0
    const job = implementJob(each.spec, () => {
      ran += 1
      throw new Thrown('no')
    })
    await using _worker = each.pawl.work([job], { poll: 20 })
    const { id } = await each.enqueue()
    await each.until(id, 'dead_lettered')
    expect(await each.view(id)).toMatchObject({ state: 'failed' })
    expect(ran).toBe(runs)
  })

  it('000B:122 LeaseConflictError is what a fenced-out handler gets', async () => {
    const each = actor({}, { heartbeatMs: 1_000, missedHeartbeats: 20 })
    let reason: unknown
    const job = implementJob(each.spec, async (_, ctx) => {
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
      reason = ctx.signal.reason
      await ctx.checkpoint({ late: true })
    })
    await using _worker = each.pawl.work([job])
    const { id } = await each.enqueue()
    await each.until(id, 'running')
    await each.pawl.cancel(id, { mode: 'hard' })
    await eventually('the handler to be told', () => reason !== undefined)
    expect(reason).toBeInstanceOf(LeaseConflictError)
    expect(await each.pawl.body(id, 'checkpoint')).toBeUndefined()
  })

  it('000B:125 this is version 1, and says so; readers ignore what they do not know', async () => {
    const each = actor()
    const id = await ENDED.succeeded(each)
    for (const event of await each.events(id)) expect(event.version).toBe(1)
    expect(each.pawl.machine.version).toBe(1)
    const grown = (await each.log(id)).map((entry) => ({ ...entry, colour: 'green' }))
    expect(deriveDialect('000B', grown)).toMatchObject({ status: 'succeeded', violations: [] })
  })
}
