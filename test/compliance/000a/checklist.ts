/** Document 000, part A: its acceptance tests. */
import { expect, it } from 'vitest'
import { deriveDialect } from '../../../src/core/dialects/derive.ts'
import { implementJob } from '../../../src/library/define-job.ts'
import { eventually } from '../../support/eventually.ts'
import { fresh } from '../actor.ts'
import { chaos } from '../chaos.ts'
import { disorder } from '../order.ts'
import type { Stage } from '../stage.ts'
import { bound, SOON } from './jobs.ts'

export function checklist(stage: () => Stage): void {
  const actor = bound(stage)

  it('000A:62 000A:63 no backward transitions under chaos; expired leases requeue, and everything ends', async () => {
    const each = actor({ retry: { attempts: 6, ...SOON } }, { leaseMs: 250, heartbeatMs: 100 })
    const { histories, requeued } = await chaos(each, { jobs: 60, workers: 8, seed: 11 })
    expect(histories).toHaveLength(60)
    expect(requeued).toBeGreaterThan(0)
    for (const { job, events } of histories) {
      expect(job.endedAt).toBeDefined()
      expect(disorder(events)).toEqual([])
    }
    for (const { job, events } of histories) {
      const told = await each.log(job.id)
      expect(deriveDialect('000A', told, events.at(-1)?.rev).violations).toEqual([])
      // What is told is what happened, claim by claim and start by start.
      for (const type of ['claimed', 'started'])
        expect(
          told.filter((entry) => entry['type'] === `job_${type}`).map(({ rev, implied }) => [rev, implied]),
        ).toEqual(events.filter((event) => event.type === type).map(({ rev }) => [rev, undefined]))
    }
    expect((await each.pawl.verify({ queues: [each.queue] })).discrepancies).toEqual([])
  })

  it('000A:64 exactly one event per transition; counts match transitions for 1,000 jobs', async () => {
    const { measured } = stage()
    const since = measured.length
    const each = actor()
    let ran = 0
    const job = implementJob(each.spec, () => {
      ran += 1
    })
    const correlationId = fresh('load')
    await each.pawl.enqueueMany(
      each.spec,
      Array.from({ length: 1_000 }, (_, n) => n),
      { correlationId },
    )
    await using _ = each.pawl.work([job], { concurrency: 32 })
    const done = async () => (await each.pawl.find({ queues: [each.queue], states: ['succeeded'], limit: 1_000 })).jobs
    const jobs = await eventually('1,000 jobs', async () => {
      const ended = await done()
      return ended.length === 1_000 && ended
    })
    expect(ran).toBe(1_000)
    const types = new Map<string, number>()
    const seqs = new Map<string, number[]>()
    let cursor: string | undefined
    do {
      const page = await each.pawl.events({ by: 'correlation', correlationId, limit: 1_000, cursor })
      for (const { type, jobId, seq } of page.events) {
        types.set(type, (types.get(type) ?? 0) + 1)
        if (seq !== undefined) seqs.set(jobId, [...(seqs.get(jobId) ?? []), seq])
      }
      cursor = page.cursor
    } while (cursor !== undefined)
    // A worker hands back what it holds and will not start soon: each time one more claim.
    const back = types.get('released') ?? 0
    types.delete('released')
    // Each start is a heartbeat: no transition.
    expect(types.get('heartbeat')).toBe(1_000)
    types.delete('heartbeat')
    const claims = 1_000 + back
    expect(Object.fromEntries(types)).toEqual({ enqueued: 1_000, claimed: claims, started: 1_000, succeeded: 1_000 })
    const upTo = (seq: number) => Array.from({ length: seq }, (_, i) => i + 1)
    for (const { id, seq } of jobs) expect(seqs.get(id)?.toSorted((a, b) => a - b)).toEqual(upTo(seq))
    expect(jobs.reduce((sum, { seq }) => sum + seq, 0)).toBe(3_000 + claims + back)
    const counted = (from: string, to: string) =>
      measured
        .slice(since)
        .filter(
          ({ name, labels }) => name === 'pawl_transitions_total' && labels['from'] === from && labels['to'] === to,
        )
        .reduce((total, { value }) => total + value, 0)
    expect([counted('none', 'queued'), counted('queued', 'claimed')]).toEqual([1_000, claims])
    expect([counted('claimed', 'running'), counted('running', 'succeeded')]).toEqual([1_000, 1_000])
  })
}
