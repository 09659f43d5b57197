import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { defineJob, defineSpec } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { openAt, PLACES } from './opened.ts'

const mail = defineSpec({ type: 'mail' })

describe('a job enqueued in the caller’s own transaction', () => {
  async function openFixture() {
    const place = await PLACES.postgres()
    const pawl = await openAt(place)
    const client = new pg.Client({ connectionString: place.url })
    await client.connect()
    await client.query('create table orders (id int primary key)')
    return {
      pawl,
      client,
      url: place.url,
      [Symbol.asyncDispose]: async () => {
        await client.end()
        await pawl.close()
        await place[Symbol.asyncDispose]()
      },
    }
  }

  it('is there when the transaction is committed, and not before', async () => {
    await using fixture = await openFixture()
    const { pawl, client } = fixture
    await client.query('begin')
    await client.query('insert into orders values (1)')
    const job = await pawl.enqueue(mail, { order: 1 }, { tx: client })
    const many = await pawl.enqueueMany(mail, [{ order: 1 }, { order: 1 }], { tx: client })
    expect(await pawl.get(job.id)).toBeUndefined()
    await client.query('commit')
    expect(await pawl.get(job.id)).toMatchObject({ state: 'queued' })
    expect(await pawl.body(job.id, 'input')).toEqual({ order: 1 })
    for (const { id } of many) expect(await pawl.get(id)).toMatchObject({ state: 'queued' })
    expect((await pawl.verify()).discrepancies).toEqual([])
  })

  it('never was when the transaction is rolled back, and its key is free', async () => {
    await using fixture = await openFixture()
    const { pawl, client } = fixture
    await client.query('begin')
    const job = await pawl.enqueue(mail, { order: 1 }, { tx: client, dedupeKey: 'order-1', id: 'mail-1' })
    await client.query('rollback')
    expect(await pawl.get(job.id)).toBeUndefined()
    expect(await pawl.get('mail-1')).toBeUndefined()
    const again = await pawl.enqueue(mail, { order: 1 }, { dedupeKey: 'order-1', id: 'mail-1' })
    expect(again).toMatchObject({ deduped: false, replayed: false })
    expect((await pawl.verify()).discrepancies).toEqual([])
  })

  it('waits for a key that another transaction has taken, and follows what becomes of it', async () => {
    await using fixture = await openFixture()
    const { pawl, client } = fixture
    const other = new pg.Client({ connectionString: fixture.url })
    await other.connect()
    for (const end of ['commit', 'rollback']) {
      const key = { dedupeKey: `until ${end}` }
      await other.query('begin')
      const first = await pawl.enqueue(mail, { order: 1 }, { tx: other, ...key })
      await client.query('begin')
      const waiting = pawl.enqueue(mail, { order: 2 }, { tx: client, ...key })
      await eventually('it to wait', async () => {
        const { rows } = await other.query('select from pg_locks where not granted')
        return rows.length > 0
      })
      await other.query(end)
      const second = await waiting
      await client.query('commit')
      expect([second.deduped, second.id === first.id]).toEqual(end === 'commit' ? [true, true] : [false, false])
    }
    await other.end()
    expect((await pawl.verify()).discrepancies).toEqual([])
  })

  it('is refused in words where that transaction does not end, and the caller’s own goes on', async () => {
    await using fixture = await openFixture()
    const { pawl, client } = fixture
    const other = new pg.Client({ connectionString: fixture.url })
    await other.connect()
    await other.query('begin')
    await pawl.enqueue(mail, { order: 1 }, { tx: other, dedupeKey: 'held', id: 'mine' })
    await client.query('begin')
    await client.query(`set local lock_timeout = '200ms'`)
    await client.query('insert into orders values (7)')
    const words = { code: 'KEY_BUSY', message: expect.stringContaining('held is held by a transaction') }
    await expect(pawl.enqueue(mail, { order: 2 }, { tx: client, dedupeKey: 'held' })).rejects.toMatchObject(words)
    await expect(pawl.enqueue(mail, { order: 2 }, { tx: client, id: 'mine' })).rejects.toMatchObject({
      code: 'KEY_BUSY',
    })
    expect((await client.query('show lock_timeout')).rows).toEqual([{ lock_timeout: '200ms' }])
    const free = await pawl.enqueue(mail, { order: 3 }, { tx: client, dedupeKey: 'free' })
    await client.query('commit')
    expect(await pawl.get(free.id)).toMatchObject({ state: 'queued' })
    expect((await client.query('select id from orders')).rows).toEqual([{ id: 7 }])
    await other.query('rollback')
    await other.end()
    expect((await pawl.verify()).discrepancies).toEqual([])
  })

  it('is refused so with all that were to come with it, in a transaction and without', async () => {
    await using fixture = await openFixture()
    const { pawl, client } = fixture
    const other = new pg.Client({ connectionString: fixture.url })
    await other.connect()
    await other.query('begin')
    await pawl.enqueue(mail, { order: 1 }, { tx: other, dedupeKey: 'held' })
    const each = (_: unknown, i: number) => (i === 1 ? { dedupeKey: 'held' } : {})
    await client.query('begin')
    await client.query(`set local lock_timeout = '200ms'`)
    for (const tx of [client, undefined]) {
      const outcomes = await pawl.enqueueEach(mail, [{ order: 2 }, { order: 3 }, { order: 4 }], {
        tx,
        atomic: true,
        each,
      })
      expect(outcomes.map((outcome) => !outcome.ok && outcome.error)).toMatchObject([
        { code: 'OTHERS_REFUSED' },
        { code: 'KEY_BUSY' },
        { code: 'OTHERS_REFUSED' },
      ])
    }
    expect((await client.query('show lock_timeout')).rows).toEqual([{ lock_timeout: '200ms' }])
    await client.query('commit')
    await other.query('rollback')
    await other.end()
    expect((await pawl.find()).jobs).toEqual([])
    expect(await pawl.enqueueMany(mail, [{ order: 2 }, { order: 3 }], { atomic: true, each })).toHaveLength(2)
  })

  it('is run after the commit, by a worker that hardly ever looks, woken or not', async () => {
    await using fixture = await openFixture()
    const { pawl, client } = fixture
    const send = defineJob({ type: 'send', run: ({ to }: { to: string }) => `sent to ${to}` })
    await using worker = pawl.work([send], { poll: '1h' })
    for (const woken of [true, false]) {
      await client.query('begin')
      const job = await pawl.enqueue(send, { to: 'ann' }, { tx: client })
      await client.query('commit')
      if (woken) await pawl.wake('default')
      expect(await job.result({ timeout: '20s' })).toBe('sent to ann')
    }
    expect(worker.running).toBe(0)
  })
})

