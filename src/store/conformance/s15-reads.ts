/** S15: reads never load bodies unless asked, and page by key. */
import type { Job, Time } from '../../core/job.ts'
import type { JobQuery } from '../store.ts'
import type { Check } from './conformance.ts'
import { holds, same } from './holds.ts'
import type { JobOptions, StoreFixture } from './store-fixture.ts'

export const reads: readonly Check[] = [
  {
    name: 'load answers in the order asked, undefined for what is not there, and by alias',
    async run(fixture) {
      const [a, b] = await fixture.insert({ alias: 'a', input: '1' }, {})
      const { tenant } = fixture
      const { items } = await fixture.store.load([
        { id: b?.id ?? '' },
        { id: fixture.id() },
        { id: 'a', tenant },
        { id: 'a' },
        { id: 'b', tenant },
        { id: a?.id ?? '', tenant },
        { id: a?.id ?? '', tenant: 'another' },
        { id: b?.id ?? '' },
      ])
      const ids = [b?.id, undefined, a?.id, undefined, undefined, a?.id, undefined, b?.id]
      same(
        items.map((item) => item?.job.id),
        ids,
        'each in its place',
      )
      for (const item of items) if (item !== undefined) same(item.bodies, {}, 'no body unless asked for')
      same((await fixture.store.load([])).items, [], 'nothing in, nothing out')
    },
  },
  {
    name: 'find filters by each head',
    async run(fixture) {
      const t = fixture.begin - 50_000
      const all: readonly JobOptions[] = [
        { at: t, queue: 'a', type: 'x', labels: { team: 'red', site: 'one' }, workflowId: 'wf' },
        { at: t + 10, queue: 'b', type: 'x', labels: { team: 'red' }, dedupeKey: 'd' },
        { at: t + 20, queue: 'b', type: 'y', correlationId: `${fixture.tenant}/c` },
        { at: t + 30, queue: 'c', type: 'z', policy: { maxAttempts: 1 } },
      ]
      const [a, b, c, d] = (await fixture.insert(...all)) as readonly [Job, Job, Job, Job]
      await fixture.insertOne({ tenant: `${fixture.tenant}-other`, queue: 'a', type: 'x', at: t })
      const child = await fixture.insertOne({ parentId: a.id, at: t + 40 })
      await fixture.say(b, { type: 'cancel', mode: 'hard' }, t + 100)
      const claimed = await fixture.say(d, { type: 'claim', workerId: 'w', nonce: '00000000000000aa' }, t + 100)
      const fence = claimed.lease?.fence ?? ''
      await fixture.say(claimed, { type: 'fail', fence, fault: { code: 'E_FIND', message: 'm' } }, t + 200)
      const cases: readonly [string, Partial<JobQuery>, readonly Job[]][] = [
        ['all of a tenant', {}, [a, b, c, d, child]],
        ['states', { states: ['cancelled', 'dead_lettered'] }, [b, d]],
        ['queues', { queues: ['a', 'c'] }, [a, d]],
        ['types', { types: ['x'] }, [a, b]],
        ['a label', { labels: { team: 'red' } }, [a, b]],
        ['two labels', { labels: { team: 'red', site: 'one' } }, [a]],
        ['a label nobody has', { labels: { toString: 'x' } }, []],
        ['correlation', { correlationId: `${fixture.tenant}/c` }, [c]],
        ['workflow', { workflowId: 'wf' }, [a]],
        ['parent', { parentId: a.id }, [child]],
        ['dedupe key', { dedupeKey: 'd' }, [b]],
        ['code of the last error', { code: 'E_FIND' }, [d]],
        ['time of creation, half open', { createdFrom: t + 10, createdTo: t + 30 }, [b, c]],
        ['time of the end', { endedBefore: t + 200 }, [b]],
        ['several at once', { queues: ['b'], types: ['y'], states: ['queued'] }, [c]],
        ['nothing', { queues: ['b'], types: ['z'] }, []],
      ]
      for (const [what, query, jobs] of cases) {
        const oldest = await found(fixture, { ...query, order: 'oldest', limit: 2 })
        same(
          oldest,
          jobs.map(({ id }) => id),
          `by ${what}, oldest first`,
        )
        const newest = await found(fixture, { ...query, order: 'newest', limit: 2 })
        same(newest, oldest.toReversed(), `by ${what}, newest first`)
      }
    },
  },
  {
    name: 'a word in two tenants is two words',
    async run(fixture) {
      const parent = await fixture.insertOne()
      const words = { labels: { a: 'b' }, workflowId: 'w', dedupeKey: 'd', parentId: parent.id, correlationId: 'c' }
      const [mine, theirs] = [`${fixture.tenant}-1`, `${fixture.tenant}-2`]
      const a = await fixture.insertOne({ ...words, tenant: mine })
      const b = await fixture.insertOne({ ...words, tenant: theirs })
      const queries: readonly Partial<JobQuery>[] = [
        { labels: words.labels },
        { workflowId: 'w' },
        { dedupeKey: 'd' },
        { parentId: parent.id },
        { correlationId: 'c' },
      ]
      for (const query of queries) {
        const found = async (tenant: string | undefined) =>
          (await fixture.store.find({ ...query, tenant, order: 'newest', limit: 100 })).jobs.map(({ id }) => id)
        same(await found(mine), [a.id], 'one tenant’s')
        same(await found(theirs), [b.id], 'the other’s')
        same(await found(`${fixture.tenant}-3`), [], 'a third one’s')
        const both = (await found(undefined)).filter((id) => id === a.id || id === b.id)
        same(both, [b.id, a.id], 'everybody’s')
      }
    },
  },
  {
    name: 'what ended with a long log is found by when it ended, once, and only while it is so',
    async run(fixture) {
      const at = fixture.begin - 50_000
      const long = await talkative(fixture, 30, at)
      const other = await talkative(fixture, 30, at + 1)
      const short = await talkative(fixture, 3, at)
      const ended = await fixture.say(long, { type: 'cancel', mode: 'hard' }, at + 10)
      await fixture.say(short, { type: 'complete', fence: short.lease?.fence ?? '' }, at + 10)
      const found = async (from: Time, to: Time) => {
        const seen = await pages(fixture, { longEnded: { from, to }, order: 'oldest', limit: 1 })
        return seen.filter((id) => id === long.id || id === other.id || id === short.id)
      }
      same(await found(at, at + 11), [long.id], 'neither a short log nor one that goes on')
      same(await found(at, at + 10), [], 'not before its end')
      same(await found(at + 11, at + 100), [], 'nor after it')
      await fixture.say(other, { type: 'complete', fence: other.lease?.fence ?? '' }, at + 20)
      same(await found(at, at + 100), [long.id, other.id], 'in the order of their ends')
      await fixture.say(ended, { type: 'reopen' }, at + 30)
      same(await found(at, at + 100), [other.id], 'what was reopened has not ended')
    },
  },
  {
    name: 'what has ended is found by its state, however much was written about it and its neighbours before',
    async run(fixture) {
      const at = fixture.begin - 50_000
      const ended: string[] = []
      for (const words of [40, 130, 40, 40]) {
        const job = await talkative(fixture, words, at)
        ended.push((await fixture.say(job, { type: 'complete', fence: job.lease?.fence ?? '' }, at + 10)).id)
      }
      for (const limit of [1, 2, 100]) {
        const oldest = await found(fixture, { states: ['succeeded', 'failed'], order: 'oldest', limit })
        same(oldest, ended, `${limit} to a page, oldest first`)
        const newest = await found(fixture, { states: ['succeeded', 'failed'], order: 'newest', limit })
        same(newest, ended.toReversed(), `${limit} to a page, newest first`)
      }
    },
  },
  {
    name: 'counts are told of one tenant, or of all, and of one queue’s name',
    async run(fixture) {
      const theirs = `${fixture.tenant}-other`
      await fixture.insert({ queue: 'a' }, { queue: 'a' }, { queue: 'b', type: 'y' }, { tenant: theirs, queue: 'a' })
      const counted = async (tenant: string | undefined, queue?: string) => {
        const { tally } = await fixture.store.events({ by: 'tally', tenant, queue })
        return tally
          .filter((each) => each.count > 0 && (each.tenant === fixture.tenant || each.tenant === theirs))
          .map(({ tenant: whose, queue, jobType, state, count }) => `${whose} ${queue} ${jobType} ${state} ${count}`)
          .toSorted()
      }
      const mine = [`${fixture.tenant} a suite.job queued 2`, `${fixture.tenant} b y queued 1`]
      const others = [`${theirs} a suite.job queued 1`]
      await fixture.eventually('they are counted', async () => (await counted(undefined)).length === 3)
      same(await counted(fixture.tenant), mine, 'one tenant’s')
      same(await counted(theirs), others, 'the other’s')
      same(await counted(undefined), [...mine, ...others].toSorted(), 'everybody’s')
      same(await counted(fixture.tenant, 'a'), mine.slice(0, 1), 'one tenant’s, of a queue')
      same(await counted(undefined, 'a'), [mine[0] ?? '', ...others].toSorted(), 'everybody’s, of queues of one name')
      same(await counted(undefined, 'nobody’s'), [], 'of a queue that is not there')
    },
  },
  {
    name: 'a read that is asked after a write was answered sees it',
    async run(fixture) {
      for (let round = 0; round < 10; round += 1) {
        const job = await fixture.insertOne({ labels: { round: String(round) } })
        const newest = await fixture.store.find({ tenant: fixture.tenant, order: 'newest', limit: 1 })
        same(newest.jobs, [job], 'a new job')
        const ended = await fixture.say(job, { type: 'cancel', mode: 'hard' })
        const query = { tenant: fixture.tenant, states: ['cancelled'], order: 'newest', limit: 1 } as const
        same((await fixture.store.find(query)).jobs, [ended], 'a change')
        same((await fixture.events(job.id)).at(-1)?.type, 'cancelled', 'what happened')
        await fixture.commit({ kind: 'purge', before: ended })
        same((await fixture.store.find(query)).jobs, [], 'and that it is gone')
      }
    },
  },
  {
    name: 'find gives the records as they are',
    async run(fixture) {
      const job = await fixture.claimed({ input: '1', alias: 'a' })
      const { jobs, now } = await fixture.store.find({ tenant: fixture.tenant, order: 'newest', limit: 10 })
      same(jobs, [job], 'the whole record')
      holds(now >= fixture.begin, 'with the clock')
    },
  },
  {
    name: 'pages go on by key, whatever comes and goes meanwhile',
    async run(fixture) {
      const jobs = await fixture.insert(...Array.from({ length: 30 }, () => ({})))
      const seen: string[] = []
      let cursor: string | undefined
      for (let page = 0; page < 100; page += 1) {
        const answer = await fixture.store.find({ tenant: fixture.tenant, order: 'newest', limit: 4, cursor })
        holds(answer.jobs.length <= 4, 'no page is longer than asked for')
        seen.push(...answer.jobs.map(({ id }) => id))
        cursor = answer.cursor
        if (cursor === undefined) break
        await fixture.insertOne()
        const last = answer.jobs.at(-1)
        if (page !== 2 || last === undefined) continue
        const ended = await fixture.say(last, { type: 'cancel', mode: 'hard' })
        same(
          await fixture.commit({ kind: 'purge', before: ended }),
          [{ status: 'applied' }],
          'the last one shown is purged',
        )
      }
      const ids = jobs.map(({ id }) => id).toReversed()
      same(seen.slice(0, ids.length), ids, 'each that was there is shown once, newest first')
      same(seen.length, ids.length, 'and what came later is not among them')
    },
  },
]

/** Running, with so many words of progress. */
async function talkative(fixture: StoreFixture, words: number, at: Time): Promise<Job> {
  let job = await fixture.insertOne({ at: at - 1 })
  job = await fixture.say(job, { type: 'claim', workerId: 'w', nonce: '00000000000000aa' }, at)
  const fence = job.lease?.fence ?? ''
  job = await fixture.say(job, { type: 'start', fence }, at)
  for (let n = 0; n < words; n += 1) job = await fixture.say(job, { type: 'progress', fence, counters: { n: 1 } }, at)
  return job
}

const found = (fixture: StoreFixture, query: Omit<JobQuery, 'tenant'>): Promise<readonly string[]> =>
  pages(fixture, { ...query, tenant: fixture.tenant })

/** All that is found, page by page. */
async function pages(fixture: StoreFixture, query: JobQuery): Promise<readonly string[]> {
  const ids: string[] = []
  let cursor: string | undefined
  for (let seen = 0; seen < 1_000; seen += 1) {
    const page = await fixture.store.find({ ...query, cursor })
    ids.push(...page.jobs.map(({ id }) => id))
    if (page.cursor === undefined) return ids
    cursor = page.cursor
  }
  throw new Error('a cursor that never ends')
}
