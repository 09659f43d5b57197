/** S7: the feed shows every event once, in one order that never changes. */
import type { State } from '../../core/job.ts'
import { comparePositions } from '../compare-positions.ts'
import type { FeedItem, Tally } from '../store.ts'
import type { Scene } from './conformance.ts'
import { holds, same } from './holds.ts'
import { growAll } from './specimens.ts'
import type { Stage } from './stage.ts'

export const feed: readonly Scene[] = [
  {
    name: 'every event of every kind of life is shown once, with its kind',
    async play(stage) {
      const jobs = await growAll(stage, { queue: 'fed', type: 'suite.fed' })
      await stage.claim({ queue: 'fed' })
      const expected = (await Promise.all(jobs.map(({ id }) => stage.events(id)))).flat()
      const items = await settled(stage, expected.filter(({ type }) => type !== 'heartbeat').length)
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
      same([...kinds], [`${stage.tenant} fed suite.fed`], 'with tenant, queue and type')
      expectInOrder(items)
    },
  },
  {
    name: 'it can be read again and taken up anywhere, and the order stays',
    async play(stage) {
      const jobs = await stage.insert(...Array.from({ length: 20 }, () => ({})))
      for (const job of jobs) await stage.say(job, { type: 'signal', name: 's' })
      const items = await settled(stage, 40)
      same((await stage.feed()).items, items, 'the same again')
      const middle = items[17] as FeedItem
      same((await stage.feed(middle.position)).items, items.slice(18), 'from the middle on')
      const { cursor, feed: none } = await stage.store.events({ by: 'feed', after: undefined, limit: 10 })
      same(none, [], 'asked for the end, it shows nothing')
      holds(cursor !== undefined, 'but says where the end is')
      await stage.insertOne()
      await stage.eventually(
        'the next event is after the end',
        async () => (await stage.feed(cursor)).items.length === 1,
      )
    },
  },
  {
    name: 'read while others write, nothing is missed and nothing repeated',
    async play(stage) {
      const other = await stage.another()
      let after = ''
      const seen: FeedItem[] = []
      const read = async () => {
        const page = await stage.feed(after)
        seen.push(...page.items)
        after = page.end
      }
      let writing = true
      const writers = [stage.store, other, stage.store, other].map(async (store) => {
        for (let i = 0; i < 15; i += 1) await store.insert([stage.draft(), stage.draft()])
      })
      const done = Promise.all(writers).finally(() => {
        writing = false
      })
      while (writing) await read()
      await done
      await stage.eventually('all 120 events are shown', async () => {
        await read()
        return seen.length >= 120
      })
      await read()
      const ids = seen.map(({ jobId, rev }) => `${jobId} ${rev}`)
      same([ids.length, new Set(ids).size], [120, 120], 'each once')
      same((await stage.feed()).items, seen, 'in the order that stays')
    },
  },
  {
    name: 'positions ascend, and the end it tells lies between what is there and what comes',
    async play(stage) {
      await stage.insert(...Array.from({ length: 12 }, () => ({})))
      const before = await settled(stage, 12)
      const { cursor: end = '' } = await stage.store.events({ by: 'feed', after: undefined, limit: 1 })
      await stage.insert({}, {})
      const all = await settled(stage, 14)
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
    async play(stage) {
      const { begin } = stage
      await stage.insert({ queue: 'old', priority: 7, at: begin - 5_000 }, { queue: 'old', at: begin - 9_000 })
      await stage.insert({ queue: 'late', runAt: begin + 1e9 }, { queue: 'taken', at: begin - 1_000 })
      await stage.claim({ queue: 'taken' })
      const { backlog } = await stage.store.events({ by: 'backlog', lanes: 1_000_000 })
      const mine = backlog.filter(({ tenant }) => tenant === stage.tenant)
      same(mine, [{ tenant: stage.tenant, queue: 'old', since: begin - 9_000 }], 'the one that has waited longest')
      const { backlog: few } = await stage.store.events({ by: 'backlog', lanes: 1 })
      holds(few.length <= 1, 'no more than were looked at')
    },
  },
  {
    name: 'what commits late is shown late, and not missed',
    needs: 'transaction',
    async play(stage) {
      const open = await stage.transaction()
      const early = stage.draft()
      await stage.store.insert([early], open.tx)
      const late = await stage.insertOne()
      const first = await settled(stage, 1)
      same(
        first.map(({ jobId }) => jobId),
        [late.id],
        'what has committed is shown, whatever is still open',
      )
      await open.commit()
      await stage.eventually('the early one is shown too', async () => (await stage.feed()).items.length === 2)
      const after = first.at(-1)?.position
      same(
        (await stage.feed(after)).items.map(({ jobId }) => jobId),
        [early.job.id],
        'after what a reader had seen',
      )
    },
  },
  {
    name: 'the tally counts jobs per kind and state, as of a position',
    async play(stage) {
      const counts = new Map<State, number>()
      for (const { state } of await growAll(stage, { queue: 'counted' }))
        counts.set(state, (counts.get(state) ?? 0) + 1)
      const expected = JSON.stringify([...counts].toSorted())
      let end = ''
      await stage.eventually('the tally counts each job once', async () => {
        const { tally, cursor = '' } = await stage.store.events({ by: 'tally' })
        end = cursor
        return JSON.stringify(mine(stage, tally).toSorted()) === expected
      })
      const more = await stage.insert({ queue: 'later' }, { queue: 'later' })
      const shown = async () => (await stage.feed(end)).items.map(({ jobId }) => jobId)
      await stage.eventually('what comes later is after that position', async () => (await shown()).length === 2)
      same((await shown()).toSorted(), more.map(({ id }) => id).toSorted(), 'that, and nothing that was counted')
    },
  },
]

const mine = (stage: Stage, tally: readonly Tally[]): readonly (readonly [State, number])[] =>
  tally
    .filter(({ tenant, queue, count }) => tenant === stage.tenant && queue === 'counted' && count > 0)
    .map(({ state, count }) => [state, count] as const)

/** The feed once it shows at least that many events that are no heartbeats. */
async function settled(stage: Stage, count: number): Promise<readonly FeedItem[]> {
  let items: readonly FeedItem[] = []
  await stage.eventually(`${count} events are shown`, async () => {
    items = (await stage.feed()).items
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
