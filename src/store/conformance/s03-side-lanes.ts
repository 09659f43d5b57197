/** S3: jobs that need something stand in side lanes, and are for who serves that. */
import type { Job } from '../../core/job.ts'
import { type Able, type Route, servedWords } from '../../core/needs.ts'
import { type ClaimedJob, type Grant, type Lane, queueKey } from '../store.ts'
import type { Check } from './conformance.ts'
import { holds, same } from './holds.ts'
import type { JobOptions, StoreFixture } from './store-fixture.ts'

export const sideLanes: readonly Check[] = [
  {
    name: 'what its claimer did not know is given to who does, whoever opened the store, and to nobody else',
    async run(fixture) {
      const other = await fixture.another()
      const job = await handedBack(fixture, { type: 'mail' })
      same(job.needs, 'mail', 'it needs somebody who knows its type')
      await fixture.expectRecord(job, 'as it was written')
      for (const serves of [[], ['sms'], ['Mail', 'mail ', '']]) {
        same(idsOf((await fixture.claim({ serves })).jobs), [], `not for who serves ${JSON.stringify(serves)}`)
        same(idsOf((await other.claim(fixture.grant({ serves }))).jobs), [], 'whoever opened the store')
      }
      await fixture.eventually('it is given to who serves it', async () => {
        const { jobs } = await other.claim(fixture.grant({ serves: ['sms', 'mail'] }))
        return jobs[0]?.before.id === job.id
      })
      await fixture.expectFolds(job.id)
    },
  },
  {
    name: 'what needs something from birth stands beside its lane from birth, with a key or without, alone or together',
    async run(fixture) {
      const other = await fixture.another()
      const policy = { dialect: '001', maxStalls: 0 } as const
      const keys = [{ purpose: 'dedupe', key: 'once', until: undefined }] as const
      const [bound, keyed, plain] = await fixture.insert({ type: 'mail', policy }, { type: 'mail', policy, keys }, {})
      const drafts = [fixture.draft({ type: 'mail', policy }), fixture.draft({ type: 'fax', policy, priority: 7 })]
      await fixture.store.insert(drafts, undefined, true)
      const born = [bound, keyed, ...drafts.map(({ job }) => job)].filter((job) => job !== undefined)
      for (const job of born) {
        same(job.needs, job.spec.kind.type, 'it could not be handed back')
        await fixture.expectRecord(job, 'as it was born')
      }
      same(idsOf((await fixture.claim({ serves: [], limit: 9 })).jobs), [plain?.id], 'for who knows none of them')
      const given: string[] = []
      await fixture.eventually('each is given to who serves it', async () => {
        const { jobs } = await other.claim(fixture.grant({ serves: ['mail', 'fax'], limit: 9 }))
        given.push(...idsOf(jobs))
        return given.length === born.length
      })
      same([...given].sort(), born.map(({ id }) => id).sort(), 'each once')
      for (const { id } of born) await fixture.expectFolds(id)
    },
  },
  {
    name: 'who does not say what it serves is given whatever there is',
    async run(fixture) {
      const side = await handedBack(fixture, { type: 'mail' })
      const plain = await fixture.insertOne({ type: 'sms' })
      const { serves: _, ...grant } = fixture.grant()
      same(idsOf((await fixture.store.claim(grant)).jobs), [side.id, plain.id], 'what needs something first')
    },
  },
  {
    name: 'what is routed is given to who is in its pool, can do what it requires and knows its type, and to nobody else',
    async run(fixture) {
      const other = await fixture.another()
      const routed = (pool: string | undefined, capabilities: readonly string[], dialect?: '002') =>
        letInTo(fixture, { pool, capabilities }, dialect)
      const jobs = {
        pool: await routed('code', []),
        able: await routed(undefined, ['gpu']),
        both: await routed('code', ['gpu', 'cuda']),
        bound: await routed('code', ['gpu'], '002'),
      }
      await fixture.expectRecord(jobs.both, 'as it was let in')
      const claims: readonly [Able & { readonly types?: readonly string[] }, readonly Job[]][] = [
        [{ pool: undefined, capabilities: undefined }, []],
        [{ pool: undefined, capabilities: undefined, types: ['mail', 'code', 'gpu', 'pool code', 'pool'] }, []],
        [{ pool: 'chat', capabilities: ['cuda'] }, []],
        [{ pool: 'chat', capabilities: ['gpu'] }, [jobs.able]],
        [{ pool: 'code', capabilities: ['cuda'], types: [] }, [jobs.pool]],
        [{ pool: 'code', capabilities: ['gpu', 'fpga'], types: ['mail'] }, [jobs.bound]],
        [{ pool: 'code', capabilities: ['fpga', 'cuda', 'gpu'] }, [jobs.both]],
      ]
      for (const [{ types, ...able }, expected] of claims) {
        const grant = fixture.grant({ limit: 9, serves: servedWords(types, able) })
        const given: string[] = []
        await fixture.eventually(`${JSON.stringify({ types, ...able })} is given its own`, async () => {
          given.push(...idsOf((await other.claim({ ...grant, requestId: `${grant.requestId}${given.length}` })).jobs))
          return given.length >= expected.length
        })
        same(
          given,
          expected.map(({ id }) => id),
          `for ${JSON.stringify({ types, ...able })}`,
        )
      }
      for (const { id } of Object.values(jobs)) await fixture.expectFolds(id)
    },
  },
  {
    name: 'a claim that waits is answered with what is routed to it, by whoever let it in',
    async run(fixture) {
      const other = await fixture.another()
      const ends = new AbortController()
      const serves = servedWords(['mail'], { pool: 'code', capabilities: ['gpu'] })
      const answer = other.claim(fixture.grant({ serves, waitMs: 30_000, signal: ends.signal }))
      let came = false
      void answer.finally(() => {
        came = true
      })
      await fixture.setup.advance(20)
      const elsewhere = await letInTo(fixture, { pool: 'code', capabilities: ['fpga'] })
      await fixture.setup.advance(20)
      await fixture.expectRecord(elsewhere, 'nobody here can do that')
      holds(!came, 'it goes on waiting')
      const job = await letInTo(fixture, { pool: 'code', capabilities: ['gpu'] })
      await fixture.eventually('it is answered', () => came)
      same(idsOf((await answer).jobs), [job.id], 'with what it can do')
      ends.abort()
    },
  },
  {
    name: 'lanes keep their order with what stands beside them, and each side lane is first in, first out',
    async run(fixture) {
      const late = await handedBack(fixture, { type: 'mail', priority: 7 })
      const first = await handedBack(fixture, { type: 'mail' })
      const second = await handedBack(fixture, { type: 'mail' })
      const plain = await fixture.insertOne({ type: 'mail' })
      const urgent = await fixture.insertOne({ type: 'mail', priority: 0 })
      const order = [urgent, first, second, plain, late].map(({ id }) => id)
      const serves = ['mail']
      same(idsOf((await fixture.claim({ serves, limit: 2 })).jobs), order.slice(0, 2), 'by priority, then by need')
      same(idsOf((await fixture.claim({ serves, limit: 9 })).jobs), order.slice(2), 'and on from there')
    },
  },
  {
    name: 'of several needs none waits for ever behind the others',
    async run(fixture) {
      const types = ['a', 'b', 'c']
      const jobs = new Map<string, string>()
      for (const type of [...types, ...types, ...types, ...types])
        jobs.set((await handedBack(fixture, { type })).id, type)
      const firsts = new Set<string | undefined>()
      for (let n = 0; n < 64 && firsts.size < types.length; n += 1) {
        const { jobs: given } = await fixture.claim({ serves: types, limit: 1 })
        const [claimed] = given as readonly [ClaimedJob]
        firsts.add(jobs.get(claimed.before.id))
        await release(fixture, await fixture.record(claimed.before.id), 'handed_back')
      }
      same(firsts.size, types.length, 'each was the first for some claim')
    },
  },
  {
    name: 'a paused queue gives nothing of what stands beside its lanes, also where that comes while it is paused',
    async run(fixture) {
      const held = await fixture.claimed({ type: 'sms' })
      const before = await handedBack(fixture, { type: 'mail' })
      await pause(fixture, true)
      const after = await release(fixture, held, 'unknown_type')
      const serves = ['mail', 'sms']
      same(idsOf((await fixture.claim({ serves })).jobs), [], 'a pause holds for all of a queue')
      await pause(fixture, false)
      same(
        idsOf((await fixture.claim({ serves })).jobs).toSorted(),
        [before.id, after.id].toSorted(),
        'then all are given',
      )
    },
  },
  {
    name: 'a need is one queue’s and one tenant’s',
    async run(fixture) {
      const job = await handedBack(fixture, { type: 'mail', queue: 'a' })
      const lanes: readonly Lane[] = [
        { tenant: fixture.tenant, queue: 'b', priority: 5 },
        { tenant: `${fixture.tenant}x`, queue: 'a', priority: 5 },
      ]
      same(idsOf((await fixture.claim({ lanes, serves: ['mail'] })).jobs), [], 'not beside the lanes of others')
      same(idsOf((await fixture.claim({ queue: 'a', serves: ['mail'] })).jobs), [job.id], 'beside its own')
    },
  },
  {
    name: 'what it needs stays with a job: when it is rescheduled, fails, is found by its queue, and in the backlog',
    async run(fixture) {
      const job = await handedBack(fixture, { type: 'mail', policy: { maxAttempts: 3 } })
      const moved = await fixture.say(job, { type: 'reschedule', priority: 1 })
      const { jobs: found } = await fixture.store.find({
        tenant: fixture.tenant,
        queues: ['main'],
        order: 'newest',
        limit: 10,
      })
      same(found, [moved], 'it is in its queue')
      const { backlog } = await fixture.store.events({ by: 'backlog', lanes: 10_000 })
      const waiting = backlog.filter(({ tenant }) => tenant === fixture.tenant)
      same(waiting, [{ tenant: fixture.tenant, queue: 'main', since: moved.readyAt ?? 0 }], 'and waits in it')
      const grant: Partial<Grant> = {
        lanes: [{ tenant: fixture.tenant, queue: 'main', priority: 1 }],
        serves: ['mail'],
      }
      same(idsOf((await fixture.claim({ ...grant, serves: [] })).jobs), [], 'still for who serves it')
      same(idsOf((await fixture.claim(grant)).jobs), [job.id], 'in its new lane')
      const owned = await fixture.record(job.id)
      const fault = { code: 'x', message: '', class: 'transient', retryAfterMs: 1 } as const
      const failed = await fixture.say(owned, { type: 'fail', fence: fenceOf(owned), fault }, owned.updatedAt)
      same(failed.needs, 'mail', 'an attempt later')
      await fixture.setup.advance(20)
      same(idsOf((await fixture.claim({ ...grant, serves: [] })).jobs), [], 'for nobody else')
      await fixture.eventually(
        'it is tried again',
        async () => (await fixture.claim(grant)).jobs[0]?.before.id === job.id,
      )
      await fixture.expectFolds(job.id)
    },
  },
  {
    name: 'a claim that waits is answered with what is handed back for it, by whoever, and not with what others need',
    async run(fixture) {
      const other = await fixture.another()
      const wanted = await fixture.claimed({ type: 'mail' })
      const unwanted = await fixture.claimed({ type: 'sms' })
      const ends = new AbortController()
      const answer = other.claim(fixture.grant({ serves: ['mail'], waitMs: 30_000, signal: ends.signal }))
      let came = false
      void answer.finally(() => {
        came = true
      })
      await fixture.setup.advance(20)
      const left = await release(fixture, unwanted, 'unknown_type')
      await fixture.setup.advance(20)
      await fixture.expectRecord(left, 'nobody here serves that')
      holds(!came, 'it goes on waiting')
      await release(fixture, wanted, 'unknown_type')
      await fixture.eventually('it is answered', () => came)
      same(idsOf((await answer).jobs), [wanted.id], 'with what it serves')
      ends.abort()
    },
  },
]

