/** S8: what waits to be judged is an agenda of its own, handed out alike. */
import type { Job } from '../../core/job.ts'
import { judgeAt } from '../../core/timers.ts'
import type { Store } from '../store.ts'
import type { Check } from './conformance.ts'
import { holds, same } from './holds.ts'
import { growAll } from './specimens.ts'
import type { JobOptions, StoreFixture } from './store-fixture.ts'

const WAITING: JobOptions = { policy: { admission: true } }

export const judgements: readonly Check[] = [
  {
    name: 'whatever state a job is in, it is handed out to be judged if it waits for that, with its record, and to no ticker',
    async run(fixture) {
      const jobs = [
        ...(await growAll(fixture)),
        ...(await fixture.insert(WAITING, { ...WAITING, alias: `waiting-${fixture.tenant}` })),
      ]
      const expected = jobs.filter((job) => judgeAt(job) !== undefined)
      holds(expected.length > 2, 'some of the specimens wait')
      const clock = new Set(jobs.filter(({ nextTickAt }) => nextTickAt !== undefined).map(({ id }) => id))
      const ticked = (await all(fixture, () => fixture.store.due(3))).filter(({ id }) => !clock.has(id))
      same(ticked, [], 'tickers are handed what has a clock, and nothing else')
      const handed = await unjudged(fixture, fixture.store, 3)
      same(handed.map(({ id }) => id).toSorted(), expected.map(({ id }) => id).toSorted(), 'what waits, each once')
      for (const job of handed)
        same(
          job,
          jobs.find(({ id }) => id === job.id),
          'with its record',
        )
    },
  },
  {
    name: 'of several who judge one gets it, and what was judged is not handed out again',
    async run(fixture) {
      const jobs = await fixture.insert(...Array.from({ length: 30 }, () => WAITING))
      const other = await fixture.another()
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, i) => (i % 2 === 0 ? fixture.store : other).due(7, 'judgements')),
      )
      holds(
        answers.every((answer) => answer.jobs.length <= 7),
        'no more than asked for',
      )
      const handed = [
        ...answers.flatMap((answer) => answer.jobs).filter(isOf(fixture)),
        ...(await unjudged(fixture, other, 7)),
      ]
      same(handed.map(({ id }) => id).toSorted(), jobs.map(({ id }) => id).toSorted(), 'each is handed out once')
      const [first, ...rest] = jobs
      await fixture.say(first as Job, { type: 'admit', rule: 'r', policyHash: 'h' })
      await fixture.setup.advance(5_000)
      const again = new Set<string>()
      await fixture.eventually(
        'what nothing came of is handed out again',
        async () => {
          for (const { id } of await unjudged(fixture, fixture.store, 50)) again.add(id)
          return again.size === rest.length
        },
        2_000,
      )
      holds(!again.has((first as Job).id), 'what was let in does not wait any more')
    },
  },
  {
    name: 'what has waited longest comes first, and what is told of it meanwhile keeps it waiting',
    async run(fixture) {
      const [late, early] = await fixture.insert(WAITING, { ...WAITING, at: fixture.begin - 60_000 })
      const handed = await unjudged(fixture, fixture.store, 50)
      same(
        handed.map(({ id }) => id),
        [early?.id, late?.id],
        'in the order in which they came',
      )
      const told = await fixture.say(early as Job, { type: 'signal', name: 'hello' })
      same(
        (await unjudged(fixture, fixture.store, 50)).map(({ id }) => id),
        [told.id],
        'it waits as it is now',
      )
      const reopened = await fixture.say(await fixture.say(told, { type: 'cancel', mode: 'hard' }), { type: 'reopen' })
      same(
        (await unjudged(fixture, fixture.store, 50)).map(({ id, generation }) => [id, generation]),
        [[reopened.id, 1]],
        'a second chance is judged again',
      )
    },
  },
  {
    name: 'a word about an input that was replaced meanwhile is a conflict; what was asked about the old one is judged anew, at once',
    async run(fixture) {
      const [fresh, asked] = await fixture.insert(WAITING, WAITING)
      const ask = { type: 'askApproval', rule: 'r', policyHash: 'h', expiresMs: 3_600_000 } as const
      const open = await fixture.say(asked as Job, ask)
      const { jobHash = '' } = open.approval ?? {}
      const approved = await fixture.say(open, { type: 'approve', policyHash: 'h', jobHash })
      same((await unjudged(fixture, fixture.store, 50)).length, 2, 'both are handed out')
      for (const job of [fresh as Job, approved]) {
        const admit = fixture.change(job, { type: 'admit', rule: 'r', policyHash: 'h' }, fixture.begin)
        const input = { name: 'replaced', size: 1, digest: 'd' }
        const replace = fixture.change(job, { type: 'replace', input }, fixture.begin, {
          bodies: [{ name: 'replaced', text: '2' }],
        })
        const [there] = [await fixture.apply(replace)]
        same(await fixture.commit(admit), [{ status: 'conflict' }], 'nobody has judged what it says now')
        await fixture.expectRecord(there as Job, 'it waits')
        holds(judgeAt(there as Job) === (there as Job).updatedAt, 'to be judged as it is now')
      }
      const again = await unjudged(fixture, fixture.store, 50)
      same(
        again.map(({ newer }) => newer?.by),
        ['suite', 'suite'],
        'both are handed out at once, as they are now',
      )
    },
  },
]

const isOf =
  (fixture: StoreFixture) =>
  ({ spec }: Job) =>
    spec.kind.tenant === fixture.tenant

const unjudged = (fixture: StoreFixture, store: Store, limit: number) =>
  all(fixture, () => store.due(limit, 'judgements'))

/** Everything of the fixture's that is handed out. */
async function all(fixture: StoreFixture, hand: () => ReturnType<Store['due']>): Promise<readonly Job[]> {
  const handed: Job[] = []
  for (let calls = 0; calls < 10_000; calls += 1) {
    const { jobs } = await hand()
    if (jobs.length === 0) return handed
    handed.push(...jobs.filter(isOf(fixture)))
  }
  throw new Error('a store that is never done')
}
