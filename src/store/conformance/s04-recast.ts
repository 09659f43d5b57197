/** S4: what admission makes of a job: sent elsewhere, labelled, put under further keys. */
import { gateOf } from '../../core/flow/gate.ts'
import { atRest, type Limit } from '../../core/flow/key.ts'
import type { Job } from '../../core/job.ts'
import type { Recast } from '../../core/recast.ts'
import type { Check } from './conformance.ts'
import { claims, idsOf, isHeld, takenOf } from './flows.ts'
import { holds, same } from './holds.ts'
import type { JobOptions, StoreFixture } from './store-fixture.ts'

const WAITING: JobOptions = { policy: { admission: true }, labels: { team: 'a' } }
const ELSEWHERE = { from: 'suite.job', to: 'cheap', queue: 'second', type: 'cheap.job', rule: 'r' }

export const recasts: readonly Check[] = [
  {
    name: 'what is sent elsewhere is claimed there and nowhere else, as what it has become, and comes back to there',
    async run(fixture) {
      const job = await admitted(fixture, { redirect: ELSEWHERE })
      const other = await fixture.another()
      same(idsOf((await fixture.claim()).jobs), [], 'not from the queue it was enqueued to')
      const { jobs } = await other.claim(fixture.grant({ queue: 'second' }))
      same(idsOf(jobs), [job.id], 'from the one it was sent to')
      same(jobs[0]?.before, job, 'with its record')
      same(jobs[0]?.before.spec.kind.type, 'cheap.job', 'of another type')
      const owned = await fixture.record(job.id)
      const released = await fixture.say(
        owned,
        { type: 'release', fence: fenceOf(owned), reason: 'shutdown' },
        await fixture.now(),
      )
      same(idsOf((await fixture.claim()).jobs), [], 'released, it is not back where it came from')
      same(idsOf((await fixture.claim({ queue: 'second' })).jobs), [released.id], 'but there again')
      await fixture.expectFolds(job.id)
    },
  },
  {
    name: 'it is found and counted by what was asked for, and by labels of either; another chance is one of what was asked for',
    async run(fixture) {
      const job = await admitted(fixture, { redirect: ELSEWHERE, labels: { risk: 'low', team: 'b' } })
      const found = async (query: object) =>
        (await fixture.store.find({ tenant: fixture.tenant, order: 'oldest', limit: 10, ...query })).jobs.map(
          ({ id }) => id,
        )
      same(await found({ labels: { risk: 'low' } }), [job.id], 'by a label that it was given')
      same(await found({ labels: { team: 'b', risk: 'low' } }), [job.id], 'by all of them')
      same(await found({ labels: { team: 'a' } }), [], 'not by one that was taken from it')
      same(
        await found({ queues: ['main'], types: ['suite.job'] }),
        [job.id],
        'by its queue and type as they were asked for',
      )
      same(await found({ queues: ['second'] }), [], 'and not by those it was sent to')
      const { tally = [] } = await fixture.store.events({ by: 'tally', tenant: fixture.tenant })
      same(
        tally.map(({ queue, jobType, state, count }) => [queue, jobType, state, count]),
        [['main', 'suite.job', 'queued', 1]],
        'counted once, as what was asked for',
      )
      const gone = await fixture.say(job, { type: 'cancel', mode: 'hard' }, await fixture.now())
      const again = await fixture.say(gone, { type: 'reopen' }, await fixture.now())
      same(
        [again.state, again.recast, again.spec.kind.queue, again.spec.labels],
        ['pending', undefined, 'main', { team: 'a' }],
        'asked for anew',
      )
      await fixture.expectRecord(again, 'kept like that')
      await fixture.expectFolds(job.id)
      const ended = await fixture.say(again, { type: 'cancel', mode: 'hard' }, await fixture.now())
      same(await fixture.commit({ kind: 'purge', before: ended }), [{ status: 'applied' }], 'it can be purged')
      same(await found({ labels: { risk: 'low' } }), [], 'with every mark that it had')
    },
  },
  {
    needs: 'flow',
    name: 'what is put under a key is held and let in by it like any other, in the lane it was sent to',
    async run(fixture) {
      const key = `gpu-${fixture.tenant}`
      const throttled = { throttles: [{ key, rule: 'r', limit: { concurrency: 1 } }], redirect: ELSEWHERE }
      const first = await admitted(fixture, throttled, { concurrency: 1 })
      const second = await admitted(fixture, throttled, { concurrency: 9 })
      same(second.spec.flow, { keys: [key], fair: undefined }, 'it has the key')
      same(idsOf(await claims(fixture)), [], 'nothing stands where it was enqueued to')
      same(
        idsOf(await claims(fixture, { queue: 'second' })),
        [first.id],
        'one of them, by the number that the key was born with',
      )
      same(await isHeld(fixture, second.id), true, 'the other is held')
      same(await takenOf(fixture, key), 1, 'and a slot is taken')
      const owned = await fixture.record(first.id)
      const fence = fenceOf(owned)
      const now = await fixture.now()
      await fixture.say(await fixture.say(owned, { type: 'start', fence }, now), { type: 'complete', fence }, now)
      same(idsOf(await claims(fixture, { queue: 'second' })), [second.id], 'it is let in when that has ended')
      for (const { id } of [first, second]) await fixture.expectFolds(id)
    },
  },
  {
    needs: 'flow',
    name: 'a key of its own stays before those it is put under, and it needs a slot of each',
    async run(fixture) {
      const [own, added] = [`own-${fixture.tenant}`, `added-${fixture.tenant}`]
      const options = { ...WAITING, flow: { keys: { [own]: {} } } }
      const waiting = await fixture.insertOne(options)
      const births = [birth(added, { concurrency: 1 })]
      const recast = { ...NOTHING, throttles: [{ key: added, rule: 'r', limit: { concurrency: 1 } }] }
      const change = fixture.change(waiting, { ...ADMIT, recast }, await fixture.now(), { births })
      same(change.after.spec.flow?.keys, [own, added], 'behind its own')
      await fixture.apply(change)
      const plain = await fixture.insertOne({ flow: { keys: { [added]: { concurrency: 1 } } } })
      const taken = new Set(idsOf(await claims(fixture)))
      same(taken.size, 1, 'one of the two that share it')
      holds(taken.has(waiting.id) || taken.has(plain.id), 'whichever came first')
    },
  },
]

const NOTHING: Recast = { redirect: undefined, labels: undefined, throttles: undefined }
const ADMIT = { type: 'admit', rule: 'r', policyHash: 'h' } as const

const birth = (key: string, limit: Limit) => ({ key, gate: gateOf(atRest(key), limit), text: `limits of ${key}` })

/** A job that waited to be judged, and was admitted as something else; `born`: what its key is to be born with. */
async function admitted(fixture: StoreFixture, made: Partial<Recast>, born: Limit = {}): Promise<Job> {
  const waiting = await fixture.insertOne(WAITING)
  const recast = { ...NOTHING, ...made }
  const births = made.throttles?.map(({ key }) => birth(key, born))
  return fixture.apply(fixture.change(waiting, { ...ADMIT, recast }, fixture.begin, { births }))
}

const fenceOf = (job: Job): string => job.lease?.fence ?? ''
