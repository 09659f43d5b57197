import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Job } from '../../src/core/job.ts'
import { refuse } from '../../src/core/refuse.ts'
import type { Engine, SpawnOptions } from '../../src/engine.ts'
import { defineJob } from '../../src/index.ts'
import { Producer } from '../../src/library/producer.ts'
import { spawning } from '../../src/library/spawn.ts'
import { openTesting } from '../../src/testing/testing.ts'
import { openAt, PLACES } from '../engine/opened.ts'
import { eventually } from '../support/eventually.ts'

const mail = defineJob({
  type: 'mail',
  queue: 'mail',
  retry: { attempts: 2 },
  input: z.object({ to: z.email(), copies: z.int().default(1) }),
  dedupe: ({ to }) => to,
  run: ({ to, copies }) => `${copies} to ${to}`,
})

describe('a child', () => {
  it('is enqueued as anybody would enqueue it: schema, dedupe, queue, policy', async () => {
    const parent = defineJob({
      type: 'parent',
      async run(to: string, ctx) {
        return [await ctx.spawn(mail, { to }), await ctx.spawn(mail, { to, copies: 3 })]
      },
    })
    await using testing = await openTesting([parent])
    const { pawl } = testing
    const bad = await pawl.enqueue(parent, 'nobody')
    const good = await pawl.enqueue(parent, 'ann@x.org')
    await testing.drain()
    expect((await bad.job())?.error).toMatchObject({
      code: 'E_CHILD_REFUSED',
      message: expect.stringContaining('input.to'),
    })
    const [first, second] = await good.result()
    // One live job per piece of business.
    expect(first).toBe(second)
    const child = await pawl.get(first ?? '')
    expect(child).toMatchObject({
      priority: 5,
      spec: { dedupeKey: 'ann@x.org', parentId: good.id, kind: { queue: 'mail', policy: { maxAttempts: 2 } } },
    })
  })

  it('takes what enqueue takes', async () => {
    const spawned: SpawnOptions = {
      id: 'child-1',
      dedupeKey: 'd',
      flow: { keys: ['k'], fair: 'f' },
      priority: 'critical',
      runAt: new Date(Date.UTC(2030, 0, 2)),
      queue: 'elsewhere',
      tenant: 'other',
      labels: { a: 'b' },
      correlationId: 'c',
      workflowId: 'w',
      stepIndex: 3,
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      topic: 't',
      contextPtr: 's3://x',
      adapterId: 'a',
      env: { e: 'f' },
      policy: { lease: '50s' },
    }
    const parent = defineJob({
      type: 'parent',
      run: (_: undefined, ctx) => ctx.spawn(mail, { to: 'ann@x.org' }, spawned),
    })
    const later = defineJob({
      type: 'later',
      run: (_: undefined, ctx) => ctx.spawn('mail', {}, { queue: 'q', delay: '1h' }),
    })
    await using testing = await openTesting([parent, later])
    const { pawl } = testing
    const [handle, other] = [await pawl.enqueue(parent), await pawl.enqueue(later)]
    await testing.drain()
    const { id, dedupeKey, priority, runAt, queue, tenant, policy: _, ...spec } = spawned
    expect(await pawl.get(await handle.result())).toMatchObject({
      priority: 1,
      runAt: (runAt as Date).getTime(),
      spec: {
        ...spec,
        alias: id,
        dedupeKey,
        parentId: handle.id,
        kind: { queue, tenant, policy: { leaseMs: 50_000 } },
      },
    })
    expect(priority).toBe('critical')
    expect((await pawl.get(await other.result()))?.runAt).toBe(testing.now.getTime() + 3_600_000)
  })

  it('has its parent’s tenant, correlation and workflow, unless it says otherwise', async () => {
    const parent = defineJob({
      type: 'parent',
      tenant: 'acme',
      run: (_: undefined, ctx) => ctx.spawn(mail, { to: 'ann@x.org' }),
    })
    await using testing = await openTesting([parent])
    const { pawl } = testing
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const handle = await pawl.enqueue(parent, undefined, { correlationId: 'c', workflowId: 'w', traceparent })
    await testing.drain()
    expect((await pawl.get(await handle.result()))?.spec).toMatchObject({
      correlationId: 'c',
      workflowId: 'w',
      traceparent,
      kind: { tenant: 'acme' },
    })
  })

  it('may be known by its name', async () => {
    const parent = defineJob({ type: 'parent', run: (_: undefined, ctx) => ctx.spawn('mail', { to: 'ann@x.org' }) })
    await using pawl = await openAt(await PLACES.memory())
    await using _worker = pawl.work([parent, mail])
    await eventually('the type to be announced', () => pawl.enqueue('mail', { to: 'b@x.org' }).catch(() => undefined))
    const child = await (await pawl.enqueue(parent)).result({ timeout: '30s' })
    expect((await pawl.get(child))?.spec.kind).toMatchObject({ queue: 'mail', policy: { maxAttempts: 2 } })
  })

  it('is the same child when its parent was gone before it could remember, whatever it asks for now', async () => {
    let runs = 0
    const parent = defineJob({
      type: 'parent',
      lease: '10s',
      async run(_: undefined, ctx) {
        runs += 1
        const run = runs
        const child = ctx.spawn(mail, { to: 'ann@x.org', copies: run }, { priority: run === 1 ? 'batch' : 'normal' })
        if (run === 1) await testing.crashWorker()
        return child
      },
    })
    await using testing = await openTesting([parent])
    const { pawl } = testing
    const handle = await pawl.enqueue(parent)
    await testing.drain()
    await testing.advance('1m')
    await testing.drain()
    const children = (await pawl.find({ parentId: handle.id })).jobs
    expect([runs, children.length, children[0]?.id]).toEqual([2, 1, await handle.result()])
  })

  it('is the one that was spawned first under its key: other words come too late, another type is a mistake', async () => {
    await using pawl = await openAt(await PLACES.memory())
    const spawn = spawning(new Producer(pawl.engine), pawl.engine, false)
    const { id } = await pawl.enqueue('parent', undefined, { queue: 'q' })
    const parent = (await pawl.get(id)) as Job
    const wish = { parent, definition: mail, options: {}, key: `${id}/0/spawn/1`, actor: 'worker:w' }
    const child = await spawn({ ...wish, input: { to: 'ann@x.org' } })
    expect(await spawn({ ...wish, input: { to: 'ann@x.org' } })).toBe(child)
    expect(await spawn({ ...wish, input: { to: 'bob@x.org' }, options: { delay: '1h' } })).toBe(child)
    const other = { ...mail, type: 'other' }
    await expect(spawn({ ...wish, definition: other, input: { to: 'ann@x.org' } })).rejects.toMatchObject({
      code: 'E_CHILD_REFUSED',
      errorClass: 'permanent',
    })
  })

  it('is tried again later where there is too much to do', async () => {
    await using pawl = await openAt(await PLACES.memory())
    const { id } = await pawl.enqueue('parent', undefined, { queue: 'q' })
    const refusal = refuse('OVERLOADED', { retryAfterMs: 250 })
    const busy: Engine = Object.create(pawl.engine, { enqueue: { value: async () => [{ ok: false, refusal }] } })
    const spawn = spawning(new Producer(busy), busy, false)
    const parent = (await pawl.get(id)) as Job
    const wish = { parent, definition: mail, options: {}, key: 'k', actor: 'worker:w', input: { to: 'ann@x.org' } }
    await expect(spawn(wish)).rejects.toMatchObject({ errorClass: 'transient', retryAfterMs: 250 })
  })
})
