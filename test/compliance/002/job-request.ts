/** Document 002: what a request says. */
import { expect, it } from 'vitest'
import { implementJob } from '../../../src/library/define-job.ts'
import { eventually } from '../../support/eventually.ts'
import { fresh } from '../actor.ts'
import type { Stage } from '../stage.ts'
import { jobsOn } from './jobs.ts'

export function jobRequest(stage: () => Stage): void {
  const { actor } = jobsOn(stage)

  it('002:4 job_id is globally unique and immutable: the same request is the same job, another is refused', async () => {
    const each = actor()
    const id = fresh('my-own-id')
    const first = await each.pawl.enqueue(each.spec, { n: 1 }, { id })
    expect((await each.pawl.enqueue(each.spec, { n: 1 }, { id })).id).toBe(first.id)
    const others = [
      [{ n: 2 }, { id }],
      [{ n: 1 }, { id, topic: 'job.other' }],
      [{ n: 1 }, { id, contextPtr: 'mem://elsewhere' }],
    ] as const
    for (const [input, options] of others)
      await expect(each.pawl.enqueue(each.spec, input, options)).rejects.toMatchObject({ code: 'ID_TAKEN' })
    expect((await each.pawl.get(id))?.id).toBe(first.id)
    expect((await each.pawl.enqueue(each.spec, { n: 1 })).id).not.toBe(first.id)
  })

  it('002:5 002:7 002:8 002:9 002:10 topic, context_ptr, adapter_id, env and lineage are kept as given', async () => {
    const each = actor()
    const parent = await each.enqueue()
    const { id } = await each.enqueue({
      topic: 'job.chat.simple',
      contextPtr: 'mem://never/fetched',
      adapterId: 'llama',
      env: { tenant: 'acme', locale: 'zh-CN', sandbox: 'true' },
      parentId: parent.id,
      workflowId: 'flow-1',
      stepIndex: 3,
    })
    expect((await each.view(id))['JobRequest']).toMatchObject({
      job_id: id,
      topic: 'job.chat.simple',
      context_ptr: 'mem://never/fetched',
      adapter_id: 'llama',
      env: { tenant: 'acme', locale: 'zh-CN', sandbox: 'true' },
      parent_job_id: parent.id,
      workflow_id: 'flow-1',
      step_index: 3,
    })
  })

  it('002:5 who names no topic is for the workers of its type', async () => {
    const each = actor()
    const { id } = await each.enqueue()
    expect((await each.view(id))['JobRequest']).toMatchObject({ topic: each.spec.type })
  })

  it('002:6 priority orders scheduling: critical before interactive before batch', async () => {
    const each = actor()
    const ids = new Map<string, string>()
    for (const priority of ['batch', 'interactive', 'critical'] as const) {
      const { id } = await each.scheduled({ priority })
      ids.set(id, priority)
      expect((await each.view(id))['JobRequest']).toMatchObject({ priority })
    }
    const order: (string | undefined)[] = []
    for (const _ of ids) order.push(ids.get((await each.claimed()).job.id))
    expect(order).toEqual(['critical', 'interactive', 'batch'])
  })

  it('002:6 a worker runs what is critical first, then what is interactive, then batches, whatever came first', async () => {
    const each = actor()
    const ran: unknown[] = []
    const job = implementJob(each.spec, async (_: unknown, ctx) => {
      ran.push(((await each.view(ctx.job.id))['JobRequest'] as { readonly priority: string }).priority)
    })
    for (const priority of ['batch', 'interactive', 'critical'] as const) await each.scheduled({ priority })
    await using _ = each.pawl.work([job], { concurrency: 1 })
    await eventually('all three', () => ran.length === 3)
    expect(ran).toEqual(['critical', 'interactive', 'batch'])
  })
}
