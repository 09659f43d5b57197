/** Document 001: validators, and what is left to other plans. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { validateJob } from '../../../src/core/contract/validate-job.ts'
import { validateTransition } from '../../../src/core/contract/validate-transition.ts'
import { LEFT_OPEN } from '../../../src/core/dialects/contradictions.ts'
import { view } from '../../../src/core/dialects/view.ts'
import { fresh } from '../actor.ts'
import type { Stage } from '../stage.ts'
import { contractOn, SHORT, STATUSES } from './contract.ts'

export function validators(stage: () => Stage): void {
  const { actor, contract, at } = contractOn(stage)

  it('001:109 dedupe_key is opaque', async () => {
    const each = actor()
    for (const dedupeKey of ['a/b?c=d#e', '{"json":true}', '任意', ' x '.repeat(100)]) {
      const first = await contract().enqueue({ kind: each.spec, requestId: fresh('r'), dedupeKey })
      const again = await contract().enqueue({ kind: each.spec, requestId: fresh('r'), dedupeKey })
      expect(again).toMatchObject({ deduped: true, job: { id: first.job.id } })
    }
    const alike = ['key', 'KEY', ' key', 'key ', 'k', 'ke y']
    const made = alike.map((dedupeKey) => contract().enqueue({ kind: each.spec, requestId: fresh('r'), dedupeKey }))
    expect(new Set((await Promise.all(made)).map(({ job }) => job.id)).size).toBe(alike.length)
  })

  it('001:12 001:117 the boundaries with plans 01, 03 and 04 are written down', () => {
    expect(LEFT_OPEN.map(({ plan }) => plan.slice(0, 2))).toEqual(['01', '03', '04'])
    const page = readFileSync('docs/dialects.md', 'utf8')
    for (const { plan, question, answer } of LEFT_OPEN) expect(page).toContain(`| ${plan} | ${question} | ${answer} |`)
  })

  it('001:114 001:115 001:116 001:118 the validators name every violation, and throw for nothing', async () => {
    const each = actor()
    const { job } = await at.running(each)
    const record = view(job, '001')
    const broken = { ...record, owner: undefined, lease: undefined, result: 1, attempt: -1, rev: 'x' }
    expect(
      validateJob(broken)
        .map(({ field }) => field)
        .sort(),
    ).toEqual(['attempt', 'lease', 'owner', 'result', 'rev'])
    const jump = validateTransition(
      record,
      { action: 'requeueStalled' },
      { ...record, status: 'queued', attempt: 0, rev: 0 },
    )
    expect(new Set(jump.map(({ field }) => field))).toEqual(
      new Set([
        ...['after.owner', 'after.lease', 'request_id', 'cas.expected_rev', 'after.status', 'after.attempt'],
        'after.rev',
      ]),
    )
    for (const nonsense of [undefined, null, 7, 'x', [], { status: 'asleep' }])
      expect(validateJob(nonsense)).not.toEqual([])
  })

  it('001:118 every record the store keeps passes the validator', async () => {
    for (const status of STATUSES) await at[status](actor(status === 'stalled' ? SHORT : {}))
    const { jobs } = await stage().pawl.find({ limit: 500 })
    expect(new Set(jobs.map((job) => view(job, '001')['status']))).toEqual(new Set(STATUSES))
    for (const job of jobs) expect([job.id, validateJob(view(job, '001'))]).toEqual([job.id, []])
  })
}
