/** S5: heartbeat renews what is still owned, and only that, as core would. */
import { isMereRenewal, stillHere } from '../../core/decide/heartbeat.ts'
import { decide } from '../../core/decide.ts'
import { type Job, STATES, type State } from '../../core/job.ts'
import { leaseRenewedAt, leaseWindowMs } from '../../core/timers.ts'
import { movesFrom } from '../../core/transitions.ts'
import type { Beat, Beaten } from '../store.ts'
import type { Check } from './conformance.ts'
import { holds, same } from './holds.ts'
import { grow, SPECIMENS, type Specimen } from './specimens.ts'
import type { StoreFixture } from './store-fixture.ts'

export const heartbeat: readonly Check[] = [
  ...STATES.map(asCoreDecides),
  {
    name: 'a repeated heartbeat changes nothing, the next one does',
    async run(fixture) {
      const job = await fixture.claimed()
      const first = beatOf(job, 'beat-1')
      const once = await beat(fixture, first)
      const again = await beat(fixture, first)
      same(again, { ...once, replayed: true }, 'the same answer again')
      const next = await beat(fixture, beatOf(job, 'beat-2'))
      holds(once.status === 'renewed' && next.status === 'renewed', 'both are renewed')
      same([next.rev, next.beats, next.replayed], [once.rev + 1, once.beats + 1, false], 'one revision, one beat more')
      same((await fixture.record(job.id)).lease?.lastBeatId, 'beat-2', 'the record knows the last one')
      await fixture.expectFolds(job.id)
    },
  },
  {
    name: 'a batch is answered one by one: mine, another’s, nobody’s, unknown',
    async run(fixture) {
      const mine = await fixture.claimed({ queue: 'a' })
      const theirs = await fixture.claimed({ queue: 'b' })
      const queued = await fixture.insertOne({ queue: 'c' })
      const beats = [
        beatOf(mine, 'a'),
        { ...beatOf(theirs, 'b'), fence: `${fenceOf(theirs).slice(0, -1)}x` },
        { ...beatOf(theirs, 'c'), fence: fenceOf(mine) },
        { id: queued.id, fence: fenceOf(mine), requestId: 'd' },
        { id: fixture.id(), fence: fenceOf(mine), requestId: 'e' },
        { ...beatOf(mine, 'f'), fence: '' },
      ]
      const { items, now } = await fixture.store.heartbeat(beats)
      holds(now >= fixture.begin, 'the answer carries the clock')
      const statuses = items.map(({ status }) => status)
      // Jobs are named more than once here. An adapter sees to that itself: `busy` is for rows that another commit has
      // locked, and nobody else is at work here.
      same(statuses.slice(1), ['lost', 'lost', 'lost', 'lost', 'lost'], 'who does not own it has lost it')
      same(statuses[0], 'renewed', 'the owner’s is renewed')
      await fixture.expectRecord(theirs, 'the other job is untouched')
      await fixture.expectRecord(queued, 'so is the queued one')
      same((await fixture.store.heartbeat([])).items, [], 'nothing in, nothing out')
    },
  },
  {
    name: 'a fence is compared whole: what means the same number is another fence',
    async run(fixture) {
      const job = await fixture.claimed()
      const [generation, attempt, nonce] = fenceOf(job).split('.')
      const others = [
        `${generation}.0${attempt}.${nonce}`,
        `0${generation}.${attempt}.${nonce}`,
        `${generation}.+${attempt}.${nonce}`,
        ` ${fenceOf(job)}`,
        `${fenceOf(job)} `,
        fenceOf(job).toUpperCase(),
        `${generation}.${attempt}.0${nonce}`,
        `${generation}.${attempt}.${nonce?.slice(1)}`,
      ].filter((fence) => fence !== fenceOf(job))
      for (const [n, fence] of others.entries())
        same((await beat(fixture, { ...beatOf(job, `other-${n}`), fence })).status, 'lost', fence)
      await fixture.expectRecord(job, 'nothing was renewed')
    },
  },
  {
    name: 'a cancel is core’s to tell, before it was delivered and after: the heartbeat changes nothing',
    async run(fixture) {
      const claimed = await fixture.claimed()
      await beat(fixture, beatOf(claimed, 'before'))
      const renewed = await fixture.record(claimed.id)
      const asked = await fixture.say(renewed, { type: 'cancel', mode: 'soft', reason: 'enough' }, renewed.updatedAt)
      const first = beatOf(asked, 'a')
      same(await beat(fixture, first), { status: 'careful' }, 'there is more to say')
      await fixture.expectRecord(asked, 'nothing was said yet')
      const told = await fixture.say(asked, stillHere(asked, first.fence, first.requestId), asked.updatedAt)
      holds(told.cancel?.deliveredAt !== undefined, 'the delivery is on the record')
      for (const again of [first, beatOf(told, 'b')])
        same(await beat(fixture, again), { status: 'careful' }, 'the owner is to be told again')
      same((await beat(fixture, { ...first, fence: '0.1.00000000000000ff' })).status, 'lost', 'nobody else is')
      await fixture.expectRecord(told, 'the record is what core makes of it')
      await fixture.expectFolds(asked.id)
    },
  },
  {
    name: 'a cancel that outlives its attempt is core’s to tell in the next one',
    async run(fixture) {
      const options = { queue: 'undo' }
      const specimen = SPECIMENS.queued.find(({ name }) => name === 'compensating after a soft cancel') as Specimen
      const queued = await grow(fixture, specimen, options)
      same((await fixture.claim({ ...options, limit: 1 })).jobs[0]?.before.id, queued.id, 'it is claimed again')
      const job = await fixture.record(queued.id)
      same(await beat(fixture, beatOf(job, 'a')), { status: 'careful' }, 'there is more to say')
      await fixture.expectRecord(job, 'nothing was said yet')
    },
  },
  {
    name: 'where its document wants to read of each heartbeat, core decides it from the first claim on, however many are claimed',
    async run(fixture) {
      const options = { queue: 'bound', policy: { dialect: '001', maxStalls: 0 } } as const
      for (let i = 0; i < 20; i += 1) await fixture.insertOne(options)
      const { jobs } = await fixture.claim({ queue: options.queue, limit: 20 })
      same(jobs.length, 20, 'all are claimed')
      for (const { before } of jobs) {
        const job = await fixture.record(before.id)
        same(await beat(fixture, beatOf(job, fixture.requestId())), { status: 'careful' }, 'there is an entry to write')
        await fixture.expectRecord(job, 'nothing was said yet')
      }
    },
  },
  {
    name: 'heartbeats that core has decided are an entry each, however fast they come',
    async run(fixture) {
      const claimed = await fixture.claimed({ queue: 'told', policy: { dialect: '001', maxStalls: 0 } })
      let job = claimed
      for (const name of ['a', 'b', 'c'])
        job = await fixture.say(job, stillHere(job, fenceOf(claimed), name), claimed.updatedAt)
      const beats = (await fixture.events(job.id)).filter(({ type }) => type === 'heartbeat')
      same(
        beats.map(({ rev, requestId }) => [rev, requestId]),
        ['a', 'b', 'c'].map((name, i) => [claimed.rev + 1 + i, name]),
        'each as it was written',
      )
      await fixture.expectFolds(job.id)
    },
  },
  {
    name: 'many heartbeats of an attempt fold into the record, however they are kept',
    async run(fixture) {
      const claimed = await fixture.claimed()
      let job = await fixture.say(claimed, { type: 'start', fence: fenceOf(claimed) }, claimed.updatedAt)
      for (let i = 0; i < 12; i += 1) {
        await beat(fixture, beatOf(job, `beat-${i}`))
        job = await fixture.record(job.id)
        const counters = { pages: 1 }
        if (i % 4 === 3)
          job = await fixture.say(job, { type: 'progress', fence: fenceOf(job), counters }, job.updatedAt)
      }
      same([job.lease?.beats, job.counters], [12, { pages: 3 }], 'all are counted')
      await fixture.expectRecord(job, 'the record is what core makes of it')
      await fixture.expectFolds(job.id)
      const beats = (await fixture.events(job.id)).flatMap((event) =>
        event.type === 'heartbeat' ? [event.payload.count] : [],
      )
      same(
        beats.reduce((sum, count) => sum + count, 0),
        12,
        'the log accounts for each',
      )
    },
  },
  {
    name: 'a heartbeat that is settled like any other word is one too',
    async run(fixture) {
      const job = await fixture.claimed()
      const after = await fixture.say(job, { type: 'heartbeat', fence: fenceOf(job) }, job.updatedAt)
      await fixture.expectRecord(after, 'the record is what core makes of it')
      const answer = await beat(fixture, beatOf(after, 'next'))
      same(answer.status === 'renewed' && answer.beats, 2, 'the next one counts on')
      await fixture.expectFolds(job.id)
    },
  },
]

