/** S8: due hands each record whose tick has come to one caller at a time, and again if nothing came of it. */
import { decideTick } from '../../core/decide.ts'
import type { Event } from '../../core/event.ts'
import type { Job } from '../../core/job.ts'
import type { MoveChange, Store } from '../store.ts'
import type { Check } from './conformance.ts'
import { holds, same } from './holds.ts'
import { growAll } from './specimens.ts'
import type { StoreFixture } from './store-fixture.ts'

export const due: readonly Check[] = [
  {
    name: 'whatever state a job is in, it is handed out once its tick has come',
    async run(fixture) {
      const jobs = await growAll(fixture)
      const handed = await drain(fixture.store, 3)
      const expected = jobs.filter(({ nextTickAt }) => nextTickAt !== undefined && nextTickAt <= fixture.begin)
      // A store may look too early, never too late: what is not due yet does not count.
      const now = await fixture.now()
      const mine = handed.filter(
        ({ spec, nextTickAt }) => spec.kind.tenant === fixture.tenant && (nextTickAt ?? now) <= now,
      )
      holds(expected.length > 3, 'some of the specimens are due')
      same(mine.map(({ id }) => id).toSorted(), expected.map(({ id }) => id).toSorted(), 'what is due, each once')
      for (const job of mine)
        same(
          job,
          jobs.find(({ id }) => id === job.id),
          'with its record',
        )
    },
  },
  {
    name: 'of several tickers one gets it',
    async run(fixture) {
      const jobs = await expired(fixture, 40)
      const other = await fixture.another()
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? fixture.store : other).due(7)),
      )
      const handed = [...answers.flatMap((answer) => answer.jobs), ...(await drain(other, 10))]
      const mine = handed.filter(({ spec }) => spec.kind.tenant === fixture.tenant).map(({ id }) => id)
      same(mine.toSorted(), jobs.map(({ id }) => id).toSorted(), 'each is handed out once')
      holds(
        answers.every((answer) => answer.jobs.length <= 7),
        'no more than asked for',
      )
    },
  },
  {
    name: 'what has been dealt with is not handed out again; a job moved to another time comes at that time',
    async run(fixture) {
      const [stalled, later] = await expired(fixture, 2)
      await drain(fixture.store, 50)
      const tick = decideTick(stalled as Job, fixture.begin, { actor: 'system', requestId: fixture.requestId() })
      holds(tick?.kind === 'accepted', 'an expired lease is due')
      const { job: after, events } = tick
      await fixture.apply(moved(stalled as Job, after, events))
      same(after.nextTickAt, undefined, 'the requeued job has no timer')
      // A wait whose time has come already is due at once, although its last hand-out was a moment ago.
      const orphan = await fixture.say(later as Job, { type: 'stall' }, fixture.begin - 30_000)
      const queued = await fixture.say(orphan, { type: 'requeue' }, fixture.begin - 30_000)
      const claimed = await fixture.say(
        queued,
        { type: 'claim', workerId: 'w', nonce: '00000000000000bb' },
        fixture.begin - 20_000,
      )
      const ids = (await drain(fixture.store, 50)).map(({ id }) => id)
      holds(ids.includes(claimed.id), 'a new tick that has come is handed out at once')
      holds(!ids.includes(after.id), 'what has no timer any more is not')
    },
  },
  {
    name: 'of two reapers of one expired lease one has its way',
    async run(fixture) {
      const jobs = await expired(fixture, 8)
      const other = await fixture.another()
      for (const job of jobs) {
        const changes = [fixture.store, other].map((store) => {
          const tick = decideTick(job, fixture.begin, { actor: 'system', requestId: fixture.requestId() })
          holds(tick?.kind === 'accepted', 'an expired lease is due')
          return { store, change: moved(job, tick.job, tick.events) }
        })
        const answers = await Promise.all(changes.map(({ store, change }) => store.commit([change])))
        const verdicts = answers.flatMap((answer) => answer.verdicts.map(({ status }) => status))
        same(verdicts.toSorted(), ['applied', 'conflict'], 'one verdict')
        same((await fixture.record(job.id)).stalls, 1, 'one stall')
        await fixture.expectFolds(job.id)
      }
    },
  },
  {
    name: 'what nothing came of is handed out again after five seconds',
    async run(fixture) {
      const [job] = await expired(fixture, 1)
      const first = await drain(fixture.store, 50)
      holds(
        first.some(({ id }) => id === job?.id),
        'it is handed out',
      )
      holds(!(await drain(fixture.store, 50)).some(({ id }) => id === job?.id), 'it is the first ticker’s for now')
      await fixture.setup.advance(5_000)
      const again = async () => (await drain(fixture.store, 50)).some(({ id }) => id === job?.id)
      await fixture.eventually('it is handed out again', again, 2_000)
    },
  },
  {
    name: 'a renewed lease is not due at its old end, and due at its new one',
    async run(fixture) {
      const policy = { leaseMs: 2_000 }
      const job = await fixture.claimed({ policy })
      await fixture.setup.advance(200)
      const fence = job.lease?.fence ?? ''
      const { items } = await fixture.store.heartbeat([{ id: job.id, fence, requestId: 'beat' }])
      holds(items[0]?.status === 'renewed', 'the lease is renewed')
      const { leaseExpiresAt } = items[0]
      let handedAt: number | undefined
      await fixture.eventually(
        'it is handed out at its new end',
        async () => {
          const { jobs, now } = await fixture.store.due(100)
          const found = jobs.find(({ id }) => id === job.id)
          // A store may look too early, never too late: only a record that is due counts.
          if (found !== undefined && (found.nextTickAt ?? 0) <= now) handedAt = now
          return handedAt !== undefined
        },
        8_000,
      )
      holds((handedAt ?? 0) >= leaseExpiresAt, 'not before')
      // A look too early that moved the tick five seconds ahead would show here, a busy machine would not.
      holds((handedAt ?? 0) <= leaseExpiresAt + 4_000, 'and not a whole hand-out later')
    },
  },
  {
    name: 'heartbeats put off the end of the lease, and no other clock',
    async run(fixture) {
      const leaseMs = 2_000
      const unstarted = await fixture.claimed({ policy: { leaseMs, startWithinMs: 2_500 } })
      const overdue = await fixture.claimed({ policy: { leaseMs, deadlineMs: 2_500 } })
      const endless = await fixture.claimed({ policy: { leaseMs, attemptMs: 2_500 } })
      const cancelled = await fixture.claimed({ policy: { leaseMs, cancelGraceMs: 2_500 } })
      const now = await fixture.now()
      await fixture.say(endless, { type: 'start', fence: endless.lease?.fence ?? '' }, now)
      await fixture.say(cancelled, { type: 'cancel', mode: 'soft' }, now)
      const waited = [unstarted, overdue, endless, cancelled]
      const handed = new Set<string>()
      let beats = 0
      await fixture.eventually(
        'each is handed out at its own time, although its owner lives',
        async () => {
          beats += 1
          const calls = waited.map(({ id, lease }) => ({ id, fence: lease?.fence ?? '', requestId: `${beats}` }))
          await fixture.beat(calls)
          const answer = await fixture.store.due(100)
          for (const { id, nextTickAt, lease } of answer.jobs) {
            if ((nextTickAt ?? answer.now) <= answer.now && (lease?.expiresAt ?? answer.now) > answer.now)
              handed.add(id)
          }
          return waited.every(({ id }) => handed.has(id))
        },
        8_000,
      )
    },
  },
]

/** Jobs whose lease ran out long ago. */
async function expired(fixture: StoreFixture, count: number): Promise<readonly Job[]> {
  const at = fixture.begin - 60_000
  const jobs = await fixture.insert(...Array.from({ length: count }, () => ({ at, policy: { leaseMs: 1_000 } })))
  const claims = jobs.map((job) => fixture.change(job, { type: 'claim', workerId: 'w', nonce: '00000000000000aa' }, at))
  same(
    await fixture.commit(...claims),
    jobs.map(() => ({ status: 'applied' })),
    'they are claimed',
  )
  return claims.map(({ after }) => after)
}

function moved(before: Job, after: Job, events: readonly Event[]): MoveChange {
  const nothing = { bodies: [], notAfter: undefined, give: [], take: [], spawn: undefined }
  return { kind: 'move', before, after, events, ...nothing }
}

/** Everything that is due, whosever it is. */
async function drain(store: Store, limit: number): Promise<readonly Job[]> {
  const handed: Job[] = []
  for (let calls = 0; calls < 10_000; calls += 1) {
    const { jobs } = await store.due(limit)
    if (jobs.length === 0) return handed
    handed.push(...jobs)
  }
  throw new Error('a store that is never done')
}
