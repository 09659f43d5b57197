/** Words that only those read who have the key: not the store, not the gateway, not another job. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TransientError } from '../../src/core/thrown.ts'
import { type BodyCodec, Undecipherable } from '../../src/engine/body-codec.ts'
import type { Gateway } from '../../src/gateway/serve.ts'
import { startGateway } from '../../src/gateway/serve.ts'
import { defineJob } from '../../src/library/define-job.ts'
import { aesGcm } from '../../src/library/encryption.ts'
import type { Pawl } from '../../src/library/pawl.ts'
import { open, openOn } from '../../src/open.ts'
import { openMemoryStore } from '../../src/store/memory/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { realClock } from '../../src/system/clock.ts'
import { eventually } from '../support/eventually.ts'
import { Between } from './between.ts'
import { kindOf } from './engine-fixture.ts'

const CANARY = 'canary-4711'
const [KEY_A, KEY_B] = [randomBytes(32), randomBytes(32)]
const codecA = aesGcm({ keys: { a: KEY_A }, current: 'a' })
const rotated = aesGcm({ keys: { a: KEY_A, b: KEY_B }, current: 'b' })
const onlyB = aesGcm({ keys: { b: KEY_B }, current: 'b' })
const ALL = ['input', 'output', 'checkpoint', 'step/', 'signal/', 'error/']

/** Says the canary wherever anything can be said. */
const secretive = defineJob({
  type: 'secretive',
  retry: { attempts: 1 },
  async run(input: { card: string; end?: 'fail' | 'deadLetter' | 'cancel' | 'wait' }, ctx) {
    await ctx.step('charge', async () => ({ charged: input.card }))
    await ctx.checkpoint({ card: input.card })
    ctx.progress({ done: 1, total: 2, message: `charging ${input.card}` })
    if (input.end === 'fail')
      throw new TransientError(`declined: ${input.card}`, { code: 'E_CARD', context: { card: input.card } })
    if (input.end === 'deadLetter') ctx.deadLetter('policy_violation', `stolen: ${input.card}`)
    if (input.end === 'cancel') ctx.cancel(`no longer wanted: ${input.card}`)
    if (input.end === 'wait') {
      await new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)))
    }
    const { payload: answer } = await ctx.waitFor('approved')
    return { card: input.card, answer }
  },
})

/** What ends where, told to whoever has the key. */
async function live(pawl: Pawl): Promise<readonly string[]> {
  const ids: string[] = []
  const enqueue = async (end?: 'fail' | 'deadLetter' | 'cancel' | 'wait') => {
    const job = await pawl.enqueue(secretive, end === undefined ? { card: CANARY } : { card: CANARY, end })
    ids.push(job.id)
    return job
  }
  const good = await enqueue()
  await good.signal('approved', { by: CANARY })
  expect(await good.result({ timeout: '20s' })).toEqual({ card: CANARY, answer: { by: CANARY } })

  const failed = await enqueue('fail')
  await expect(failed.result({ timeout: '20s' })).rejects.toThrow(`declined: ${CANARY}`)
  const error = { code: 'E_CARD', message: `declined: ${CANARY}`, context: { card: CANARY } }
  expect((await failed.job())?.error).toMatchObject(error)
  expect((await failed.job())?.deadLetter?.lastError).toMatchObject(error)
  expect((await failed.job())?.progress?.message).toBe(`charging ${CANARY}`)
  expect(await pawl.body(failed.id, 'error/1')).toMatchObject({
    message: `declined: ${CANARY}`,
    context: { card: CANARY },
  })
  const told = await failed.events()
  expect(told.find(({ type }) => type === 'dead_lettered')?.payload).toMatchObject({ failure: error })
  expect(told.find(({ type }) => type === 'progressed')?.payload).toMatchObject({
    progress: { message: `charging ${CANARY}` },
  })
  await pawl.reopen(failed.id, { reason: `try ${CANARY} again` })
  expect((await failed.events()).find(({ type }) => type === 'reopened')?.reason).toBe(`try ${CANARY} again`)
  await expect(failed.result({ timeout: '20s' })).rejects.toThrow(`declined: ${CANARY}`)

  await expect((await enqueue('deadLetter')).result({ timeout: '20s' })).rejects.toThrow(`stolen: ${CANARY}`)
  await expect((await enqueue('cancel')).result({ timeout: '20s' })).rejects.toThrow(`no longer wanted: ${CANARY}`)

  const stopped = await enqueue('wait')
  await eventually('it runs', async () => (await stopped.job())?.progress !== undefined)
  await stopped.cancel({ reason: `stop charging ${CANARY}` })
  await expect(stopped.result({ timeout: '20s' })).rejects.toThrow(`stop charging ${CANARY}`)
  expect((await stopped.job())?.lastFailure?.message ?? '').not.toContain('pawl:1')
  return ids
}