describe('effects and completion in one transaction', () => {
  it('are both there or neither', async () => {
    await using place = await PLACES.postgres()
    await using pawl = await openAt(place)
    const client = new pg.Client({ connectionString: place.url })
    await client.connect()
    await client.query('create table paid (n int)')
    let runs = 0
    const pay = defineJob({
      type: 'pay',
      retry: { base: 1, jitter: 'none' },
      run: (input: { n: number }, ctx) =>
        ctx.tx(async (tx) => {
          runs += 1
          await tx.query('insert into paid values ($1)', [input.n])
          if (runs === 1) throw new Error('the bank is closed')
          return 'paid'
        }),
    })
    await using worker = pawl.work([pay])
    const job = await pawl.enqueue(pay, { n: 7 })
    expect(await job.result({ timeout: '20s' })).toBe('paid')
    expect((await client.query('select n from paid')).rows).toEqual([{ n: 7 }])
    expect(runs).toBe(2)
    expect((await pawl.verify()).discrepancies).toEqual([])
    expect(worker.held).toBe(0)
    await client.end()
  })

  it.each(['this process', 'another'])(
    'are there although %s renewed the lease after the view was taken',
    async (who) => {
      await using place = await PLACES.postgres()
      await using pawl = await openAt(place)
      await using other = await openAt(place)
      let runs = 0
      const careful = defineJob({
        type: 'careful',
        run: (_: unknown, ctx) =>
          ctx.tx(async (tx) => {
            runs += 1
            if (runs === 1) ctx.count('tries')
            await tx.query('set transaction isolation level serializable', [])
            await tx.query('select 1', [])
            const { engine } = who === 'another' ? other : pawl
            const beat = { id: ctx.job.id, fence: ctx.fence, requestId: `beat ${runs}` }
            if (runs === 1) expect(await engine.heartbeat([beat])).toMatchObject([{ ok: true }])
            return 'done'
          }),
      })
      await using _worker = pawl.work([careful])
      const job = await pawl.enqueue(careful, 1)
      expect(await job.result({ timeout: '60s' })).toBe('done')
      // Twice; or once more where the word about its counter was written during the second.
      expect([2, 3]).toContain(runs)
      expect(await job.job()).toMatchObject({ attempt: 1, failures: 0, counters: { tries: 1 } })
    },
  )

  it('are neither where the database never lets them through, and the failure says why', async () => {
    await using place = await PLACES.postgres()
    await using pawl = await openAt(place)
    let runs = 0
    const unlucky = defineJob({
      type: 'unlucky',
      retry: { attempts: 1 },
      run: (_: unknown, ctx) =>
        ctx.tx(async (tx) => {
          runs += 1
          await tx.query('set transaction isolation level repeatable read', [])
          await tx.query('select 1', [])
          await pawl.engine.heartbeat([{ id: ctx.job.id, fence: ctx.fence, requestId: `beat ${runs}` }])
          return 'done'
        }),
    })
    await using _worker = pawl.work([unlucky])
    const job = await pawl.enqueue(unlucky, 1)
    await expect(job.result({ timeout: '60s' })).rejects.toThrow()
    expect(await job.job()).toMatchObject({ error: { code: '40001', message: expect.stringContaining('run again') } })
  })
})
