/** S11: at most one job holds a key; it is given up only by the job that holds it, or by time. */
import type { Job } from '../../core/job.ts'
import type { Inserted, Key } from '../store.ts'
import type { Check } from './conformance.ts'
import { same } from './holds.ts'
import type { StoreFixture } from './store-fixture.ts'

export const keys: readonly Check[] = [
  {
    name: 'while its holder lives a key is held, then it is free',
    async run(fixture) {
      const key = dedupe('live')
      const holder = await fixture.insertOne({ keys: [key] })
      await expectHolder(fixture, key, holder)
      const end = fixture.change(holder, { type: 'cancel', mode: 'hard' }, fixture.begin, { give: [key] })
      await fixture.apply(end)
      const next = await fixture.insertOne({ keys: [key] })
      await expectHolder(fixture, key, next)
    },
  },
  {
    name: 'a key for a window is held until its time, whatever becomes of its holder',
    async run(fixture) {
      const now = await fixture.now()
      const open = dedupe('open', now + 3_600_000)
      const over = dedupe('over', now - 1)
      const [holder] = await fixture.insert({ keys: [open] }, { keys: [over] })
      const ended = await fixture.say(holder as Job, { type: 'cancel', mode: 'hard' })
      await expectHolder(fixture, open, ended)
      const next = await fixture.insertOne({ keys: [dedupe('over', now + 3_600_000)] })
      await expectHolder(fixture, over, next)
    },
  },
  {
    name: 'a window that ends frees the key by the store’s own clock',
    async run(fixture) {
      const key = dedupe('brief', (await fixture.now()) + 300)
      const holder = await fixture.insertOne({ keys: [key] })
      await fixture.setup.advance(300)
      await fixture.eventually('the key is free', async () => {
        const { items } = await fixture.store.insert([fixture.draft({ keys: [dedupe('brief')] })])
        const [item] = items
        if (item?.status === 'exists') same(item.job.id, holder.id, 'until then the first holds it')
        return item?.status === 'inserted'
      })
    },
  },
  {
    name: 'a key for ever outlives its holder’s end',
    async run(fixture) {
      const key = dedupe('forever')
      const holder = await fixture.insertOne({ keys: [key] })
      const ended = await fixture.say(holder, { type: 'cancel', mode: 'hard' })
      await expectHolder(fixture, key, ended)
    },
  },
  {
    name: 'nobody gives up the key of another',
    async run(fixture) {
      const key = dedupe('mine')
      const [holder, other] = await fixture.insert({ keys: [key] }, {})
      await fixture.apply(
        fixture.change(other as Job, { type: 'cancel', mode: 'hard' }, fixture.begin, { give: [key] }),
      )
      await expectHolder(fixture, key, holder as Job)
    },
  },
  {
    name: 'who has lost a key to time does not take it from the next holder',
    async run(fixture) {
      const past = dedupe('handed-on', fixture.begin - 1)
      const key = dedupe('handed-on')
      const old = await fixture.insertOne({ keys: [past] })
      const holder = await fixture.insertOne({ keys: [key] })
      const ended = await fixture.apply(
        fixture.change(old, { type: 'cancel', mode: 'hard' }, fixture.begin, { give: [past] }),
      )
      await expectHolder(fixture, key, holder)
      same(await fixture.commit({ kind: 'purge', before: ended }), [{ status: 'applied' }], 'the old one is purged')
      await expectHolder(fixture, key, holder)
    },
  },
  {
    name: 'a reopening that wants a key somebody else holds is told who, and nothing happens',
    async run(fixture) {
      const key = dedupe('reopen')
      const old = await fixture.insertOne({ keys: [key] })
      const end = fixture.change(old, { type: 'cancel', mode: 'hard' }, fixture.begin, { give: [key] })
      const ended = await fixture.apply(end)
      const holder = await fixture.insertOne({ keys: [key] })
      const reopen = fixture.change(ended, { type: 'reopen' }, fixture.begin, { take: [key] })
      same(await fixture.commit(reopen), [{ status: 'taken', key, holder: holder.id }], 'it is told who has it')
      await fixture.expectRecord(ended, 'it is as it was')
      await fixture.apply(fixture.change(holder, { type: 'cancel', mode: 'hard' }, fixture.begin, { give: [key] }))
      const again = await fixture.apply(fixture.change(ended, { type: 'reopen' }, fixture.begin, { take: [key] }))
      await expectHolder(fixture, key, again)
    },
  },
  {
    name: 'a holder may take its key again, for longer',
    async run(fixture) {
      const brief = dedupe('extend', fixture.begin + 3_600_000)
      const key = dedupe('extend')
      const job = await fixture.insertOne({ keys: [brief] })
      const after = await fixture.apply(
        fixture.change(job, { type: 'signal', name: 's' }, fixture.begin, { take: [key] }),
      )
      await expectHolder(fixture, key, after)
    },
  },
  {
    name: 'of two that take a free key at once one gets it',
    async run(fixture) {
      const other = await fixture.another()
      for (let round = 0; round < 8; round += 1) {
        const key = dedupe(`race-${round}`)
        const pair = await fixture.insert({}, {})
        const [a, b] = pair.map((job) =>
          fixture.change(job, { type: 'signal', name: 's' }, fixture.begin, { take: [key] }),
        )
        if (a === undefined || b === undefined) return
        const answers = await Promise.all([fixture.store.commit([a]), other.commit([b])])
        const verdicts = answers.flatMap(({ verdicts: each }) => each)
        same(verdicts.map(({ status }) => status).toSorted(), ['applied', 'taken'], 'one of the two')
        const winner = [a, b][verdicts.findIndex(({ status }) => status === 'applied')]
        const told = verdicts.find((verdict) => verdict.status === 'taken')
        same(told?.holder, winner?.after.id, 'the other is told who')
      }
    },
  },
  {
    name: 'words for another purpose, or in another tenant, are another key',
    async run(fixture) {
      const purposes = ['dedupe', 'idempotency', 'slot'] as const
      const own = purposes.map((purpose): Key => ({ purpose, key: 'same', until: undefined }))
      const jobs = await fixture.insert(...own.map((key) => ({ keys: [key] })))
      await fixture.insertOne({ alias: 'same' })
      await fixture.insertOne({ keys: own, tenant: `${fixture.tenant}-other` })
      for (const [i, key] of own.entries()) await expectHolder(fixture, key, jobs[i] as Job)
    },
  },
]

const dedupe = (key: string, until?: number): Key => ({ purpose: 'dedupe', key, until })

async function expectHolder(fixture: StoreFixture, key: Key, holder: Job): Promise<void> {
  const { items } = await fixture.store.insert([fixture.draft({ keys: [{ ...key, until: undefined }] })])
  const expected: Inserted = { status: 'exists', by: key.purpose, job: holder, sameInput: true }
  same(items, [expected], `${key.purpose} key ${key.key} is held by ${holder.id}`)
}
