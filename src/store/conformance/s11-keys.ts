/** S11: at most one job holds a key; it is given up only by the job that holds it, or by time. */
import type { Job } from '../../core/job.ts'
import type { Inserted, Key } from '../store.ts'
import type { Scene } from './conformance.ts'
import { same } from './holds.ts'
import type { Stage } from './stage.ts'

export const keys: readonly Scene[] = [
  {
    name: 'while its holder lives a key is held, then it is free',
    async play(stage) {
      const key = dedupe('live')
      const holder = await stage.insertOne({ keys: [key] })
      await expectHolder(stage, key, holder)
      const end = stage.change(holder, { type: 'cancel', mode: 'hard' }, stage.begin, { give: [key] })
      await stage.apply(end)
      const next = await stage.insertOne({ keys: [key] })
      await expectHolder(stage, key, next)
    },
  },
  {
    name: 'a key for a window is held until its time, whatever becomes of its holder',
    async play(stage) {
      const now = await stage.now()
      const open = dedupe('open', now + 3_600_000)
      const over = dedupe('over', now - 1)
      const [holder] = await stage.insert({ keys: [open] }, { keys: [over] })
      const ended = await stage.say(holder as Job, { type: 'cancel', mode: 'hard' })
      await expectHolder(stage, open, ended)
      const next = await stage.insertOne({ keys: [dedupe('over', now + 3_600_000)] })
      await expectHolder(stage, over, next)
    },
  },
  {
    name: 'a window that ends frees the key by the store’s own clock',
    async play(stage) {
      const key = dedupe('brief', (await stage.now()) + 300)
      const holder = await stage.insertOne({ keys: [key] })
      await stage.seat.advance(300)
      await stage.eventually('the key is free', async () => {
        const { items } = await stage.store.insert([stage.draft({ keys: [dedupe('brief')] })])
        const [item] = items
        if (item?.status === 'exists') same(item.job.id, holder.id, 'until then the first holds it')
        return item?.status === 'inserted'
      })
    },
  },
  {
    name: 'a key for ever outlives its holder’s end',
    async play(stage) {
      const key = dedupe('forever')
      const holder = await stage.insertOne({ keys: [key] })
      const ended = await stage.say(holder, { type: 'cancel', mode: 'hard' })
      await expectHolder(stage, key, ended)
    },
  },
  {
    name: 'nobody gives up the key of another',
    async play(stage) {
      const key = dedupe('mine')
      const [holder, other] = await stage.insert({ keys: [key] }, {})
      await stage.apply(stage.change(other as Job, { type: 'cancel', mode: 'hard' }, stage.begin, { give: [key] }))
      await expectHolder(stage, key, holder as Job)
    },
  },
  {
    name: 'who has lost a key to time does not take it from the next holder',
    async play(stage) {
      const past = dedupe('handed-on', stage.begin - 1)
      const key = dedupe('handed-on')
      const old = await stage.insertOne({ keys: [past] })
      const holder = await stage.insertOne({ keys: [key] })
      const ended = await stage.apply(
        stage.change(old, { type: 'cancel', mode: 'hard' }, stage.begin, { give: [past] }),
      )
      await expectHolder(stage, key, holder)
      same(await stage.commit({ kind: 'purge', before: ended }), [{ status: 'applied' }], 'the old one is purged')
      await expectHolder(stage, key, holder)
    },
  },
  {
    name: 'a reopening that wants a key somebody else holds is told who, and nothing happens',
    async play(stage) {
      const key = dedupe('reopen')
      const old = await stage.insertOne({ keys: [key] })
      const end = stage.change(old, { type: 'cancel', mode: 'hard' }, stage.begin, { give: [key] })
      const ended = await stage.apply(end)
      const holder = await stage.insertOne({ keys: [key] })
      const reopen = stage.change(ended, { type: 'reopen' }, stage.begin, { take: [key] })
      same(await stage.commit(reopen), [{ status: 'taken', key, holder: holder.id }], 'it is told who has it')
      await stage.expectRecord(ended, 'it is as it was')
      await stage.apply(stage.change(holder, { type: 'cancel', mode: 'hard' }, stage.begin, { give: [key] }))
      const again = await stage.apply(stage.change(ended, { type: 'reopen' }, stage.begin, { take: [key] }))
      await expectHolder(stage, key, again)
    },
  },
  {
    name: 'a holder may take its key again, for longer',
    async play(stage) {
      const brief = dedupe('extend', stage.begin + 3_600_000)
      const key = dedupe('extend')
      const job = await stage.insertOne({ keys: [brief] })
      const after = await stage.apply(stage.change(job, { type: 'signal', name: 's' }, stage.begin, { take: [key] }))
      await expectHolder(stage, key, after)
    },
  },
  {
    name: 'of two that take a free key at once one gets it',
    async play(stage) {
      const other = await stage.another()
      for (let round = 0; round < 8; round += 1) {
        const key = dedupe(`race-${round}`)
        const pair = await stage.insert({}, {})
        const [a, b] = pair.map((job) => stage.change(job, { type: 'signal', name: 's' }, stage.begin, { take: [key] }))
        if (a === undefined || b === undefined) return
        const answers = await Promise.all([stage.store.commit([a]), other.commit([b])])
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
    async play(stage) {
      const purposes = ['dedupe', 'idempotency', 'slot'] as const
      const own = purposes.map((purpose): Key => ({ purpose, key: 'same', until: undefined }))
      const jobs = await stage.insert(...own.map((key) => ({ keys: [key] })))
      await stage.insertOne({ alias: 'same' })
      await stage.insertOne({ keys: own, tenant: `${stage.tenant}-other` })
      for (const [i, key] of own.entries()) await expectHolder(stage, key, jobs[i] as Job)
    },
  },
]

const dedupe = (key: string, until?: number): Key => ({ purpose: 'dedupe', key, until })

async function expectHolder(stage: Stage, key: Key, holder: Job): Promise<void> {
  const { items } = await stage.store.insert([stage.draft({ keys: [{ ...key, until: undefined }] })])
  const expected: Inserted = { status: 'exists', by: key.purpose, job: holder, sameInput: true }
  same(items, [expected], `${key.purpose} key ${key.key} is held by ${holder.id}`)
}
