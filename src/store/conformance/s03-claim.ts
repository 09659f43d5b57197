/** S3: claim gives a job to one claimer, in lane order, and does what core makes of a claim. */
import { decide } from '../../core/decide.ts'
import { type Job, STATES, type State } from '../../core/job.ts'
import { movesFrom } from '../../core/transitions.ts'
import { type ClaimedJob, type Grant, type Lane, queueKey } from '../store.ts'
import type { Check } from './conformance.ts'
import { holds, same } from './holds.ts'
import { grow, SPECIMENS, type Specimen } from './specimens.ts'
import type { StoreFixture } from './store-fixture.ts'

export const claim: readonly Check[] = [
  ...STATES.map(asCoreDecides),
  {
    name: 'a job goes to one claimer, however many ask at once',
    async run(fixture) {
      const jobs = await fixture.insert(...Array.from({ length: 240 }, () => ({})))
      const other = await fixture.another()
      const given: string[] = []
      for (let round = 0; given.length < jobs.length && round < 100; round += 1) {
        const limits = [1, 3, 7, 11, 2, 5, 1, 10]
        const answers = await Promise.all(
          limits.map((limit, i) => (i % 2 === 0 ? fixture.store : other).claim(fixture.grant({ limit }))),
        )
        for (const [i, answer] of answers.entries()) {
          holds(answer.jobs.length <= (limits[i] as number), 'nobody gets more than asked for')
          given.push(...idsOf(answer.jobs))
        }
      }
      same(given.toSorted(), jobs.map(({ id }) => id).toSorted(), 'each job was given out once')
      for (const { id } of jobs.slice(0, 10)) await fixture.expectFolds(id)
    },
  },
  {
    name: 'lanes are served in the order asked, each first in, first out',
    async run(fixture) {
      const jobs = await fixture.insert(
        { queue: 'b', priority: 5 },
        { queue: 'a', priority: 9 },
        { queue: 'a', priority: 0, runAt: fixture.begin - 1_000, at: fixture.begin - 2_000 },
        { queue: 'a', priority: 0, runAt: fixture.begin - 2_000, at: fixture.begin - 2_000 },
        { queue: 'a', priority: 0, runAt: fixture.begin - 2_000, at: fixture.begin - 2_000 },
        { queue: 'c', priority: 0 },
      )
      const lanes = [lane(fixture, 'b', 5), lane(fixture, 'a', 0), lane(fixture, 'a', 9)]
      const order = [0, 3, 4, 2, 1].map((i) => jobs[i]?.id)
      same(idsOf((await fixture.claim({ lanes, limit: 4 })).jobs), order.slice(0, 4), 'lane by lane, oldest first')
      same(idsOf((await fixture.claim({ lanes, limit: 4 })).jobs), order.slice(4), 'and on from there')
      same((await fixture.claim({ lanes, limit: 4 })).jobs, [], 'a lane that was not asked for is left alone')
    },
  },
  {
    name: 'of a hundred lanes each is served where it stands in the order asked, whichever of them are empty',
    async run(fixture) {
      const jobs = await fixture.insert(
        { queue: 'q7', priority: 9 },
        { queue: 'q3', priority: 5 },
        { queue: 'q3', priority: 5 },
        { queue: 'q3', priority: 0 },
        { queue: 'q9', priority: 4, runAt: fixture.begin + 600_000 },
        { queue: 'q0', priority: 7 },
      )
      const queues = Array.from({ length: 10 }, (_, i) => `q${9 - i}`)
      // Priority 7 is not asked for.
      const priorities = [9, 8, 6, 5, 4, 3, 2, 1, 0]
      const lanes = priorities.flatMap((priority) => queues.map((queue) => lane(fixture, queue, priority)))
      const order = [0, 1, 2, 3].map((i) => jobs[i]?.id)
      same(idsOf((await fixture.claim({ lanes, limit: 2 })).jobs), order.slice(0, 2), 'as they were asked for')
      same(idsOf((await fixture.claim({ lanes, limit: 9 })).jobs), order.slice(2), 'and on from there')
      same((await fixture.claim({ lanes, limit: 9 })).jobs, [], 'not what is delayed, nor what was not asked for')
    },
  },
  {
    name: 'without lanes, or with the lanes of others, there is nothing',
    async run(fixture) {
      await fixture.insertOne({ queue: 'a' })
      same((await fixture.claim({ lanes: [] })).jobs, [], 'no lane, no job')
      const lanes = [
        lane(fixture, 'b', 5),
        lane(fixture, 'a', 4),
        { ...lane(fixture, 'a', 5), tenant: `${fixture.tenant}x` },
      ]
      same((await fixture.claim({ lanes })).jobs, [], 'another queue, priority or tenant')
      same((await fixture.claim({ queue: 'a' })).jobs.length, 1, 'its own lane gives it')
    },
  },
  {
    name: 'a lane asked for twice gives each of its jobs once',
    async run(fixture) {
      const jobs = await fixture.insert(...Array.from({ length: 20 }, (_, i) => ({ priority: i % 2 })))
      const lanes = [lane(fixture, 'main', 0), lane(fixture, 'main', 1), lane(fixture, 'main', 0)]
      const answer = await fixture.claim({ lanes, limit: 100 })
      const order = [0, 1].flatMap((priority) => jobs.filter((job) => job.priority === priority))
      same(
        answer.jobs.map(({ before }) => [before.id, before.priority]),
        order.map((job) => [job.id, job.priority]),
        'each once, as it was made',
      )
    },
  },
  {
    name: 'a delayed job is given when its time has come, not before',
    async run(fixture) {
      const runAt = (await fixture.now()) + 400
      const job = await fixture.insertOne({ runAt })
      const early = await fixture.claim()
      holds(early.now >= runAt || early.jobs.length === 0, 'not before its time')
      if (early.jobs.length > 0) return
      await fixture.setup.advance(400)
      await fixture.eventually('the job is given', async () => {
        const { now, jobs } = await fixture.claim()
        holds(jobs.length === 0 || now >= runAt, 'not before its time')
        return jobs[0]?.before.id === job.id
      })
    },
  },
  {
    name: 'a job whose time is over is given to nobody, whoever was handed its tick, and those behind it are',
    async run(fixture) {
      const at = fixture.begin - 60_000
      const over = { at, policy: { deadlineMs: 50_000 } }
      const [, one, , two] = await fixture.insert(over, { at, policy: { deadlineMs: 600_000 } }, over, { at })
      const other = await fixture.another()
      same(idsOf((await fixture.claim({ limit: 1 })).jobs), [one?.id], 'the first that is in time')
      // Handed out, it is the ticker's, although that has said nothing yet.
      await other.due(1_000)
      same(idsOf((await fixture.claim({ limit: 10 })).jobs), [two?.id], 'and the next')
      same((await fixture.claim({ limit: 10 })).jobs, [], 'and nothing else')
    },
  },
  {
    name: 'a paused queue gives nothing from the moment the pause is answered, and everything once it is over',
    async run(fixture) {
      const jobs = await fixture.insert({ queue: 'p' }, { queue: 'p' }, { queue: 'q' })
      const other = await fixture.another()
      await pause(fixture, 'p', true)
      const lanes = [lane(fixture, 'p', 5), lane(fixture, 'q', 5)]
      const grants = Array.from({ length: 6 }, () => fixture.grant({ lanes, limit: 10 }))
      const answers = await Promise.all(grants.map((grant, i) => (i % 2 === 0 ? fixture.store : other).claim(grant)))
      same(
        answers.flatMap((answer) => idsOf(answer.jobs)),
        [jobs[2]?.id],
        'only the other queue gives',
      )
      const late = await fixture.insertOne({ queue: 'p' })
      same((await fixture.claim({ lanes })).jobs, [], 'new jobs of a paused queue stay')
      await pause(fixture, 'p', false)
      const ids = [jobs[0]?.id, jobs[1]?.id, late.id]
      same(idsOf((await fixture.claim({ lanes })).jobs), ids, 'all are given once the pause is over')
    },
  },
  {
    name: 'a pause is for one tenant',
    async run(fixture) {
      const other = `${fixture.tenant}-other`
      const [mine, theirs] = await fixture.insert({ queue: 'p' }, { queue: 'p', tenant: other })
      await pause(fixture, 'p', true)
      const lanes = [lane(fixture, 'p', 5), { ...lane(fixture, 'p', 5), tenant: other }]
      same(idsOf((await fixture.claim({ lanes })).jobs), [theirs?.id], 'the other tenant is served')
      await fixture.expectRecord(mine as Job, 'the paused job stays as it was')
    },
  },
  {
    name: 'inputs ride along up to the bytes asked for',
    async run(fixture) {
      const inputs = ['x'.repeat(1_000), 'é'.repeat(500), 'z'.repeat(1_000), undefined]
      const jobs = await fixture.insert(
        ...inputs.map((input) => (input === undefined ? {} : { input })),
        ...inputs.map((input) => (input === undefined ? {} : { input })),
        { input: 'y' },
      )
      const { jobs: some } = await fixture.claim({ limit: 4, maxInputBytes: 2_500 })
      same(
        idsOf(some),
        jobs.slice(0, 4).map(({ id }) => id),
        'all are claimed',
      )
      same(
        some.map(({ input }) => input),
        [inputs[0], inputs[1], undefined, undefined],
        'the third is too much',
      )
      const { jobs: all } = await fixture.claim({ limit: 4, maxInputBytes: 8 << 20 })
      same(
        all.map(({ input }) => input),
        inputs,
        'all ride along where there is room',
      )
      const { jobs: none } = await fixture.claim({ limit: 4, maxInputBytes: 0 })
      same(
        none.map(({ input }) => input),
        [undefined],
        'none where there is no room',
      )
      const later = await fixture.loaded(jobs[2]?.id ?? '', ['input'])
      same(later?.bodies, { input: inputs[2] }, 'what did not ride along is loaded')
    },
  },
  {
    name: 'inputs of many pages come in the order of their jobs, as far as there is room',
    async run(fixture) {
      const inputs = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => letter.repeat(100_000))
      const jobs = await fixture.insert(
        ...inputs.slice(0, 2).map((input) => ({ input })),
        {},
        ...inputs.slice(2).map((input) => ({ input })),
      )
      const { jobs: claimed } = await fixture.claim({ limit: 10, maxInputBytes: 550_000 })
      same(
        idsOf(claimed),
        jobs.map(({ id }) => id),
        'all are claimed',
      )
      same(
        claimed.map(({ input }) => input?.[0]),
        ['a', 'b', undefined, 'c', 'd', 'e', undefined],
        'each has its own, and the last is too much',
      )
    },
  },
  {
    name: 'what is rescheduled is found in its new lane and at its new time',
    async run(fixture) {
      const [sooner, later, other] = await fixture.insert({ runAt: 4e12 }, {}, { priority: 5 })
      await fixture.say(sooner as Job, { type: 'reschedule', runAt: fixture.begin })
      await fixture.say(later as Job, { type: 'reschedule', runAt: 4e12 })
      await fixture.say(other as Job, { type: 'reschedule', priority: 1 })
      const lanes = [lane(fixture, 'main', 5)]
      same(idsOf((await fixture.claim({ lanes })).jobs), [sooner?.id], 'now, and in the lane it was in')
      same(idsOf((await fixture.claim({ lanes: [lane(fixture, 'main', 1)] })).jobs), [other?.id], 'in its new lane')
    },
  },
]

