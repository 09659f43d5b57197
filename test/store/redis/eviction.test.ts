/** Ended jobs leave a Redis with a ledger, and come back when something is to be done with them. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Job } from '../../../src/core/job.ts'
import { openStoreFixture, type StoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import type { Ledger } from '../../../src/store/ledger/ledger-port.ts'
import { openPostgresLedger } from '../../../src/store/postgres/ledger/postgres-ledger.ts'
import type { Link } from '../../../src/store/redis/connection/link.ts'
import { words } from '../../../src/store/redis/connection/reply.ts'
import { digitsOf } from '../../../src/store/redis/job/id-text.ts'
import { openRedisStore } from '../../../src/store/redis/redis.ts'
import type { Store } from '../../../src/store/store.ts'
import { eventually } from '../../support/eventually.ts'
import { type FreshDatabase, freshDatabase } from '../../support/postgres.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { scaled } from '../../support/scale.ts'
import { describeOnRedis } from '../../support/with-redis.ts'
import { runPrograms } from '../programs/run-programs.ts'
import { ledgerWith } from './ledger-with.ts'
import { rawLink } from './raw.ts'

const NEVER_MS = 2 ** 40

let server: RedisServer
let database: FreshDatabase
let link: Link
/** Its ended jobs leave at once; those of the other stay, as far as it is concerned. */
let leaving: Store
let staying: Store
/** While it says so, the second takes its time between what it has read of a job and what it does with that. */
const held = { is: false, by: 0 }

const fixtureOn = (store: Store): Promise<StoreFixture> =>
  openStoreFixture({ store, advance: (ms) => pause(ms), close: async () => {} }, {})

const keysOf = async ({ id }: Job): Promise<readonly string[]> =>
  words(await link.send(['KEYS', `{pawl:0}:*:${digitsOf(id)}`]))

const left = (job: Job): Promise<unknown> =>
  eventually(`${job.id} has left`, async () => (await keysOf(job)).length === 0)

/** A job that has lived: with bodies of its own, several stretches of its log, marks and keys. */
async function lived(fixture: StoreFixture, queue: string): Promise<Job> {
  const input = JSON.stringify('x'.repeat(2_000))
  let job = await fixture.claimed({ queue, input, labels: { of: queue }, correlationId: `c-${queue}` })
  const fence = job.lease?.fence ?? ''
  job = await fixture.say(job, { type: 'start', fence }, job.updatedAt)
  for (const documents of [1, 2, 3]) job = await fixture.say(job, { type: 'progress', fence, counters: { documents } })
  return fixture.say(job, { type: 'deadLetter', fence, reason: 'policy_violation', stage: 'exec' })
}

/** All that can be asked about a job. */
const seen = async ({ store, tenant }: StoreFixture, { id, spec }: Job) => ({
  loaded: (await store.load([{ id, bodies: ['input', 'output'], log: 100, requestId: 'nobody' }])).items,
  asked: (await store.events({ by: 'job', id, afterRev: 2, limit: 2 })).events,
  log: (await store.events({ by: 'job', id, afterRev: 0, limit: 100 })).events,
  notes: (await store.events({ by: 'annotation', id })).annotations,
  together: (await store.events({ by: 'correlation', correlationId: spec.correlationId, tenant, limit: 100 })).events,
  found: (await store.find({ tenant, queues: [spec.kind.queue], order: 'newest', limit: 10 })).jobs,
  labelled: (await store.find({ tenant, labels: spec.labels, order: 'oldest', limit: 10 })).jobs,
})

const noteOn = (job: Job, command: 'complete' | 'fail') =>
  ({
    kind: 'annotate',
    annotation: {
      jobId: job.id,
      generation: 0,
      attempt: 1,
      command,
      at: 1,
      actor: 'worker:old',
      requestId: `late ${command}`,
      correlationId: job.spec.correlationId,
      outcome: undefined,
    },
  }) as const

