/** S16: close leaves nothing behind. */
import type { Hint } from '../store.ts'
import type { Check } from './conformance.ts'
import { rejects, same } from './holds.ts'
import { type Resources, resources } from './resources.ts'

export const close: readonly Check[] = [
  {
    name: 'a closed store answers nothing, and may be closed again',
    fresh: true,
    async run(fixture) {
      const { store } = fixture
      const draft = fixture.draft()
      await store.close()
      await rejects(() => store.insert([draft]), 'insert')
      await rejects(() => store.load([{ id: draft.job.id }]), 'load')
      await rejects(() => store.claim(fixture.grant()), 'claim')
      await rejects(() => store.commit([{ kind: 'purge', before: draft.job }]), 'commit')
      await rejects(() => store.heartbeat([{ id: draft.job.id, fence: 'f', requestId: 'r' }]), 'heartbeat')
      await rejects(() => store.due(1), 'due')
      await rejects(() => store.find({ order: 'newest', limit: 1 }), 'find')
      await rejects(() => store.events({ by: 'tally' }), 'events')
      await rejects(() => store.settings([{ op: 'get', collection: 'ids', key: 'next' }]), 'settings')
      await store.close()
    },
  },
  {
    name: 'calls under way when it closes are answered one way or the other, and none of them lies',
    fresh: true,
    async run(fixture) {
      const drafts = Array.from({ length: 20 }, () => fixture.draft())
      const calls = drafts.map((draft) => fixture.store.insert([draft]))
      const closing = fixture.store.close()
      const outcomes = await Promise.allSettled(calls)
      await closing
      const answered = drafts.filter((_, i) => outcomes[i]?.status === 'fulfilled')
      const again = await fixture.setup.reopen?.()
      const there = await again?.load(answered.map(({ job }) => ({ id: job.id })))
      if (there !== undefined)
        same(
          there.items.map((item) => item?.job),
          answered.map(({ job }) => job),
          'what was answered is there',
        )
    },
  },
  {
    name: 'a subscription open when it closes hears nothing more, and can still be ended',
    fresh: true,
    async run(fixture) {
      const heard: Hint[] = []
      const subscription = await fixture.store.subscribe((hint) => heard.push(hint))
      await fixture.store.close()
      heard.length = 0
      await fixture.setup.advance(50)
      same(heard, [], 'nothing more')
      await subscription[Symbol.asyncDispose]()
    },
  },
  {
    name: 'no connection, timer, thread or listener is left',
    fresh: true,
    async run(fixture) {
      const { store } = fixture
      const subscription = await store.subscribe(() => {})
      const job = await fixture.claimed()
      await store.heartbeat([{ id: job.id, fence: job.lease?.fence ?? '', requestId: 'r' }])
      await fixture.feed()
      await subscription[Symbol.asyncDispose]()
      await store.close()
      let left: readonly string[] = []
      const nothing = () => {
        left = leftOver(fixture.baseline)
        return left.length === 0
      }
      await fixture.eventually('everything this store opened is closed', nothing).catch(() => {})
      same(left, [], 'what this store opened and did not close')
    },
  },
]

/** What keeps a process alive now, and did not before the store was opened. */
function leftOver(baseline: Resources): readonly string[] {
  return Object.entries(resources()).flatMap(([name, count]) => (count > (baseline[name] ?? 0) ? [name] : []))
}
