/** S2: insert is all or nothing per item, and every item is answered with a job. */
import type { Inserted, Key } from '../store.ts'
import type { Check } from './conformance.ts'
import { holds, same } from './holds.ts'
import type { StoreFixture } from './store-fixture.ts'

export const insert: readonly Check[] = [
  {
    name: 'a new job is there as it was given, with its input and its event',
    async run(fixture) {
      const labels = { team: 'crawl', site: 'x' }
      const draft = fixture.draft({ input: '{"url":"x"}', labels, alias: 'own-id', dedupeKey: 'd', workflowId: 'wf' })
      const { items, now } = await fixture.store.insert([draft])
      same(items, [{ status: 'inserted' }], 'it is inserted')
      holds(Number.isInteger(now), 'the answer carries the clock')
      same(await fixture.loaded(draft.job.id, ['input']), loaded(draft.job, { input: '{"url":"x"}' }), 'it loads')
      same(await fixture.events(draft.job.id), [draft.event], 'its log is its first event')
    },
  },
  {
    name: 'an empty batch is answered, and a big one in order',
    async run(fixture) {
      same((await fixture.store.insert([])).items, [], 'nothing in, nothing out')
      const drafts = Array.from({ length: 500 }, (_, i) => fixture.draft({ input: `${i}` }))
      const { items } = await fixture.store.insert(drafts)
      holds(items.length === 500 && items.every(({ status }) => status === 'inserted'), 'all 500 are inserted')
      const answer = await fixture.store.load(drafts.map(({ job }) => ({ id: job.id, bodies: ['input'] })))
      same(
        answer.items.map((item) => [item?.job.id, item?.bodies['input']]),
        drafts.map(({ job, input }) => [job.id, input]),
        'each has its own input',
      )
    },
  },
  {
    name: 'who comes second with an id, an alias or a key gets the job that was first, as it is now',
    async run(fixture) {
      const keys = [key('dedupe', 'd'), key('idempotency', 'i'), key('slot', 's')]
      const first = await fixture.insertOne({ alias: 'a', keys, input: '"first"', queue: 'q' })
      await fixture.claim({ queue: 'q' })
      const now = await fixture.record(first.id)
      same(now.state, 'claimed', 'the first job has moved on')
      const seconds = [
        fixture.draft({ input: '"other"' }, first.id),
        fixture.draft({ alias: 'a' }),
        ...keys.map((each) => fixture.draft({ keys: [each], input: '"other"' })),
        fixture.draft({ alias: 'a', input: '"first"' }),
      ]
      const { items } = await fixture.store.insert(seconds)
      const by = ['id', 'alias', 'dedupe', 'idempotency', 'slot']
      same(
        items,
        [...by.map((each) => exists(each, now)), exists('alias', now, true)],
        'each is answered with the first job, and whether that has its input',
      )
      for (const { job } of seconds.slice(1)) await fixture.expectGone(job.id, 'the second job does not exist')
      await fixture.expectRecord(now, 'the first job is untouched')
    },
  },
  {
    name: 'within one batch the first with an id, an alias or a key wins',
    async run(fixture) {
      const one = fixture.draft({ alias: 'a', keys: [key('dedupe', 'd')], input: '1' })
      const batch = [
        one,
        fixture.draft({ input: '2' }, one.job.id),
        fixture.draft({ alias: 'a' }),
        fixture.draft({ keys: [key('dedupe', 'd')] }),
        fixture.draft({ input: '3' }),
      ]
      const { items } = await fixture.store.insert(batch)
      const first = (by: string) => exists(by, one.job)
      const inserted: Inserted = { status: 'inserted' }
      same(items, [inserted, first('id'), first('alias'), first('dedupe'), inserted], 'one winner, one answer each')
    },
  },
  {
    name: 'a job that meets two others is answered with one of them and leaves nothing behind',
    async run(fixture) {
      await fixture.insert({ alias: 'a' }, { keys: [key('dedupe', 'd')] })
      const torn = fixture.draft({ alias: 'a', keys: [key('slot', 'free'), key('dedupe', 'd')] })
      const { items } = await fixture.store.insert([torn])
      same(items[0]?.status, 'exists', 'somebody was first')
      await fixture.expectGone(torn.job.id, 'it does not exist')
      const next = fixture.draft({ keys: [key('slot', 'free')] })
      same((await fixture.store.insert([next])).items, [{ status: 'inserted' }], 'the key it could have had is free')
    },
  },
  {
    name: 'aliases and keys of another tenant are another matter',
    async run(fixture) {
      const options = { alias: 'a', keys: [key('dedupe', 'd')] }
      const other = `${fixture.tenant}-other`
      const [mine, theirs] = await fixture.insert(options, { ...options, tenant: other })
      const { items } = await fixture.store.load([
        { id: 'a', tenant: fixture.tenant },
        { id: 'a', tenant: other },
        { id: mine?.id ?? '', tenant: other },
        { id: 'a', tenant: 'nobody' },
      ])
      same(
        items.map((item) => item?.job.id),
        [mine?.id, theirs?.id, undefined, undefined],
        'each tenant sees its own',
      )
    },
  },
  {
    name: 'of many who insert the same key at once one wins, and all are answered with it',
    async run(fixture) {
      const other = await fixture.another()
      const drafts = Array.from({ length: 24 }, () => fixture.draft({ keys: [key('dedupe', 'race')], alias: 'race' }))
      const answers = await Promise.all(
        drafts.map((draft, i) => (i % 2 === 0 ? fixture.store : other).insert([draft, fixture.draft()])),
      )
      const verdicts = answers.map(({ items }) => items[0] as Inserted)
      const winners = drafts.filter((_, i) => verdicts[i]?.status === 'inserted')
      same(winners.length, 1, 'one wins')
      for (const verdict of verdicts) {
        if (verdict.status !== 'inserted') same(found(verdict), winners[0]?.job.id, 'the others get the winner')
      }
      holds(
        answers.every(({ items }) => items[1]?.status === 'inserted'),
        'their neighbours are inserted',
      )
    },
  },
  {
    name: 'together they are all there, or none is, and each is told what it met',
    async run(fixture) {
      const first = await fixture.insertOne({ alias: 'a', keys: [key('dedupe', 'd')], input: '"first"' })
      const batch = [
        fixture.draft({ input: '1', alias: 'b', keys: [key('dedupe', 'e')], labels: { team: 'x' } }),
        fixture.draft({ alias: 'a' }),
        fixture.draft({ input: '2' }),
        fixture.draft({ keys: [key('dedupe', 'd')] }),
      ] as const
      const inserted: Inserted = { status: 'inserted' }
      const { items } = await fixture.store.insert(batch, undefined, true)
      const held = (by: string) => exists(by, first)
      same(items, [inserted, held('alias'), inserted, held('dedupe')], 'each is told what it met, or would have')
      for (const { job } of batch) await fixture.expectGone(job.id, 'none of them is there')
      same((await fixture.claim({ limit: 10 })).jobs.length, 1, 'nothing of them can be claimed')
      const good = [batch[0], batch[2]]
      same(
        (await fixture.store.insert(good, undefined, true)).items,
        [inserted, inserted],
        'without the others all are',
      )
      for (const { job, input } of good)
        same(await fixture.loaded(job.id, ['input']), loaded(job, { input: input ?? '' }), 'as given')
      same((await fixture.claim({ limit: 10 })).jobs.length, 2, 'and can be claimed')
      same((await fixture.store.insert([], undefined, true)).items, [], 'nothing in, nothing out')
    },
  },
  {
    name: 'together they meet each other, too',
    async run(fixture) {
      const one = fixture.draft({ alias: 'a', keys: [key('dedupe', 'd')], input: '1' })
      const batch = [
        one,
        fixture.draft({ input: '2' }, one.job.id),
        fixture.draft({ alias: 'a' }),
        fixture.draft({ keys: [key('dedupe', 'd')] }),
      ]
      const { items } = await fixture.store.insert(batch, undefined, true)
      const first = (by: string) => exists(by, one.job)
      same(items, [{ status: 'inserted' }, first('id'), first('alias'), first('dedupe')], 'the first would have won')
      for (const { job } of batch) await fixture.expectGone(job.id, 'none of them is there')
      await expectFree(fixture, 'a')
    },
  },
  {
    name: 'of many who insert together at once those that meet leave nothing behind',
    async run(fixture) {
      const other = await fixture.another()
      const pairs = Array.from(
        { length: 12 },
        () => [fixture.draft(), fixture.draft({ keys: [key('dedupe', 'race')] })] as const,
      )
      const answers = await Promise.all(
        pairs.map((pair, i) => (i % 2 === 0 ? fixture.store : other).insert(pair, undefined, true)),
      )
      const won = answers.filter(({ items }) => items.every(({ status }) => status === 'inserted'))
      same(won.length, 1, 'one pair is there')
      const { items } = await fixture.store.load(pairs.flat().map(({ job }) => ({ id: job.id })))
      same(items.filter((item) => item !== undefined).length, 2, 'and nothing else')
    },
  },
  {
    name: 'together in a transaction of the caller they leave it as it was where one of them meets somebody',
    needs: 'transaction',
    async run(fixture) {
      const first = await fixture.insertOne({ alias: 'a' })
      const open = await fixture.transaction()
      const [lone, met, good] = [fixture.draft(), fixture.draft({ alias: 'a' }), fixture.draft()]
      const { items } = await fixture.store.insert([lone, met], open.tx, true)
      same(items, [{ status: 'inserted' }, exists('alias', first, true)], 'one of them met somebody')
      same(
        (await fixture.store.insert([good], open.tx, true)).items,
        [{ status: 'inserted' }],
        'the transaction goes on',
      )
      await open.commit()
      await fixture.expectGone(lone.job.id, 'its neighbour is not there')
      same((await fixture.loaded(good.job.id))?.job, good.job, 'what came alone is')
    },
  },
  {
    name: 'in a transaction of the caller rows appear with its commit',
    needs: 'transaction',
    async run(fixture) {
      const open = await fixture.transaction()
      const draft = fixture.draft({ alias: 'tx', input: '"in"', keys: [key('dedupe', 'tx')] })
      const { items } = await fixture.store.insert([draft], open.tx)
      same(items, [{ status: 'inserted' }], 'inserted, so far')
      await fixture.expectGone(draft.job.id, 'nobody else sees it before the commit')
      same((await fixture.claim()).jobs.length, 0, 'nobody claims it before the commit')
      await open.commit()
      same(await fixture.loaded(draft.job.id, ['input']), loaded(draft.job, { input: '"in"' }), 'then it is there')
      same((await fixture.claim()).jobs[0]?.before.id, draft.job.id, 'and is claimed')
    },
  },
  {
    name: 'in a transaction of the caller rows vanish with its rollback',
    needs: 'transaction',
    async run(fixture) {
      const open = await fixture.transaction()
      const draft = fixture.draft({ alias: 'tx', keys: [key('dedupe', 'tx')] })
      await fixture.store.insert([draft], open.tx)
      await open.rollback()
      await fixture.expectGone(draft.job.id, 'it never was')
      await expectFree(fixture, 'tx')
    },
  },
]

const key = (purpose: Key['purpose'], text: string): Key => ({ purpose, key: text, until: undefined })

const loaded = (job: unknown, bodies: Readonly<Record<string, string>>) => ({ job, bodies, caused: [] })

const exists = (by: string, job: unknown, sameInput = false) => ({ status: 'exists', by, job, sameInput })

const found = (answer: Inserted): string | undefined => (answer.status === 'exists' ? answer.job.id : undefined)

async function expectFree(fixture: StoreFixture, name: string): Promise<void> {
  const next = fixture.draft({ alias: name, keys: [key('dedupe', name)] })
  same((await fixture.store.insert([next])).items, [{ status: 'inserted' }], 'its alias and its key are free')
}
