/** S18: a rate counts claims in any window by the store's clock; a budget, what was spent in the present one. */

import type { Spend } from '../../core/command.ts'
import type { Time } from '../../core/job.ts'
import type { ClaimedJob } from '../store.ts'
import type { Check } from './conformance.ts'
import { claims, ends, idsOf, isHeld, limit, limited, many, takenOf, viewOf } from './flows.ts'
import { holds, same } from './holds.ts'
import type { StoreFixture } from './store-fixture.ts'

const WINDOW_MS = 400
const PACED = { host: { rate: { most: 2, perMs: WINDOW_MS } } }
const ONCE = { host: { rate: { most: 1, perMs: WINDOW_MS } } }

export const rates: readonly Check[] = [
  {
    name: 'no window has more claims than its rate, to the millisecond, and each is given as soon as it may be',
    async run(fixture) {
      const jobs = await limited(fixture, PACED, ...many(7))
      const starts: Time[] = []
      for (let looks = 0; starts.length < jobs.length; looks += 1) {
        holds(looks < 1_000, 'all are given in the end')
        const given = await claims(fixture)
        for (const { before, at } of given) {
          starts.push(at)
          await ends(fixture, before.id)
        }
        judge(starts)
        const oldest = starts.at(-2)
        if (given.length > 0 || oldest === undefined) continue
        // One millisecond before it leaves the window, and then that one.
        const now = await fixture.now()
        await fixture.setup.advance(now < oldest + WINDOW_MS - 1 ? oldest + WINDOW_MS - 1 - now : 1)
      }
      same(await takenOf(fixture, 'host'), 0, 'slots are back to zero')
    },
  },
  {
    name: 'a second attempt within the window counts again',
    async run(fixture) {
      const [job] = await limited(fixture, ONCE, {})
      const [first] = await claims(fixture)
      const record = await fixture.record(job?.id ?? '')
      const fence = record.lease?.fence ?? ''
      await fixture.say(record, { type: 'release', fence, reason: 'shutdown' }, record.updatedAt)
      const second = await nextClaim(fixture)
      same(second.before.id, job?.id, 'the same job')
      holds(second.at - (first?.at ?? 0) >= WINDOW_MS, 'one window after its first attempt')
    },
  },
  {
    name: 'a long job of a rated key keeps nobody out for longer than a window',
    async run(fixture) {
      const [first, second] = await limited(fixture, ONCE, ...many(2))
      const [long] = await claims(fixture)
      same(long?.before.id, first?.id, 'the first runs, and goes on')
      const next = await nextClaim(fixture)
      same(next.before.id, second?.id, 'the other is given')
      holds(next.at - (long?.at ?? 0) >= WINDOW_MS, 'one window after the first')
      same(await takenOf(fixture, 'host'), 2, 'both run')
    },
  },
  {
    name: 'what stands and nobody claims counts as claimed now, and who waits behind it is looked at again',
    async run(fixture) {
      const [first, second] = await limited(fixture, ONCE, ...many(2))
      same(await isHeld(fixture, second?.id ?? ''), true, 'one stands, the other is held')
      await fixture.setup.advance(3 * WINDOW_MS)
      const [claimed] = await claims(fixture)
      same(claimed?.before.id, first?.id, 'it is claimed late')
      const next = await nextClaim(fixture)
      same(next.before.id, second?.id, 'and the other comes')
      holds(next.at - (claimed?.at ?? 0) >= WINDOW_MS, 'one window after that')
    },
  },
  {
    name: 'a rate that is lowered takes back what stands beyond it',
    async run(fixture) {
      await limited(fixture, PACED, ...many(2))
      same(await takenOf(fixture, 'host'), 2, 'two stand')
      await limit(fixture, 'host', ONCE.host)
      same(await takenOf(fixture, 'host'), 1, 'one goes back')
      same((await claims(fixture)).length, 1, 'and one is given')
    },
  },
]

const BUDGET_MS = 3_600_000
const BUDGET = { tokens: { budget: { amount: 100, perMs: BUDGET_MS } } }

