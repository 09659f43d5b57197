/** S7: the feed shows every event once, in one order that never changes. */
import type { State } from '../../core/job.ts'
import { comparePositions } from '../compare-positions.ts'
import type { FeedItem, Tally } from '../store.ts'
import type { Check } from './conformance.ts'
import { holds, same } from './holds.ts'
import { growAll } from './specimens.ts'
import type { StoreFixture } from './store-fixture.ts'

export const feed: readonly Check[] = [
  {
    name: 'every event of every kind of life is shown once, with its kind',
    async run(fixture) {
      const jobs = await growAll(fixture, { queue: 'fed', type: 'suite.fed' })
      await fixture.claim({ queue: 'fed' })
      const expected = (await Promise.all(jobs.map(({ id }) => fixture.events(id)))).flat()
      const items = await settled(fixture, expected.filter(({ type }) => type !== 'heartbeat').length)
      const names = (each: { readonly jobId: string; readonly rev: number; readonly type: string }) =>
        `${each.jobId} ${each.rev} ${each.type}`
      const told = expected.filter(({ type }) => type !== 'heartbeat').map(names)
      same(
        items
          .filter(({ type }) => type !== 'heartbeat')
          .map(names)
          .toSorted(),
        told.toSorted(),
        'each event once',
      )
      const kinds = new Set(items.map(({ tenant, queue, jobType }) => `${tenant} ${queue} ${jobType}`))
      same([...kinds], [`${fixture.tenant} fed suite.fed`], 'with tenant, queue and type')
      expectInOrder(items)
    },
  },
  {
    name: 'it can be read again and taken up anywhere, and the order stays',
    async run(fixture) {
      const jobs = await fixture.insert(...Array.from({ length: 20 }, () => ({})))
      for (const job of jobs) await fixture.say(job, { type: 'signal', name: 's' })
      const items = await settled(fixture, 40)
      same((await fixture.feed()).items, items, 'the same again')
      const middle = items[17] as FeedItem
      same((await fixture.feed(middle.position)).items, items.slice(18), 'from the middle on')
      const { cursor, feed: none } = await fixture.store.events({ by: 'feed', after: undefined, limit: 10 })
      same(none, [], 'asked for the end, it shows nothing')
      holds(cursor !== undefined, 'but says where the end is')
      await fixture.insertOne()
      await fixture.eventually(
        'the next event is after the end',
        async () => (await fixture.feed(cursor)).items.length === 1,
      )
    },
  },
  {
    name: 'read while others write, nothing is missed and nothing repeated',
    async run(fixture) {
      const other = await fixture.another()
      let after = ''
      const seen: FeedItem[] = []
      const read = async () => {
        const page = await fixture.feed(after)
        seen.push(...page.items)
        after = page.end
      }
      let writing = true
      const writers = [fixture.store, other, fixture.store, other].map(async (store) => {
        for (let i = 0; i < 15; i += 1) await store.insert([fixture.draft(), fixture.draft()])
      })
      const done = Promise.all(writers).finally(() => {
        writing = false
      })
      while (writing) await read()
      await done
      await fixture.eventually('all 120 events are shown', async () => {
        await read()
        return seen.length >= 120
      })
      await read()
      const ids = seen.map(({ jobId, rev }) => `${jobId} ${rev}`)
      same([ids.length, new Set(ids).size], [120, 120], 'each once')
      same((await fixture.feed()).items, seen, 'in the order that stays')
    },
  },
  {
    name: 'positions ascend, and the end it tells lies between what is there and what comes',
    async run(fixture) {
      await fixture.insert(...Array.from({ length: 12 }, () => ({})))
      const before = await settled(fixture, 12)
      const { cursor: end = '' } = await fixture.store.events({ by: 'feed', after: undefined, limit: 1 })
      await fixture.insert({}, {})
      const all = await settled(fixture, 14)
      for (const [i, { position }] of all.entries()) {
        const next = all[i + 1]?.position
        holds(next === undefined || comparePositions(position, next) < 0, `${position} comes before ${next}`)
        const side = comparePositions(position, end)
        holds(i < before.length ? side <= 0 : side > 0, `${position} is on the right side of ${end}`)
      }
    },
  },
  {
    name: 'the backlog tells since when each queue has something to claim, and nothing of those that have not',
    async run(fixture) {
      const { begin } = fixture
      await fixture.insert({ queue: 'old', priority: 7, at: begin - 5_000 }, { queue: 'old', at: begin - 9_000 })
      await fixture.insert({ queue: 'late', runAt: begin + 1e9 }, { queue: 'taken', at: begin - 1_000 })
      await fixture.claim({ queue: 'taken' })
      const { backlog } = await fixture.store.events({ by: 'backlog', lanes: 1_000_000 })
      const mine = backlog.filter(({ tenant }) => tenant === fixture.tenant)
      same(mine, [{ tenant: fixture.tenant, queue: 'old', since: begin - 9_000 }], 'the one that has waited longest')
      const { backlog: few } = await fixture.store.events({ by: 'backlog', lanes: 1 })
      holds(few.length <= 1, 'no more than were looked at')
    },
  },
  {
    name: 'what commits late is shown late, and not missed',
    needs: 'transaction',
    async run(fixture) {
      const open = await fixture.transaction()
      const early = fixture.draft()
      await fixture.store.insert([early], open.tx)
      const late = await fixture.insertOne()
      const first = await settled(fixture, 1)
      same(
        first.map(({ jobId }) => jobId),
        [late.id],
        'what has committed is shown, whatever is still open',
      )
      await open.commit()
      await fixture.eventually('the early one is shown too', async () => (await fixture.feed()).items.length === 2)
      const after = first.at(-1)?.position
      same(
        (await fixture.feed(after)).items.map(({ jobId }) => jobId),
        [early.job.id],
        'after what a reader had seen',
      )
    },
  },
  {
    name: 'the tally counts jobs per kind and state, as of a position',
    async run(fixture) {
      const counts = new Map<State, number>()
      for (const { state } of await growAll(fixture, { queue: 'counted' }))
        counts.set(state, (counts.get(state) ?? 0) + 1)
      const expected = JSON.stringify([...counts].toSorted())
      let end = ''
      await fixture.eventually('the tally counts each job once', async () => {
        const { tally, cursor = '' } = await fixture.store.events({ by: 'tally' })
        end = cursor
        return JSON.stringify(mine(fixture, tally).toSorted()) === expected
      })
      const more = await fixture.insert({ queue: 'later' }, { queue: 'later' })
      const shown = async () => (await fixture.feed(end)).items.map(({ jobId }) => jobId)
      await fixture.eventually('what comes later is after that position', async () => (await shown()).length === 2)
      same((await shown()).toSorted(), more.map(({ id }) => id).toSorted(), 'that, and nothing that was counted')
    },
  },
]

const mine = (fixture: StoreFixture, tally: readonly Tally[]): readonly (readonly [State, number])[] =>
  tally
    .filter(({ tenant, queue, count }) => tenant === fixture.tenant && queue === 'counted' && count > 0)
    .map(({ state, count }) => [state, count] as const)

/** The feed once it shows at least that many events that are no heartbeats. */
async function settled(fixture: StoreFixture, count: number): Promise<readonly FeedItem[]> {
  let items: readonly FeedItem[] = []
  await fixture.eventually(`${count} events are shown`, async () => {
    items = (await fixture.feed()).items
    return items.filter(({ type }) => type !== 'heartbeat').length >= count
  })
  return items
}

function expectInOrder(items: readonly FeedItem[]): void {
  const last = new Map<string, number>()
  for (const { jobId, rev } of items) {
    holds(rev > (last.get(jobId) ?? 0), 'of one job in the order of its revisions')
    last.set(jobId, rev)
  }
}
