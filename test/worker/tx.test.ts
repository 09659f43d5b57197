import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { defineJob } from '../../src/library/define-job.ts'
import type { Pawl } from '../../src/library/pawl.ts'
import { open } from '../../src/open.ts'
import type { Context } from '../../src/worker/context.ts'
import { eventually } from '../support/eventually.ts'
import { migratedDatabase } from '../support/migrated-postgres.ts'
import { definition, openWorkerFixture } from './worker-fixture.ts'

interface Bank extends AsyncDisposable {
  readonly pawl: Pawl
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>
}

async function openBank(): Promise<Bank> {
  const database = await migratedDatabase()
  const pawl = await open(database.url, { migrate: true, log: 'silent' })
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query('create table public.effect (n int)')
  return {
    pawl,
    query: async (text, values = []) => (await client.query(text, values)).rows,
    async [Symbol.asyncDispose]() {
      await client.end()
      await pawl.close()
      await database.drop()
    },
  }
}

const quickRetry = { base: 50, factor: 1, max: 50, jitter: 'none' } as const
const count = async (bank: Bank) => (await bank.query('select count(*)::int as n from public.effect'))[0]?.['n']

describe('ctx.tx', () => {
  it('makes effects and completion one commit, retried as one', async () => {
    await using bank = await openBank()
    const pay = defineJob({
      type: 'pay',
      retry: quickRetry,
      run: (_: undefined, ctx) =>
        ctx.tx(async (tx) => {
          await tx.query('insert into public.effect values ($1)', [ctx.attempt])
          if (ctx.attempt < 3) throw new Error('not yet')
          return { paid: ctx.attempt }
        }),
    })
    await using _ = bank.pawl.work([pay], { poll: '50ms' })
    const job = await bank.pawl.enqueue(pay)
    expect(await job.result({ timeout: '20s' })).toEqual({ paid: 3 })
    expect(await bank.query('select n from public.effect')).toEqual([{ n: 3 }])
    expect(await job.job()).toMatchObject({ state: 'succeeded', failures: 2 })
    expect((await bank.pawl.verify()).discrepancies).toEqual([])
  })

  it('rolls back what a fenced-out handler did', async () => {
    await using bank = await openBank()
    const inside = Promise.withResolvers<Context>()
    const goOn = Promise.withResolvers<void>()
    const told = Promise.withResolvers<unknown>()
    const pay = defineJob({
      type: 'pay',
      async run(_: undefined, ctx) {
        const work = ctx.tx(async (tx) => {
          await tx.query('insert into public.effect values (1)', [])
          inside.resolve(ctx)
          await goOn.promise
          return 'paid'
        })
        work.catch(told.resolve)
        return work
      },
    })
    await using _ = bank.pawl.work([pay])
    const job = await bank.pawl.enqueue(pay)
    const ctx = await inside.promise
    await job.cancel({ mode: 'hard' })
    await eventually('the handler to be told', () => ctx.signal.aborted)
    goOn.resolve()
    expect(await told.promise).toMatchObject({ name: 'LeaseConflictError' })
    expect(await count(bank)).toBe(0)
    expect((await job.job())?.state).toBe('cancelled')
  })

  it('locks nothing of pawl before its last statement: the lease is renewed, a cancel arrives', async () => {
    await using bank = await openBank()
    const inside = Promise.withResolvers<number>()
    const pay = defineJob({
      type: 'pay',
      lease: '1s',
      run: (_: undefined, ctx) =>
        ctx.tx(async (tx) => {
          const { rows } = await tx.query('select pg_backend_pid() as pid', [])
          await tx.query('insert into public.effect values (1)', [])
          inside.resolve((rows[0] as { pid: number }).pid)
          await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()))
          throw ctx.signal.reason
        }),
    })
    await using _ = bank.pawl.work([pay])
    const job = await bank.pawl.enqueue(pay)
    const pid = await inside.promise
    const locks = await bank.query(
      `select c.relname from pg_locks l join pg_class c on c.oid = l.relation
       join pg_namespace n on n.oid = c.relnamespace where l.pid = $1 and n.nspname = 'pawl'`,
      [pid],
    )
    expect(locks).toEqual([])
    await eventually('two heartbeats', async () => ((await job.job())?.lease?.beats ?? 0) >= 2)
    await job.cancel()
    await expect(job.result({ timeout: '20s' })).rejects.toMatchObject({ name: 'JobCancelled' })
    expect(await count(bank)).toBe(0)
  })
})

it('says so where the store has no transactions', async () => {
  await using pawl = await open('memory:', { log: 'silent' })
  const pay = defineJob({ type: 'pay', run: (_: undefined, ctx) => ctx.tx(async () => 1) })
  await using _ = pawl.work([pay])
  const job = await pawl.enqueue(pay)
  await expect(job.result({ timeout: '10s' })).rejects.toThrow(/needs a store with transactions/)
})

describe('a transaction that fails', () => {
  const once = { retry: { attempts: 1 } } as const

  it('takes no word back that its handler chose without waiting for it', async () => {
    await using fixture = openWorkerFixture()
    const failed = Promise.withResolvers<never>()
    const careless = definition((_, ctx) => {
      ctx.tx(() => failed.promise).catch(() => {})
      // A word that the store will not have: what follows from that is said in its place.
      ctx.deadLetter('no such reason' as never)
    }, once)
    const settle = fixture.engine.settle.bind(fixture.engine)
    fixture.engine.settle = async (words) => {
      failed.reject(new Error('while the answer is on its way'))
      await fixture.time.sleep(10)
      return settle(words)
    }
    const id = await fixture.enqueue(careless)
    const { worker } = fixture.work([careless], { transaction: (work) => work({ query: async () => ({ rows: [] }) }) })
    await fixture.time.advance(1_000)
    expect(await fixture.load(id)).toMatchObject({ state: 'failed', error: { code: 'INVALID' } })
    expect(worker).toMatchObject({ running: 0, held: 0 })
  })

  it.each(['returned', 'threw'] as const)(
    'leaves the word to a handler that %s while it was committed',
    async (how) => {
      await using fixture = openWorkerFixture()
      const committing = Promise.withResolvers<void>()
      const impatient = definition(async (_, ctx) => {
        ctx.tx(async () => 'paid').catch(() => {})
        await committing.promise
        if (how === 'threw') throw new Error('I cannot wait')
        return 'unpaid'
      }, once)
      const id = await fixture.enqueue(impatient)
      const { worker } = fixture.work([impatient], {
        async transaction(work) {
          // A store without transactions refuses the last word; this one takes its time to say so.
          const refused = await work({ query: async () => ({ rows: [] }) }).catch((error: unknown) => error)
          committing.resolve()
          await fixture.time.sleep(100)
          throw refused
        },
      })
      await fixture.time.advance(1_000)
      const ended =
        how === 'threw' ? { state: 'dead_lettered', error: { message: 'I cannot wait' } } : { state: 'succeeded' }
      expect(await fixture.load(id)).toMatchObject(ended)
      expect(worker).toMatchObject({ running: 0, held: 0 })
    },
  )
})
