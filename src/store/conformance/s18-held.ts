/** S18: jobs with a flow are held from birth, and claimed once they have been let in. */
import type { Check } from './conformance.ts'
import { claims, ends, idsOf, isHeld, limited, look, many, takenOf, viewOf } from './flows.ts'
import { holds, same } from './holds.ts'

const ONE = { host: { concurrency: 1 } }

export const held: readonly Check[] = [
  {
    name: 'a job under a full key is held: it is found as ever, is in no lane, and has no slot',
    async run(fixture) {
      const [first, second] = await limited(fixture, ONE, ...many(2))
      same(idsOf(await claims(fixture)), [first?.id], 'one is let in')
      same(await isHeld(fixture, second?.id ?? ''), true, 'the other is held')
      same(await isHeld(fixture, first?.id ?? ''), false, 'who is owned is not')
      same(await takenOf(fixture, 'host'), 1, 'a slot is taken by who runs')
      const { jobs } = await fixture.store.find({ tenant: fixture.tenant, order: 'oldest', limit: 10 })
      same(jobs[1], second, 'its record is as it was made')
      same((await viewOf(fixture, 'host')).held, 1, 'and it is counted among those that wait')
      await fixture.expectFolds(first?.id ?? '')
    },
  },
  {
    name: 'who is inserted is let in without a ticker, and a claim that waits is answered with it',
    async run(fixture) {
      const ends = new AbortController()
      const answer = fixture.store.claim(fixture.grant({ waitMs: 30_000, signal: ends.signal }))
      let came = false
      void answer.finally(() => {
        came = true
      })
      const [job] = await limited(fixture, ONE, {})
      await fixture.eventually('the claim is answered', () => came)
      same(idsOf((await answer).jobs), [job?.id], 'with the job')
      ends.abort()
    },
  },
  {
    name: 'a job without keys that takes turns is held and let in as well',
    async run(fixture) {
      const [job] = await fixture.insert({ flow: { fair: 'customer' } })
      same(idsOf(await claims(fixture)), [job?.id], 'let in')
      const { jobs } = await fixture.claim()
      same(jobs, [], 'once')
    },
  },
  {
    name: 'without a number for its key everything is let in, and slots are counted all the same',
    async run(fixture) {
      const jobs = await limited(fixture, { host: {} }, ...many(5))
      same(
        idsOf(await claims(fixture)),
        jobs.map(({ id }) => id),
        'all, in their order',
      )
      same(await takenOf(fixture, 'host'), 5, 'each has a slot')
    },
  },
  {
    name: 'a delayed job is held until its time has come',
    async run(fixture) {
      const runAt = (await fixture.now()) + 300
      const [job] = await limited(fixture, ONE, { runAt })
      await fixture.eventually('it is given', async () => {
        const [claimed] = await claims(fixture)
        holds(claimed === undefined || claimed.at >= runAt, 'not before its time')
        return claimed?.before.id === job?.id
      })
    },
  },
  {
    name: 'in a transaction of the caller’s it is let in once that has committed, by due',
    needs: 'transaction',
    async run(fixture) {
      const { tx, commit } = await fixture.transaction()
      const draft = fixture.draft({ flow: { keys: ONE } })
      await fixture.store.insert([draft], tx)
      same(await claims(fixture), [], 'not before the commit')
      await commit()
      same(idsOf(await claims(fixture)), [draft.job.id], 'after it')
    },
  },
  {
    name: 'a transaction that is rolled back leaves nobody held, no slot and nobody to look for',
    needs: 'transaction',
    async run(fixture) {
      const { tx, rollback } = await fixture.transaction()
      await fixture.store.insert([fixture.draft({ flow: { keys: ONE } })], tx)
      await rollback()
      same(await claims(fixture), [], 'nothing to claim')
      const [job] = await limited(fixture, ONE, {})
      same(idsOf(await claims(fixture)), [job?.id], 'the key is as free as it was')
      same(await takenOf(fixture, 'host'), 1, 'one slot')
    },
  },
  {
    name: 'who wants no job with a flow is given none, and no more than it can begin',
    async run(fixture) {
      const jobs = await limited(fixture, { host: { concurrency: 3 } }, ...many(3))
      const plain = await fixture.insertOne({})
      await look(fixture)
      same(idsOf((await fixture.claim({ limited: 0 })).jobs), [plain.id], 'only what has no flow')
      same((await fixture.claim({ limited: 2 })).jobs.length, 2, 'as many as it may have')
      same((await fixture.claim({ limited: 2, limit: 0 })).jobs, [], 'and no more than the claim')
      same((await fixture.claim({})).jobs.length, 1, 'whoever does not say is given any')
      same(await takenOf(fixture, 'host'), jobs.length, 'all have their slots')
    },
  },
  {
    name: 'jobs with a flow and those without share a lane: neither waits for ever behind the other',
    async run(fixture) {
      const firsts = new Set<boolean>()
      for (let n = 0; n < 64 && firsts.size < 2; n += 1) {
        await limited(fixture, { host: {} }, {})
        await fixture.insertOne({})
        const [first] = await claims(fixture, { limit: 1 })
        if (first !== undefined) firsts.add(first.before.spec.flow !== undefined)
      }
      same(firsts.size, 2, 'each was the first for some claim')
    },
  },
  {
    name: 'a repeated insert, or one that meets another job, holds nothing twice',
    async run(fixture) {
      const draft = fixture.draft({ flow: { keys: ONE }, alias: 'mine' })
      await fixture.store.insert([draft])
      same((await fixture.store.insert([draft])).items[0]?.status, 'exists', 'by its id')
      const twin = fixture.draft({ flow: { keys: ONE }, alias: 'mine' })
      same((await fixture.store.insert([twin])).items[0]?.status, 'exists', 'by its alias')
      same(idsOf(await claims(fixture)), [draft.job.id], 'it is given')
      await ends(fixture, draft.job.id)
      same(await claims(fixture), [], 'and nobody else is there')
      same(await takenOf(fixture, 'host'), 0, 'slots are back to zero')
    },
  },
]