/** Generated from the table: whatever state a job is in, the store renews exactly what core would. */
function asCoreDecides(state: State): Check {
  return {
    name: `of a job that is ${state}, it does what core decides`,
    async run(fixture) {
      const one = async (specimen: Specimen) => beatOne(fixture, specimen, await grow(fixture, specimen))
      await Promise.all(SPECIMENS[state].map(one))
    },
  }
}

async function beatOne(fixture: StoreFixture, { name }: Specimen, before: Job): Promise<void> {
  const fence = before.lease?.fence ?? before.lastClaim?.fence ?? '0.1.00000000000000aa'
  const requestId = fixture.requestId()
  const { answer, now } = await ask(fixture, { id: before.id, fence, requestId })
  const actor = `worker:${before.owner?.workerId ?? 'w0'}`
  // When the store did it: no later than it said so.
  const at =
    answer.status === 'renewed' ? leaseRenewedAt(answer.leaseExpiresAt, leaseWindowMs(before.spec.kind.policy)) : now
  holds(at <= now && at >= fixture.begin, `${name}: renewed from now on`)
  const decision = decide(before, { type: 'heartbeat', actor, requestId, fence }, at)
  if (decision.kind !== 'accepted') {
    same(answer, { status: 'lost' }, `${name}: core refuses, the lease is lost`)
    return fixture.expectRecord(before, `${name}: the record is untouched`)
  }
  holds(movesFrom('heartbeat', before.state) !== undefined, `${name}: the table has a heartbeat from ${before.state}`)
  if (!isMereRenewal(before)) {
    same(answer, { status: 'careful' }, `${name}: core has more to say`)
    return fixture.expectRecord(before, `${name}: the record is untouched`)
  }
  const { rev, lease } = decision.job
  const renewed = {
    status: 'renewed',
    rev,
    beats: lease?.beats,
    leaseExpiresAt: lease?.expiresAt,
    replayed: false,
  }
  same(answer, renewed, `${name}: the answer is what core makes of it`)
  await fixture.expectRecord(decision.job, `${name}: the record is what core makes of it`)
  await fixture.expectFolds(before.id)
}

const fenceOf = (job: Job): string => job.lease?.fence ?? ''

const beatOf = (job: Job, requestId: string): Beat => ({ id: job.id, fence: fenceOf(job), requestId })

const beat = async (fixture: StoreFixture, one: Beat): Promise<Beaten> => (await ask(fixture, one)).answer

/** `busy` is an honest answer: one asks again. */
async function ask(fixture: StoreFixture, one: Beat): Promise<{ readonly answer: Beaten; readonly now: number }> {
  for (let round = 0; round < 100; round += 1) {
    const { items, now } = await fixture.store.heartbeat([one])
    const answer = items[0] as Beaten
    if (answer.status !== 'busy') return { answer, now }
    await fixture.setup.advance(10)
  }
  throw new Error('nobody else is at work here, and the row is busy for ever')
}
