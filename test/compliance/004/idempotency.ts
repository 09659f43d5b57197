/** Document 004: keys and repeated writes. */
import { expect, it } from 'vitest'
import { startGateway } from '../../../src/gateway/serve.ts'
import { defineJob, implementJob } from '../../../src/library/define-job.ts'
import { openTesting } from '../../../src/testing/testing.ts'
import { fresh } from '../actor.ts'
import type { Stage } from '../stage.ts'
import { jobsOn, SOON, strict } from './jobs.ts'

export function idempotency(stage: () => Stage): void {
  const { actor } = jobsOn(stage)

  it('004:33 the same Idempotency-Key returns the original job, in whatever state', async () => {
    const each = actor()
    const idempotencyKey = fresh('key')
    const first = await each.pawl.enqueue(each.spec, { url: 'u' }, { idempotencyKey })
    expect(await each.pawl.enqueue(each.spec, { url: 'u' }, { idempotencyKey })).toMatchObject({ id: first.id })
    await each.must(first.id, { type: 'cancel', mode: 'hard' })
    expect(await each.pawl.enqueue(each.spec, { url: 'u' }, { idempotencyKey })).toMatchObject({ id: first.id })
    expect((await each.pawl.find({ queues: [each.queue] })).jobs).toHaveLength(1)
  })

  it('004:33 creation endpoints take it as a header', async () => {
    const { pawl } = stage()
    await using gateway = await startGateway({ engine: pawl.engine, port: 0, auth: false, tenant: 'default' })
    const body = JSON.stringify({ type: fresh('type'), queue: fresh('queue'), policy: strict, input: { url: 'u' } })
    const post = async () => {
      const headers = { 'content-type': 'application/json', 'idempotency-key': '"crawl-1"' }
      const response = await fetch(`${gateway.url}/v1/jobs`, { method: 'POST', body, headers })
      return { status: response.status, id: ((await response.json()) as { id: string }).id }
    }
    const first = await post()
    expect(first.status).toBe(201)
    expect(await post()).toEqual({ status: 200, id: first.id })
  })

  it('004:34 a step that was done is not done again by a retry', async () => {
    const each = actor({ retry: { attempts: 3, ...SOON } })
    const upserts: string[] = []
    const job = implementJob(each.spec, async (_, ctx) => {
      await ctx.step('upsert doc-1', () => void upserts.push(`doc-1 in ${ctx.attempt}`))
      if (ctx.attempt === 1) throw new Error('after the write')
      await ctx.step('upsert chunk-1', () => void upserts.push(`chunk-1 in ${ctx.attempt}`))
    })
    await using _ = each.pawl.work([job], { poll: 20 })
    const { id } = await each.enqueue()
    await each.until(id, 'succeeded')
    expect(upserts).toEqual(['doc-1 in 1', 'chunk-1 in 2'])
  })
}

export function idempotencyInVirtualTime(): void {
  it('004:33 the key counts for 24 hours, not longer', async () => {
    const quick = defineJob({ ...strict, type: 'quick', run: () => 1 })
    await using testing = await openTesting([quick])
    const enqueue = () => testing.pawl.enqueue(quick, { url: 'u' }, { idempotencyKey: 'k' })
    const { id } = await enqueue()
    await testing.advance('23h')
    expect((await enqueue()).id).toBe(id)
    await testing.advance('61m')
    expect((await enqueue()).id).not.toBe(id)
  })
}