describeOnRedis('ended jobs of a Redis with a ledger', () => {
  beforeAll(async () => {
    server = await startRedis(['--appendonly', 'no'])
    database = await freshDatabase()
    link = await rawLink(server)
    const { url } = server
    leaving = await openRedisStore({
      url,
      ledger: await openPostgresLedger({ url: database.url, migrate: true }),
      evictAfterMs: 0,
    })
    const ledger = hesitating(await openPostgresLedger({ url: database.url }), held)
    staying = await openRedisStore({ url, ledger, evictAfterMs: NEVER_MS })
  })

  afterAll(async () => {
    await leaving.close()
    await staying.close()
    await link.close()
    await server.stop()
    await database.drop()
  })

  it('leave it with all that is their own, and are told as before: by id, by what finds them, with log, bodies and notes', async () => {
    const fixture = await fixtureOn(leaving)
    const job = await lived(fixture, 'told')
    expect(await fixture.commit(noteOn(job, 'complete'))).toEqual([{ status: 'applied' }])
    const before = await seen(fixture, job)
    await left(job)
    const after = await seen(fixture, job)
    expect(after).toEqual(before)
    expect(after.notes).toHaveLength(1)
    expect(after.log.length).toBeGreaterThan(5)
    expect(await keysOf(job)).toEqual([])
    // Nor is its id free.
    const { items } = await leaving.insert([fixture.draft({ queue: 'told' }, job.id)])
    expect(items).toMatchObject([{ status: 'exists' }])
    await fixture.expectFolds(job.id)
  })

  it('come back for what is done with them: a word too late, another life, removal', async () => {
    const fixture = await fixtureOn(leaving)
    let job = await lived(fixture, 'back')
    await left(job)
    expect(await fixture.commit(noteOn(job, 'fail'))).toEqual([{ status: 'applied' }])
    await left(job)
    expect((await leaving.events({ by: 'annotation', id: job.id })).annotations).toHaveLength(1)
    job = await fixture.say(job, { type: 'reopen' }, job.updatedAt)
    expect((await keysOf(job)).length).toBeGreaterThan(3)
    const again = await fixture.claim({ queue: 'back', limit: 1 })
    expect(again.jobs.map(({ before }) => before.id)).toEqual([job.id])
    job = await fixture.record(job.id)
    const { fence = '' } = job.lease ?? {}
    job = await fixture.say(job, { type: 'complete', fence }, job.updatedAt)
    await left(job)
    await fixture.expectFolds(job.id)
    expect(await fixture.commit({ kind: 'purge', before: job })).toEqual([{ status: 'applied' }])
    await fixture.expectGone(job.id, 'it was removed')
    expect(await link.send(['SISMEMBER', '{pawl:0}:evicted', digitsOf(job.id)])).toBe(0)
  })

  it('are not brought back as they were before somebody else brought them back, changed them and let them leave again', async () => {
    const [fixture, slow] = [await fixtureOn(leaving), await fixtureOn(staying)]
    let job = await lived(fixture, 'raced')
    await left(job)
    held.by = 0
    held.is = true
    const late = staying.commit([slow.change(job, { type: 'reopen' }, job.updatedAt)])
    await eventually('the slow one has read it', () => held.by > 0)
    job = await fixture.say(job, { type: 'reopen' }, job.updatedAt)
    job = await fixture.say(job, { type: 'cancel', mode: 'hard' }, job.updatedAt)
    await left(job)
    held.is = false
    expect((await late).verdicts).toEqual([{ status: 'conflict' }])
    await fixture.expectRecord(job, 'it is as it was left')
    await fixture.expectFolds(job.id)
  })

  it('are neither loaded into a server that has lost all, nor lost', async () => {
    const fixture = await fixtureOn(leaving)
    const job = await lived(fixture, 'lost')
    const live = await fixture.insertOne({ queue: 'other' })
    await left(job)
    const before = await seen(fixture, job)
    await link.send(['FLUSHALL'])
    expect(await seen(fixture, job)).toEqual(before)
    expect(await keysOf(job)).toEqual([])
    expect((await keysOf(live)).length).toBeGreaterThan(1)
    const reopened = await fixture.say(job, { type: 'reopen' }, job.updatedAt)
    await fixture.expectRecord(reopened, 'it came back')
  })

  it(
    'do so in the middle of any program, and core says what comes of it',
    async () => {
      const before = Number(await link.send(['HGET', '{pawl:0}:meta', 'evicted']))
      await runPrograms({ store: leaving, count: scaled(6, 3_000), seed: 20 })
      expect(Number(await link.send(['HGET', '{pawl:0}:meta', 'evicted']))).toBeGreaterThan(before)
    },
    scaled(120_000, 3_600_000),
  )
})

/** Waits, where it is told to, after it has read pieces of the image. */
const hesitating = (ledger: Ledger, held: { readonly is: boolean; by: number }): Ledger =>
  ledgerWith(ledger, {
    async pieces(keys) {
      const read = await ledger.pieces(keys)
      if (keys.some((key) => key.startsWith('job:'))) held.by += 1
      while (held.is && keys.some((key) => key.startsWith('job:'))) await pause(5)
      return read
    },
  })