/** Generated from the table: whatever state a job is in, the store does what core decides, and nothing else. */
function asCoreDecides(state: State): Check {
  return {
    name: `of a job that is ${state}, it does what core decides`,
    async run(fixture) {
      const one = async (specimen: Specimen, i: number) => {
        const queue = `q${i}`
        const before = await grow(fixture, specimen, { queue })
        same(before.state, state, `the specimen ${specimen.name} is ${state}`)
        // Every other one is given away by somebody else than the worker.
        const actor = i % 2 === 0 ? {} : { actor: 'system:scheduler' }
        const grant = fixture.grant({ queue: before.spec.kind.queue, limit: 5 })
        await claimOne(fixture, specimen, before, { ...grant, ...actor })
      }
      await Promise.all(SPECIMENS[state].map(one))
    },
  }
}

async function claimOne(fixture: StoreFixture, { name }: Specimen, before: Job, grant: Grant): Promise<void> {
  const { now, jobs, replayed } = await fixture.store.claim(grant)
  const { actor, requestId, workerId, nonce } = grant
  const decision = decide(before, { type: 'claim', actor, requestId, workerId, nonce }, now)
  same(replayed, false, 'a first claim is no repetition')
  if (decision.kind !== 'accepted') {
    same(jobs, [], `${name}: core refuses, the store gives nothing`)
    return fixture.expectRecord(before, `${name}: the record is untouched`)
  }
  holds(movesFrom('claim', before.state) !== undefined, `${name}: the table has a claim from ${before.state}`)
  const { rev, attempt, lease } = decision.job
  const input = before.spec.input === undefined ? undefined : '{"n":1}'
  const expected = { before, rev, attempt, leaseExpiresAt: lease?.expiresAt, at: now, input }
  same(jobs, [expected], `${name}: the answer is the record as it was, and what was stamped`)
  await fixture.expectRecord(decision.job, `${name}: the record is what core makes of it`)
  const last = (await fixture.events(before.id)).at(-1)
  same(last, decision.events[0], `${name}: the event is what core makes of it`)
  await fixture.expectFolds(before.id)
}

const lane = (fixture: StoreFixture, queue: string, priority: number): Lane => ({
  tenant: fixture.tenant,
  queue,
  priority,
})

const idsOf = (jobs: readonly ClaimedJob[]): readonly string[] => jobs.map(({ before }) => before.id)

async function pause(fixture: StoreFixture, queue: string, paused: boolean): Promise<void> {
  const key = queueKey(fixture.tenant, queue)
  const text = JSON.stringify({ paused })
  const [answer] = await fixture.store.settings([{ op: 'put', collection: 'queue', key, text, rev: undefined }])
  same(answer?.status, 'ok', 'the queue is paused or resumed')
}
