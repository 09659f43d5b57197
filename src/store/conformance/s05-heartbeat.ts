/** S5: heartbeat renews what is still owned, and only that, as core would. */
import { isMereRenewal, stillHere } from '../../core/decide/heartbeat.ts'
import { decide } from '../../core/decide.ts'
import { type Job, STATES, type State } from '../../core/job.ts'
import { leaseRenewedAt, leaseWindowMs } from '../../core/timers.ts'
import { movesFrom } from '../../core/transitions.ts'
import type { Beat, Beaten } from '../store.ts'
import type { Scene } from './conformance.ts'
import { holds, same } from './holds.ts'
import { grow, SPECIMENS, type Specimen } from './specimens.ts'
import type { Stage } from './stage.ts'

export const heartbeat: readonly Scene[] = [
  ...STATES.map(asCoreDecides),
  {
    name: 'a repeated heartbeat changes nothing, the next one does',
    async play(stage) {
      const job = await stage.claimed()
      const first = beatOf(job, 'beat-1')
      const once = await beat(stage, first)
      const again = await beat(stage, first)
      same(again, { ...once, replayed: true }, 'the same answer again')
      const next = await beat(stage, beatOf(job, 'beat-2'))
      holds(once.status === 'renewed' && next.status === 'renewed', 'both are renewed')
      same([next.rev, next.beats, next.replayed], [once.rev + 1, once.beats + 1, false], 'one revision, one beat more')
      same((await stage.record(job.id)).lease?.lastBeatId, 'beat-2', 'the record knows the last one')
      await stage.expectFolds(job.id)
    },
  },
  {
    name: 'a batch is answered one by one: mine, another’s, nobody’s, unknown',
    async play(stage) {
      const mine = await stage.claimed({ queue: 'a' })
      const theirs = await stage.claimed({ queue: 'b' })
      const queued = await stage.insertOne({ queue: 'c' })
      const beats = [
        beatOf(mine, 'a'),
        { ...beatOf(theirs, 'b'), fence: `${fenceOf(theirs).slice(0, -1)}x` },
        { ...beatOf(theirs, 'c'), fence: fenceOf(mine) },
        { id: queued.id, fence: fenceOf(mine), requestId: 'd' },
        { id: stage.id(), fence: fenceOf(mine), requestId: 'e' },
        { ...beatOf(mine, 'f'), fence: '' },
      ]
      const { items, now } = await stage.store.heartbeat(beats)
      holds(now >= stage.begin, 'the answer carries the clock')
      const statuses = items.map(({ status }) => status)
      // A batch may name a job twice: one of the two may be told to ask again.
      same(statuses.slice(1), ['lost', 'lost', 'lost', 'lost', 'lost'], 'who does not own it has lost it')
      same(statuses[0], 'renewed', 'the owner’s is renewed')
      await stage.expectRecord(theirs, 'the other job is untouched')
      await stage.expectRecord(queued, 'so is the queued one')
      same((await stage.store.heartbeat([])).items, [], 'nothing in, nothing out')
    },
  },
  {
    name: 'a fence is compared whole: what means the same number is another fence',
    async play(stage) {
      const job = await stage.claimed()
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
        same((await beat(stage, { ...beatOf(job, `other-${n}`), fence })).status, 'lost', fence)
      await stage.expectRecord(job, 'nothing was renewed')
    },
  },
  {
    name: 'a cancel is core’s to tell, before it was delivered and after: the heartbeat changes nothing',
    async play(stage) {
      const claimed = await stage.claimed()
      await beat(stage, beatOf(claimed, 'before'))
      const renewed = await stage.record(claimed.id)
      const asked = await stage.say(renewed, { type: 'cancel', mode: 'soft', reason: 'enough' }, renewed.updatedAt)
      const first = beatOf(asked, 'a')
      same(await beat(stage, first), { status: 'careful' }, 'there is more to say')
      await stage.expectRecord(asked, 'nothing was said yet')
      const told = await stage.say(asked, stillHere(asked, first.fence, first.requestId), asked.updatedAt)
      holds(told.cancel?.deliveredAt !== undefined, 'the delivery is on the record')
      for (const again of [first, beatOf(told, 'b')])
        same(await beat(stage, again), { status: 'careful' }, 'the owner is to be told again')
      same((await beat(stage, { ...first, fence: '0.1.00000000000000ff' })).status, 'lost', 'nobody else is')
      await stage.expectRecord(told, 'the record is what core makes of it')
      await stage.expectFolds(asked.id)
    },
  },
  {
    name: 'a cancel that outlives its attempt is core’s to tell in the next one',
    async play(stage) {
      const options = { queue: 'undo' }
      const specimen = SPECIMENS.queued.find(({ name }) => name === 'compensating after a soft cancel') as Specimen
      const queued = await grow(stage, specimen, options)
      same((await stage.claim({ ...options, limit: 1 })).jobs[0]?.before.id, queued.id, 'it is claimed again')
      const job = await stage.record(queued.id)
      same(await beat(stage, beatOf(job, 'a')), { status: 'careful' }, 'there is more to say')
      await stage.expectRecord(job, 'nothing was said yet')
    },
  },
  {
    name: 'where its document wants to read of each heartbeat, core decides it from the first claim on, however many are claimed',
    async play(stage) {
      const options = { queue: 'bound', policy: { dialect: '001', maxStalls: 0 } } as const
      for (let i = 0; i < 20; i += 1) await stage.insertOne(options)
      const { jobs } = await stage.claim({ queue: options.queue, limit: 20 })
      same(jobs.length, 20, 'all are claimed')
      for (const { before } of jobs) {
        const job = await stage.record(before.id)
        same(await beat(stage, beatOf(job, stage.requestId())), { status: 'careful' }, 'there is an entry to write')
        await stage.expectRecord(job, 'nothing was said yet')
      }
    },
  },
  {
    name: 'many heartbeats of an attempt fold into the record, however they are kept',
    async play(stage) {
      const claimed = await stage.claimed()
      let job = await stage.say(claimed, { type: 'start', fence: fenceOf(claimed) }, claimed.updatedAt)
      for (let i = 0; i < 12; i += 1) {
        await beat(stage, beatOf(job, `beat-${i}`))
        job = await stage.record(job.id)
        const counters = { pages: 1 }
        if (i % 4 === 3) job = await stage.say(job, { type: 'progress', fence: fenceOf(job), counters }, job.updatedAt)
      }
      same([job.lease?.beats, job.counters], [12, { pages: 3 }], 'all are counted')
      await stage.expectRecord(job, 'the record is what core makes of it')
      await stage.expectFolds(job.id)
      const beats = (await stage.events(job.id)).flatMap((event) =>
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
    async play(stage) {
      const job = await stage.claimed()
      const after = await stage.say(job, { type: 'heartbeat', fence: fenceOf(job) }, job.updatedAt)
      await stage.expectRecord(after, 'the record is what core makes of it')
      const answer = await beat(stage, beatOf(after, 'next'))
      same(answer.status === 'renewed' && answer.beats, 2, 'the next one counts on')
      await stage.expectFolds(job.id)
    },
  },
]

/** Generated from the table: whatever state a job is in, the store renews exactly what core would. */
function asCoreDecides(state: State): Scene {
  return {
    name: `of a job that is ${state}, it does what core decides`,
    async play(stage) {
      const one = async (specimen: Specimen) => beatOne(stage, specimen, await grow(stage, specimen))
      await Promise.all(SPECIMENS[state].map(one))
    },
  }
}

async function beatOne(stage: Stage, { name }: Specimen, before: Job): Promise<void> {
  const fence = before.lease?.fence ?? before.lastClaim?.fence ?? '0.1.00000000000000aa'
  const requestId = stage.requestId()
  const { answer, now } = await ask(stage, { id: before.id, fence, requestId })
  const actor = `worker:${before.owner?.workerId ?? 'w0'}`
  // When the store did it: no later than it said so.
  const at =
    answer.status === 'renewed' ? leaseRenewedAt(answer.leaseExpiresAt, leaseWindowMs(before.spec.kind.policy)) : now
  holds(at <= now && at >= stage.begin, `${name}: renewed from now on`)
  const decision = decide(before, { type: 'heartbeat', actor, requestId, fence }, at)
  if (decision.kind !== 'accepted') {
    same(answer, { status: 'lost' }, `${name}: core refuses, the lease is lost`)
    return stage.expectRecord(before, `${name}: the record is untouched`)
  }
  holds(movesFrom('heartbeat', before.state) !== undefined, `${name}: the table has a heartbeat from ${before.state}`)
  if (!isMereRenewal(before)) {
    same(answer, { status: 'careful' }, `${name}: core has more to say`)
    return stage.expectRecord(before, `${name}: the record is untouched`)
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
  await stage.expectRecord(decision.job, `${name}: the record is what core makes of it`)
  await stage.expectFolds(before.id)
}

const fenceOf = (job: Job): string => job.lease?.fence ?? ''

const beatOf = (job: Job, requestId: string): Beat => ({ id: job.id, fence: fenceOf(job), requestId })

const beat = async (stage: Stage, one: Beat): Promise<Beaten> => (await ask(stage, one)).answer

/** `busy` is an honest answer: one asks again. */
async function ask(stage: Stage, one: Beat): Promise<{ readonly answer: Beaten; readonly now: number }> {
  for (let round = 0; round < 100; round += 1) {
    const { items, now } = await stage.store.heartbeat([one])
    const answer = items[0] as Beaten
    if (answer.status !== 'busy') return { answer, now }
    await stage.seat.advance(10)
  }
  throw new Error('nobody else is at work here, and the row is busy for ever')
}