export const budgets: readonly Check[] = [
  {
    name: 'a key whose budget is spent lets nobody in, and takes back what stands',
    async run(fixture) {
      const jobs = await limited(fixture, { ...BUDGET, host: {} }, ...many(4))
      const [first] = idsOf(await claims(fixture, { limit: 1 }))
      await spends(fixture, first ?? '', { amount: 60, key: 'tokens' })
      same(await takenOf(fixture, 'tokens'), 4, 'there is some left')
      await spends(fixture, first ?? '', { amount: 40 })
      same((await viewOf(fixture, 'tokens')).count.spent, 100, 'all of it')
      same((await viewOf(fixture, 'host')).count.spent, 0, 'a key without a budget counts nothing')
      same(await takenOf(fixture, 'tokens'), 1, 'what stood went back, who runs goes on')
      same(await takenOf(fixture, 'host'), 1, 'also where its other key has room')
      await ends(fixture, first ?? '')
      same(await claims(fixture), [], 'nobody is let in')
      await limit(fixture, 'tokens', { budget: { amount: 101, perMs: BUDGET_MS } })
      same(
        idsOf(await claims(fixture)),
        jobs.slice(1).map(({ id }) => id),
        'with more to spend the others are',
      )
    },
  },
  {
    name: 'when the window turns, it begins at nothing',
    async run(fixture) {
      const perMs = 500
      await limited(fixture, { tokens: { budget: { amount: 1, perMs } } }, ...many(2))
      const [first] = await claims(fixture, { limit: 1 })
      // Before it spends: a window may turn between that and the next look at the clock.
      const began = Math.floor((await fixture.now()) / perMs)
      await spends(fixture, first?.before.id ?? '', { amount: 7 })
      const next = await nextClaim(fixture)
      holds(Math.floor(next.at / perMs) > began, 'in another window')
      same((await viewOf(fixture, 'tokens')).count.spent, 0, 'of which nothing is spent')
    },
  },
  {
    name: 'sums are exact, however many spend at once',
    async run(fixture) {
      const other = await fixture.another()
      await limited(fixture, { tokens: { budget: { amount: 1_000_000, perMs: 10 * BUDGET_MS } } }, ...many(8))
      const given = await claims(fixture)
      await Promise.all(
        given.map(async ({ before }, i) => {
          for (let n = 1; n <= 5; n += 1) {
            const change = await progress(fixture, before.id, [{ amount: n }])
            const { verdicts } = await (i % 2 === 0 ? fixture.store : other).commit([change])
            same(verdicts, [{ status: 'applied' }], 'each is applied')
          }
        }),
      )
      same((await viewOf(fixture, 'tokens')).count.spent, 8 * 15, 'and counted')
    },
  },
  {
    name: 'a change that is not applied spends nothing',
    async run(fixture) {
      await limited(fixture, BUDGET, {})
      const [claimed] = await claims(fixture)
      const change = await progress(fixture, claimed?.before.id ?? '', [{ amount: 3 }])
      same(await fixture.commit(change, change), [{ status: 'applied' }, { status: 'conflict' }], 'one of two')
      same((await viewOf(fixture, 'tokens')).count.spent, 3, 'and one of two is counted')
    },
  },
]

/** F2, from when the claims were, by the store's clock. */
function judge(starts: readonly Time[]): void {
  for (const at of starts) {
    const within = starts.filter((each) => each > at - WINDOW_MS && each <= at).length
    holds(within <= 2, `${within} claims within ${WINDOW_MS} ms`)
  }
}

/** The next job that is given, whenever that is. */
async function nextClaim(fixture: StoreFixture): Promise<ClaimedJob> {
  let found: ClaimedJob | undefined
  await fixture.eventually('the next is given', async () => {
    found = (await claims(fixture, { limit: 1 }))[0]
    return found !== undefined
  })
  holds(found !== undefined, 'it was given')
  return found
}

async function progress(fixture: StoreFixture, id: string, spent: readonly Spend[]) {
  const job = await fixture.record(id)
  const running =
    job.startedAt === undefined
      ? await fixture.say(job, { type: 'start', fence: job.lease?.fence ?? '' }, job.updatedAt)
      : job
  const saying = { type: 'progress', fence: running.lease?.fence ?? '', counters: { spent: 1 } } as const
  return fixture.change(running, saying, running.updatedAt, { spent })
}

async function spends(fixture: StoreFixture, id: string, spend: Spend): Promise<void> {
  await fixture.apply(await progress(fixture, id, [spend]))
}
