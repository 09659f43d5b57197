/** Document 000, part B: what leads from state to state. */
import { expect, it } from 'vitest'
import { deriveDialect } from '../../../src/core/dialects/derive.ts'
import { DIALECTS } from '../../../src/core/dialects/registry.ts'
import { defineJob } from '../../../src/library/define-job.ts'
import { eventually } from '../../support/eventually.ts'
import type { Stage } from '../stage.ts'
import { bound, LIVE, STATES, strict } from './jobs.ts'

export function transitions(stage: () => Stage): void {
  const actor = bound(stage)

  it.each([
    ['000B:97', 'queued', 'assigned'],
    ['000B:98', 'assigned', 'running'],
    ['000B:99', 'running', 'succeeded'],
    ['000B:100', 'running', 'failed'],
  ] as const)('%s %s → %s', async (_, from, to) => {
    const each = actor()
    const id = await STATES[to](each)
    const entries = await each.log(id)
    expect(entries.map(({ state }) => state).slice(-2)).toEqual([from, to])
  })

  it.each(['queued', 'assigned', 'running'] as const)('000B:101 %s → cancelled', async (state) => {
    const each = actor()
    const id = await LIVE[state](each)
    await each.must(id, { type: 'cancel', mode: 'hard', reason: 'policy' })
    expect(await each.view(id)).toMatchObject({ state: 'cancelled' })
    expect(deriveDialect('000B', await each.log(id))).toMatchObject({ status: 'cancelled', violations: [] })
  })

  it('000B:98 pre-execution checks that fail keep the user code from running', async () => {
    const each = actor()
    const { id } = await each.enqueue({}, 'seven')
    let ran = false
    const number = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value: unknown) =>
          typeof value === 'number' ? { value } : { issues: [{ message: 'must be a number' }] },
      },
    } as const
    const job = defineJob({
      ...strict,
      type: each.spec.type,
      queue: each.queue,
      input: number,
      run: () => {
        ran = true
      },
    })
    await using _ = each.pawl.work([job])
    await eventually('it to end', async () => (await each.job(id)).endedAt !== undefined)
    expect(ran).toBe(false)
    expect(await each.view(id)).toMatchObject({ state: 'failed', stage: 'input', reason: 'validation_failed' })
  })

  it('000B:96 its transitions are the table that bound jobs are judged by', () => {
    const edges = DIALECTS['000B'].table.filter(({ settled }) => settled === undefined)
    expect(edges.map(({ from, to }) => `${from} → ${to}`).sort()).toEqual(
      [
        ...['none → queued', 'queued → assigned', 'assigned → running', 'running → succeeded', 'running → failed'],
        ...['queued → cancelled', 'assigned → cancelled', 'running → cancelled'],
      ].sort(),
    )
  })
}
