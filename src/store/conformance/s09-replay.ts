/** S9: a repeated insert or claim answers as the first did, and changes nothing. */
import type { Job } from '../../core/job.ts'
import type { Check } from './conformance.ts'
import { holds, same } from './holds.ts'

export const replay: readonly Check[] = [
  {
    name: 'an insert repeated gives the job, and makes no second one',
    async run(fixture) {
      const drafts = [fixture.draft({ input: '1', alias: 'a' }), fixture.draft()]
      await fixture.store.insert(drafts)
      const { items } = await fixture.store.insert(drafts)
      const exists = drafts.map(({ job }) => ({ status: 'exists', by: 'id', job, sameInput: true }))
      same(items, exists, 'each is answered with the job it made')
      for (const { job, event } of drafts) same(await fixture.events(job.id), [event], 'nothing has been added')
      same((await fixture.claim()).jobs.length, 2, 'there are two jobs, not four')
    },
  },
  {
    name: 'a claim repeated gives the same jobs again, whatever else there is to have',
    async run(fixture) {
      await fixture.insert({ input: '1' }, { input: '2' }, {}, {}, {})
      const other = await fixture.another()
      const grant = fixture.grant({ limit: 3 })
      const first = await fixture.store.claim(grant)
      same([first.replayed, first.jobs.length], [false, 3], 'three of five')
      for (const store of [fixture.store, other, fixture.store]) {
        const again = await store.claim(grant)
        same(again.replayed, true, 'it says that it is a repetition')
        same(sorted(again.jobs), sorted(first.jobs), 'the same jobs, stamped as they were')
      }
      for (const { before } of first.jobs) same((await fixture.events(before.id)).length, 2, 'no event has been added')
      same((await fixture.claim()).jobs.length, 2, 'the others are still to be had')
    },
  },
  {
    name: 'of a repeated claim only what is still owned is given',
    async run(fixture) {
      await fixture.insert({}, {}, {}, {})
      const grant = fixture.grant({ limit: 4 })
      const { jobs } = await fixture.store.claim(grant)
      const [done, released, started, kept] = await Promise.all(jobs.map(({ before }) => fixture.record(before.id)))
      const fence = (job: Job | undefined) => job?.lease?.fence ?? ''
      await fixture.say(done as Job, { type: 'complete', fence: fence(done) })
      await fixture.say(released as Job, { type: 'release', fence: fence(released), reason: 'shutdown' })
      await fixture.say(started as Job, { type: 'start', fence: fence(started) })
      const again = await fixture.store.claim(grant)
      same(again.replayed, true, 'it says that it is a repetition')
      const ids = again.jobs.map(({ before }) => before.id).toSorted()
      same(ids, [started?.id, kept?.id].toSorted(), 'what is over is not given again')
      const next = await fixture.claim()
      same(
        next.jobs.map(({ before }) => before.id),
        [released?.id],
        'what was released is for the next claim',
      )
    },
  },
  {
    name: 'a claim that found nothing is no answer to keep',
    async run(fixture) {
      const grant = fixture.grant()
      same((await fixture.store.claim(grant)).jobs, [], 'nothing there')
      const job = await fixture.insertOne()
      const { jobs } = await fixture.store.claim(grant)
      holds(jobs.length === 1 && jobs[0]?.before.id === job.id, 'asked again, it finds what has come')
    },
  },
]

const sorted = <T extends { readonly before: Job }>(jobs: readonly T[]): readonly T[] =>
  jobs.toSorted((a, b) => (a.before.id < b.before.id ? -1 : 1))