describe('a whole life', () => {
  it('leaves nothing readable in the file, and everything readable to who has the key', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-secret-'))
    try {
      {
        await using pawl = await open(join(folder, 'jobs.db'), { codec: codecA, log: 'silent' })
        await using _worker = pawl.work([secretive])
        await live(pawl)
        expect((await pawl.verify()).discrepancies).toEqual([])
      }
      for (const name of readdirSync(folder)) expect(readFileSync(join(folder, name)).includes(CANARY)).toBe(false)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('is hidden from the gateway it passes through, and from whoever asks it without a key', async () => {
    await using served = await open('memory:', { log: 'silent' })
    await using gateway = await startGateway({ engine: served.engine, port: 0, auth: false })
    await using pawl = await open(gateway.url, { codec: codecA, log: 'silent' })
    await using _worker = pawl.work([secretive])
    const ids = await live(pawl)
    await using stranger = await open(gateway.url, { log: 'silent' })
    for (const each of [served, stranger]) {
      const { items } = await each.engine.load(ids.map((id) => ({ id, bodies: ALL })))
      expect(JSON.stringify(items)).not.toContain(CANARY)
      expect(Object.keys(items[0]?.bodies ?? {}).length).toBeGreaterThan(4)
      for (const id of ids) expect(JSON.stringify(await each.events(id))).not.toContain(CANARY)
      expect(JSON.stringify(await each.find())).not.toContain(CANARY)
    }
  })
})

/** At home: processes on one store. Over HTTP: processes on one gateway, which has no key. */
describe.each(['at home', 'over HTTP'] as const)('%s', (where) => {
  let store: Store
  let served: Pawl
  let gateway: Gateway
  let opened: Pawl[]

  beforeEach(async () => {
    store = openMemoryStore({ clock: realClock })
    served = openOn(store, { log: 'silent' })
    gateway = await startGateway({ engine: served.engine, port: 0, auth: false })
    opened = []
  })
  afterEach(async () => {
    for (const pawl of opened) if (where === 'over HTTP') await pawl.close()
    await gateway[Symbol.asyncDispose]()
    await served.close()
  })

  const with_ = async (codec: BodyCodec): Promise<Pawl> => {
    const options = { codec, ticker: false, retention: false, log: 'silent' } as const
    const pawl = where === 'at home' ? openOn(store, options) : await open(gateway.url, options)
    opened.push(pawl)
    return pawl
  }
  const reads = defineJob({ type: 'reads', retry: { attempts: 1 }, run: (input: { n: number }) => input.n })

  it('a text without its key does not take its neighbours along, and says which key it wants', async () => {
    const [stranger, pawl] = [await with_(codecA), await with_(onlyB)]
    const unreadable = await stranger.enqueue(reads, { n: 1 })
    const readable = await pawl.enqueue(reads, { n: 2 })
    await using _worker = pawl.work([reads])
    expect(await readable.result({ timeout: '20s' })).toBe(2)
    await expect(pawl.result(unreadable.id, { timeout: '20s' })).rejects.toThrow(/written with key a/)
    const both = await pawl.engine.load([unreadable, readable].map(({ id }) => ({ id, bodies: ['input'] })))
    expect(both.items[1]?.bodies['input']).toBe('{"n":2}')
    expect(() => both.items[0]?.bodies['input']).toThrow(Undecipherable)
    // What the worker could not do is written with its own key, and the others can still read what they wrote.
    expect((await pawl.get(unreadable.id))?.error?.message).toMatch(
      /written with key a, which this process does not have/,
    )
    expect((await stranger.get(unreadable.id))?.error?.message).toMatch(/written with key b/)
    expect((await stranger.find({ types: ['reads'] })).jobs).toHaveLength(2)
  })

  it('keys are changed without a stop: old texts are read, new ones written with the new key', async () => {
    const [before, after] = [await with_(codecA), await with_(rotated)]
    const waits = defineJob({
      type: 'waits',
      async run(input: { n: number }, ctx) {
        const doubled = await ctx.step('double', () => input.n * 2)
        const { payload } = await ctx.waitFor<number>('go')
        return doubled + (payload ?? 0)
      },
    })
    const job = await before.enqueue(waits, { n: 20 })
    await using first = before.work([waits])
    await eventually('it waits', async () => (await before.get(job.id))?.wait !== undefined)
    await first.stop()
    await after.signal(job.id, 'go', 2)
    await using _second = after.work([waits])
    expect(await after.result(job.id, { timeout: '20s' })).toBe(42)
    const [found] = (await store.load([{ id: job.id, bodies: ALL }])).items
    const keyOf = (name: string) => /^"pawl:1:(\w+):/.exec(found?.bodies[name] ?? '')?.[1]
    expect(['input', 'step/double#1', 'signal/1', 'output'].map(keyOf)).toEqual(['a', 'a', 'b', 'b'])
    const late = await with_(onlyB)
    expect(await late.body(job.id, 'output')).toBe(42)
    await expect(late.body(job.id, 'input')).rejects.toThrow(/input of job .* written with key a/)
  })

  it('a repetition is one, also after a change of keys', async () => {
    const [before, after] = [await with_(codecA), await with_(rotated)]
    const keyed = { idempotencyKey: 'k' }
    const first = await before.enqueue(reads, { n: 7 }, keyed)
    for (const again of [before, after])
      expect(await again.enqueue(reads, { n: 7 }, keyed)).toMatchObject({ id: first.id, replayed: true })
    for (const again of [before, after])
      await expect(again.enqueue(reads, { n: 8 }, keyed)).rejects.toMatchObject({ code: 'KEY_REUSED' })
    const named = await before.enqueue(reads, { n: 7 }, { id: 'mine' })
    expect(await after.enqueue(reads, { n: 7 }, { id: 'mine' })).toMatchObject({ id: named.id, replayed: true })
    await expect(after.enqueue(reads, { n: 8 }, { id: 'mine' })).rejects.toMatchObject({ code: 'ID_TAKEN' })
    const each = (_: unknown, i: number) => ({ idempotencyKey: `m${i}` })
    const many = await before.enqueueMany(reads, [{ n: 1 }, { n: 2 }], { atomic: true, each })
    const more = await after.enqueueMany(reads, [{ n: 1 }, { n: 2 }, { n: 3 }], { atomic: true, each })
    expect(more.map(({ id, replayed }) => [id, replayed])).toEqual([
      [many[0]?.id, true],
      [many[1]?.id, true],
      [expect.any(String), false],
    ])
    const torn = after.enqueueMany(reads, [{ n: 1 }, { n: 9 }, { n: 4 }], {
      atomic: true,
      each: (_, i) => each(_, i * 3),
    })
    expect((await torn).map(({ replayed }) => replayed)).toEqual([true, false, false])
    await expect(after.enqueueMany(reads, [{ n: 1 }, { n: 9 }], { atomic: true, each })).rejects.toMatchObject({
      refused: [{ index: 1 }],
    })

    const said = await before.signal(first.id, 'go', { pin: 1 }, { requestId: 'once' })
    for (const again of [before, after])
      expect(await again.signal(first.id, 'go', { pin: 1 }, { requestId: 'once' })).toMatchObject({
        rev: said.rev,
        replayed: true,
      })
    for (const again of [before, after])
      await expect(again.signal(first.id, 'go', { pin: 2 }, { requestId: 'once' })).rejects.toMatchObject({
        code: 'REQUEST_ID_REUSED',
      })
    const cancelled = await before.cancel(first.id, { reason: 'enough', requestId: 'stop' })
    expect(await after.cancel(first.id, { reason: 'enough', requestId: 'stop' })).toMatchObject({
      rev: cancelled.rev,
      replayed: true,
    })
  })

  it('a text that was copied is read by no other type, whatever its job says of its parents', async () => {
    const pawl = await with_(codecA)
    const stranger = where === 'at home' ? served : await open(gateway.url, { log: 'silent' })
    if (stranger !== served) opened.push(stranger)
    const victim = await pawl.enqueue(reads, { n: 1 }, { delay: '1h' })
    const [found] = (await stranger.engine.load([{ id: victim.id, bodies: ['input'] }])).items
    const input = String(found?.bodies['input'])
    const kind = { ...(found?.job.spec.kind ?? kindOf()), type: 'leaks' }
    const asked = { actor: 'mallory', kind, priority: 5, input }
    const leaked: unknown[] = []
    const leaks = defineJob({
      type: 'leaks',
      retry: { attempts: 1 },
      run: (stolen: unknown) => void leaked.push(stolen),
    })
    await using _worker = pawl.work([leaks])
    for (const parentId of [undefined, victim.id]) {
      const [answer] = await stranger.engine.enqueue([{ ...asked, parentId }])
      const id = answer?.ok === true ? answer.job.id : ''
      await expect(pawl.result(id, { timeout: '20s' })).rejects.toThrow(/cannot be read with key a/)
    }
    expect(leaked).toEqual([])
  })

  it('words that make no sense are refused as ever, one by one', async () => {
    const pawl = await with_(codecA)
    const { id } = await pawl.enqueue(reads, { n: 1 }, { delay: '1h' })
    const asked = { actor: 'a', type: 'cancel', mode: 'soft' } as const
    const answers = await pawl.engine.settle([
      { id, command: { ...asked, requestId: '1', reason: 12 as never } },
      { id, command: { ...asked, requestId: '2', reason: 'x'.repeat(2_001) } },
      { id: 'pj_zz', command: { ...asked, requestId: '3', reason: 'whose?' } },
      { id, command: { actor: 'a', type: 'reopen', requestId: '4', reason: 'not yet' } },
      { id, command: { ...asked, requestId: '5', reason: 'enough' } },
    ])
    expect(answers.map((answer) => (answer.ok ? answer.state : answer.refusal.code))).toEqual([
      'INVALID',
      'INVALID',
      'NOT_FOUND',
      'ILLEGAL_TRANSITION',
      'cancelled',
    ])
  })

  it('what is too long for a record is cut there, and whole in its body', async () => {
    const pawl = await with_(codecA)
    const [message, context] = ['m'.repeat(2_000), { long: 'c'.repeat(512), other: 'd' }]
    const fails = defineJob({
      type: 'fails',
      retry: { attempts: 1 },
      run(_: undefined, ctx) {
        ctx.progress({ done: 1, message: 'ü'.repeat(500) })
        throw new TransientError(message, { context })
      },
    })
    const job = await pawl.enqueue(fails, undefined)
    await using _worker = pawl.work([fails])
    await expect(job.result({ timeout: '20s' })).rejects.toThrow(/m{1000,1999}…$/)
    expect(await pawl.body(job.id, 'error/1')).toMatchObject({ message, context })
    expect((await job.job())?.progress?.message).toMatch(/^ü{100,300}…$/)
  })

  it('a retry that is a new job finds its input, and so does the one after it', async () => {
    const pawl = await with_(codecA)
    const retried = defineJob({
      type: 'retried',
      dialect: '002',
      retry: { base: 1, max: 1, attempts: 3 },
      run(input: { n: number }, ctx) {
        if (ctx.job.failures < 2) throw new TransientError('not yet')
        return input.n
      },
    })
    const first = await pawl.enqueue(retried, { n: 7 })
    await using _worker = pawl.work([retried])
    const last = await eventually('the third of them', async () => {
      for (const { id } of (await pawl.find({ types: ['retried'], states: ['pending'] })).jobs) await pawl.admit(id)
      const { jobs } = await pawl.find({ types: ['retried'], states: ['succeeded'] })
      return jobs[0]
    })
    expect(last.id).not.toBe(first.id)
    expect(await pawl.body(last.id, 'output')).toBe(7)
    expect(await pawl.body(last.id, 'input')).toEqual({ n: 7 })
  })
})

describe('whoever owns the store', () => {
  const asks = defineJob({
    type: 'asks',
    retry: { attempts: 1 },
    async run(_: undefined, ctx) {
      const one = await ctx.step('one', () => 1)
      const two = await ctx.step('two', () => 2)
      const approved = await ctx.waitFor('approved', { key: 'order-1' })
      return { one, two, approved: approved.payload, kept: await ctx.checkpoint() }
    },
  })

  /** A job that waits, its texts exchanged by `tamper`, and then woken. */
  async function tampered(tamper: (bodies: Record<string, string>) => Record<string, string>) {
    const store = openMemoryStore({ clock: realClock })
    const swapped: Store = {
      ...new Between().wrap(store),
      load: async (items) => {
        const answer = await store.load(items)
        return { ...answer, items: answer.items.map((each) => each && { ...each, bodies: tamper({ ...each.bodies }) }) }
      },
    }
    await using pawl = openOn(swapped, { codec: codecA, log: 'silent' })
    await using _worker = pawl.work([asks])
    const job = await pawl.enqueue(asks, undefined)
    await job.signal('comment', { by: 'mallory' }, { key: 'order-1' })
    await job.signal('approved', { by: 'bob' }, { key: 'order-2' })
    await eventually('it waits', async () => (await job.job())?.wait !== undefined)
    await job.signal('approved', { by: 'ann' }, { key: 'order-1' })
    return await job.result({ timeout: '20s' }).then(
      (result) => JSON.stringify(result),
      (error: unknown) => String(error),
    )
  }
  const swap = (a: string, b: string) => (bodies: Record<string, string>) => {
    const [one, other] = [bodies[a], bodies[b]]
    return one === undefined || other === undefined ? bodies : { ...bodies, [a]: other, [b]: one }
  }

  it('can leave texts where they are', async () => {
    expect(await tampered((bodies) => bodies)).toContain('"approved":{"by":"ann"}')
  })

  it.each([
    ['one step for another', swap('step/one#1', 'step/two#1')],
    ['another signal for the one that was waited for', swap('signal/1', 'signal/3')],
    ['one of the same name for another key', swap('signal/2', 'signal/3')],
    ['a wait’s end for a step', swap('step/one#1', 'step/approved#1')],
  ])('cannot pass off %s', async (_, tamper) => {
    expect(await tampered(tamper)).toMatch(/cannot be read with key a|store has been altered|Undecipherable|was a wait/)
  })

  it('cannot pass off the clear text of a wait’s end as anything but that', async () => {
    const done = await tampered((bodies) => ('output' in bodies ? { ...bodies, output: '{"timedOut":true}' } : bodies))
    expect(done).toMatch(/output of job .* is not encrypted/)
  })
})

it('takes words from before encryption for what they are, whatever they begin with', async () => {
  const words = 'sealed envelopes are out of stock'
  const store = openMemoryStore({ clock: realClock })
  const failing = defineJob({ type: 'failing', retry: { attempts: 1 }, run: () => Promise.reject(new Error(words)) })
  await using before = openOn(store)
  await using _worker = before.work([failing])
  const { id, result } = await before.enqueue(failing).then((job) => ({ id: job.id, result: job.result() }))
  await expect(result).rejects.toThrow(words)
  await using now = openOn(store, { codec: aesGcm({ keys: { a: KEY_A }, current: 'a', clear: 'accept' }) })
  expect((await now.find()).jobs.map(({ error }) => error?.message)).toEqual([words])
  expect((await now.get(id))?.error?.message).toBe(words)
})

it('knows a repetition although a key from before cannot write any more', async () => {
  const store = openMemoryStore({ clock: realClock })
  const waiting = defineJob({ type: 'waiting', run: (_: undefined, ctx) => ctx.waitFor('approved') })
  const broken: BodyCodec = {
    ...rotated,
    formerly: [
      {
        encode: () => {
          throw Object.create(null)
        },
      },
      ...(rotated.formerly ?? []),
    ],
  }
  await using first = openOn(store, { codec: codecA })
  const { id } = await first.enqueue(waiting)
  await first.signal(id, 'approved', 'yes', { requestId: 'once' })
  await using second = openOn(store, { codec: broken })
  expect(await second.signal(id, 'approved', 'yes', { requestId: 'once' })).toMatchObject({ ok: true })
})
