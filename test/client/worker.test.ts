/** The worker runtime and the facade, unchanged, behind HTTP: the same handlers leave the same histories. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Gateway, startGateway } from '../../src/gateway/serve.ts'
import { defineJob, open, type Pawl } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'

const retry = { attempts: 3, base: 1, max: 1 } as const

/** Everything a handler can do; `undone` is what compensation saw. */
const definitions = (undone: string[]) => {
  const waits = defineJob({
    type: 'waits',
    retry,
    run: async (input: { n: number }, ctx) => {
      const doubled = await ctx.step('double', () => input.n * 2)
      ctx.progress({ done: 1, total: 2, message: 'half' })
      ctx.count('seen')
      await ctx.checkpoint({ at: 'half', updatedAt: '2020-01-01T00:00:00Z' })
      const { payload } = await ctx.waitFor<{ ok: boolean }>('approved', { timeout: '1m' })
      await ctx.artifact('report', 's3://bucket/report')
      return { doubled, payload, kept: await ctx.checkpoint() }
    },
  })
  const retries = defineJob({
    type: 'retries',
    retry,
    run: (_: undefined, ctx) => {
      if (ctx.attempt < 3) throw new Error(`attempt ${ctx.attempt}`)
      return ctx.attempt
    },
  })
  const compensates = defineJob({
    type: 'compensates',
    retry: { attempts: 1 },
    run: async (_: undefined, ctx) => {
      const compensate = (what: string) => void undone.push(what)
      await ctx.step('book', () => 'room', { compensate })
      await ctx.step('pay', () => 'money', { compensate })
      throw new Error('no')
    },
  })
  const obeys = defineJob({
    type: 'obeys',
    run: (_: undefined, ctx) =>
      new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))),
  })
  const cancels = defineJob({ type: 'cancels', run: (_: undefined, ctx) => ctx.cancel('not wanted') })
  const aside = defineJob({ type: 'aside', run: (_: undefined, ctx) => ctx.deadLetter('policy_violation', 'no') })
  const sleeps = defineJob({
    type: 'sleeps',
    run: async (_: undefined, ctx) => {
      await ctx.sleep(20)
      return 'rested'
    },
  })
  return { waits, retries, compensates, obeys, cancels, aside, sleeps }
}

const SPOKEN = new Set(['heartbeat', 'progressed'])

/** What every job's history says, as far as it is not a matter of time. */
async function story(producer: Pawl, worker: Pawl): Promise<Record<string, unknown>> {
  const undone: string[] = []
  const { waits, retries, compensates, obeys, cancels, aside, sleeps } = definitions(undone)
  await using _working = worker.work([waits, retries, compensates, obeys, cancels, aside, sleeps])
  const waiting = await producer.enqueue(waits, { n: 21 }, { labels: { at: 'home', updatedAt: 'never' } })
  const others = [
    await producer.enqueue(retries),
    await producer.enqueue(compensates),
    await producer.enqueue(cancels),
    await producer.enqueue(aside),
    await producer.enqueue(sleeps),
  ]
  const obedient = await producer.enqueue(obeys)
  await eventually('it runs', async () => (await obedient.job())?.state === 'running')
  await obedient.cancel({ reason: 'enough' })
  await eventually('it waits', async () => ['waiting', 'parked'].includes((await waiting.job())?.state ?? ''))
  await waiting.signal('approved', { ok: true })
  const told: Record<string, unknown> = { undone }
  for (const handle of [waiting, obedient, ...others]) {
    const result = await handle.result({ timeout: '30s' }).catch((error: Error) => error.name)
    const job = await handle.job()
    const events = (await handle.events()).filter(({ type }) => !SPOKEN.has(type))
    told[job?.spec.kind.type ?? ''] = {
      result,
      state: job?.state,
      attempt: job?.attempt,
      labels: job?.spec.labels,
      counters: job?.counters,
      artifacts: job?.artifacts,
      error: job?.error?.message,
      events: events.map(({ type, from, to }) => [type, from, to]),
    }
  }
  return told
}

describe('behind HTTP', () => {
  it('handlers leave the histories that they leave at home, each with a token that may no more than it must', async () => {
    await using at = await open('memory:', { log: 'silent' })
    const home = await story(at, at)

    await using served = await open('memory:', { log: 'silent' })
    await using gateway = await startGateway({ engine: served.engine, port: 0 })
    const token = async (scope: 'producer' | 'worker') =>
      (await gateway.tokens.create({ name: scope, scope, tenant: 'default', queues: undefined })).secret
    await using producer = await open(gateway.url, { token: await token('producer'), log: 'silent' })
    await using worker = await open(gateway.url, { token: await token('worker'), log: 'silent' })
    expect(await story(producer, worker)).toEqual(home)
    expect(home['undone']).toEqual(['money', 'room'])
    expect((await served.verify()).discrepancies).toEqual([])
  }, 60_000)

  it('nothing is lost and nothing done twice when the gateway dies and comes back', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-restart-'))
    const path = join(folder, 'jobs.db')
    const effects: number[] = []
    let letGo = () => {}
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    const adds = defineJob({
      type: 'adds',
      retry: { attempts: 1, stalls: 0 },
      run: async (input: { n: number }, ctx) => {
        await ctx.step('effect', () => void effects.push(input.n))
        await held
        return input.n
      },
    })
    let served = await open(path, { log: 'silent' })
    let gateway: Gateway | undefined
    try {
      gateway = await startGateway({ engine: served.engine, port: 0, auth: false })
      const port = Number(new URL(gateway.url).port)
      await using remote = await open(gateway.url, { log: 'silent' })
      await using _working = remote.work([adds], { concurrency: 4 })
      const jobs = await remote.enqueueMany(
        adds,
        [1, 2, 3, 4, 5, 6, 7, 8].map((n) => ({ n })),
      )
      await eventually('four run', () => effects.length === 4)

      await gateway[Symbol.asyncDispose]()
      await served.close()
      letGo()
      const late = remote.enqueue(adds, { n: 9 })
      served = await open(path, { log: 'silent' })
      gateway = await startGateway({ engine: served.engine, port, auth: false })

      const results = await Promise.all([...jobs, await late].map((job) => job.result({ timeout: '30s' })))
      expect(results).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
      expect([...effects].sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
      const { jobs: all } = await served.find({ limit: 100 })
      expect(all.map(({ state, attempt }) => [state, attempt])).toEqual(all.map(() => ['succeeded', 1]))
      expect(all).toHaveLength(9)
      expect((await served.verify()).discrepancies).toEqual([])
    } finally {
      await gateway?.[Symbol.asyncDispose]()
      await served.close()
      rmSync(folder, { recursive: true, force: true })
    }
  }, 60_000)
})