/** A job that somebody claimed who does not know its type. */
async function handedBack(fixture: StoreFixture, options: JobOptions): Promise<Job> {
  const job = await fixture.insertOne(options)
  const { queue = 'main', priority = 5 } = options
  const lanes = [{ tenant: fixture.tenant, queue, priority }]
  const { jobs } = await fixture.claim({ lanes, serves: [] })
  same(idsOf(jobs), [job.id], 'new, it is for whoever claims from its queue')
  return release(fixture, await fixture.record(job.id), 'unknown_type')
}

/** A job that was let in to a pool, or to who can do something. */
async function letInTo(fixture: StoreFixture, route: Route, dialect?: '002'): Promise<Job> {
  const policy =
    dialect === undefined ? { admission: true } : ({ dialect, admission: true, onStall: 'timed_out' } as const)
  const job = await fixture.insertOne({ type: 'mail', policy })
  return fixture.say(job, { type: 'admit', rule: 'r', policyHash: 'h', route }, job.updatedAt)
}

const release = (fixture: StoreFixture, job: Job, reason: 'unknown_type' | 'handed_back'): Promise<Job> =>
  fixture.say(job, { type: 'release', fence: fenceOf(job), reason }, job.updatedAt)

const fenceOf = (job: Job): string => job.lease?.fence ?? ''

const idsOf = (jobs: readonly ClaimedJob[]): readonly string[] => jobs.map(({ before }) => before.id)

async function pause(fixture: StoreFixture, paused: boolean): Promise<void> {
  const put = { op: 'put', collection: 'queue', key: queueKey(fixture.tenant, 'main'), rev: undefined } as const
  const [answer] = await fixture.store.settings([{ ...put, text: JSON.stringify({ paused }) }])
  same(answer?.status, 'ok', 'the queue is paused or resumed')
}
