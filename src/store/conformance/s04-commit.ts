/** S4: commit applies a change exactly when nothing has come between, whole or not at all. */
import type { Job } from '../../core/job.ts'
import type { MoveChange, NewJob, Verdict } from '../store.ts'
import type { Check } from './conformance.ts'
import { holds, same } from './holds.ts'
import type { StoreFixture } from './store-fixture.ts'

export const commit: readonly Check[] = [
  {
    name: 'record, events and bodies change together',
    async run(fixture) {
      const job = await running(fixture)
      const bodies = [
        { name: 'output', text: '{"n":1}' },
        { name: 'step/a', text: '1' },
        { name: 'step/b', text: '2' },
        { name: 'stepless', text: '3' },
      ]
      const change = fixture.change(job, { type: 'complete', fence: fenceOf(job) }, fixture.begin, { bodies })
      const after = await fixture.apply({ ...change, notAfter: job.lease?.expiresAt })
      const { now, items } = await fixture.store.load([
        { id: job.id, bodies: ['step/', 'output', 'nothing'] },
        { id: job.id },
        { id: job.id, requestId: change.events[0]?.requestId },
      ])
      holds(now >= fixture.begin, 'the answer carries the clock')
      const asked = { output: '{"n":1}', 'step/a': '1', 'step/b': '2' }
      same(items[0], { job: after, bodies: asked, caused: [] }, 'the bodies asked for are there, and only they')
      same(items[1], { job: after, bodies: {}, caused: [] }, 'no body unless asked for')
      same(items[2], { job: after, bodies: {}, caused: change.events }, 'the request’s events are there when asked for')
      await fixture.expectFolds(job.id)
    },
  },
  {
    name: 'a body written again is replaced',
    async run(fixture) {
      const job = await running(fixture)
      const body = (text: string) => ({ bodies: [{ name: 'checkpoint', text }] })
      const ref = { name: 'checkpoint', size: 1, digest: undefined }
      const say = { type: 'checkpoint', fence: fenceOf(job), body: ref } as const
      const once = await fixture.apply(fixture.change(job, say, fixture.begin, body('1')))
      await fixture.apply(fixture.change(once, say, fixture.begin, body('2')))
      same((await fixture.loaded(job.id, ['checkpoint']))?.bodies, { checkpoint: '2' }, 'the last one stands')
    },
  },
  {
    name: 'a body named twice in one change has the text that came last, and its neighbours are none the worse',
    async run(fixture) {
      const jobs = [await running(fixture), await running(fixture), await running(fixture)]
      const twice = (name: string) => ({ bodies: [1, 2, 3].map((n) => ({ name, text: String(n) })) })
      const ref = { name: 'checkpoint', size: 1, digest: undefined }
      const [a, b, c] = jobs as [Job, Job, Job]
      const changes = [
        fixture.change(a, { type: 'checkpoint', fence: fenceOf(a), body: ref }, fixture.begin, twice('checkpoint')),
        fixture.change(b, { type: 'complete', fence: fenceOf(b) }, fixture.begin, twice('output')),
        fixture.change(c, { type: 'fail', fence: fenceOf(c), fault: FAULT }, fixture.begin, twice('step/a')),
      ]
      same(
        await fixture.commit(...changes),
        changes.map(() => ({ status: 'applied' })),
        'all three are applied',
      )
      const names = ['checkpoint', 'output', 'step/a']
      for (const [i, { after }] of changes.entries()) {
        const name = names[i] as string
        same(
          await fixture.loaded(after.id, names),
          { job: after, bodies: { [name]: '3' }, caused: [] },
          'the last one stands',
        )
        await fixture.expectFolds(after.id)
      }
    },
  },
  {
    name: 'of two changes of one job in one call the second follows the first, or meets it',
    async run(fixture) {
      const [a, b, c] = [await running(fixture), await running(fixture), await running(fixture)]
      const counted = (job: Job, n: number) =>
        fixture.change(job, { type: 'progress', fence: fenceOf(job), counters: { n } }, fixture.begin)
      const ended = (job: Job) => fixture.change(job, { type: 'complete', fence: fenceOf(job) }, fixture.begin)
      const first = counted(a, 1)
      const second = ended(first.after)
      const winner = ended(b)
      const loser = counted(b, 1)
      const neighbour = ended(c)
      const verdicts = await fixture.commit(first, winner, second, loser, neighbour)
      const applied: Verdict = { status: 'applied' }
      same(verdicts, [applied, applied, applied, { status: 'conflict' }, applied], 'each in its turn')
      for (const { after } of [second, winner, neighbour]) {
        await fixture.expectRecord(after, 'what was applied is there')
        await fixture.expectFolds(after.id)
      }
    },
  },
  {
    name: 'a change from an old revision is a conflict and leaves no trace',
    async run(fixture) {
      const old = await fixture.insertOne()
      const job = await fixture.say(old, { type: 'signal', name: 's' })
      const stale = fixture.change(old, { type: 'cancel', mode: 'hard' }, fixture.begin, traces(fixture))
      same(await fixture.commit(stale), [{ status: 'conflict' }], 'it has moved on')
      await expectNoTrace(fixture, job, stale)
      const missing = fixture.draft().job
      const gone = fixture.change(missing, { type: 'cancel', mode: 'hard' }, fixture.begin)
      same(await fixture.commit(gone), [{ status: 'conflict' }], 'what is not there cannot be moved')
    },
  },
  {
    name: 'a change that comes after its time is late and leaves no trace',
    async run(fixture) {
      const job = await running(fixture)
      const now = await fixture.now()
      const say = { type: 'complete', fence: fenceOf(job) } as const
      const late = { ...fixture.change(job, say, fixture.begin, traces(fixture)), notAfter: now }
      same(await fixture.commit(late), [{ status: 'late' }], 'the clock has reached notAfter')
      await expectNoTrace(fixture, job, late)
      const inTime = { ...fixture.change(job, say, fixture.begin), notAfter: now + 60_000 }
      same(await fixture.commit(inTime), [{ status: 'applied' }], 'before it, the change is applied')
    },
  },
  {
    name: 'each change of a batch has a verdict of its own',
    async run(fixture) {
      const [a, b, c, d, e] = await fixture.insert({}, {}, {}, { keys: [DEDUPE] }, {})
      const end = (job: Job | undefined, rest = {}) =>
        fixture.change(job as Job, { type: 'cancel', mode: 'hard' }, fixture.begin, rest)
      await fixture.say(b as Job, { type: 'signal', name: 's' })
      const missing = fixture.draft().job
      const { verdicts, now } = await fixture.store.commit([
        end(a),
        end(b),
        end(missing),
        { ...end(c), notAfter: 1 },
        end(e, { take: [DEDUPE] }),
        end(d),
      ])
      holds(now >= fixture.begin, 'the answer carries the clock')
      const conflict: Verdict = { status: 'conflict' }
      const taken: Verdict = { status: 'taken', key: DEDUPE, holder: d?.id ?? '' }
      const applied: Verdict = { status: 'applied' }
      same(verdicts, [applied, conflict, conflict, { status: 'late' }, taken, applied], 'each on its own')
      const states = await Promise.all([a, b, c, d, e].map(async (job) => (await fixture.record(job?.id ?? '')).state))
      same(states, ['cancelled', 'queued', 'queued', 'cancelled', 'queued'], 'what was applied was, the rest was not')
      same((await fixture.store.commit([])).verdicts, [], 'nothing in, nothing out')
    },
  },
  {
    name: 'five hundred jobs live in step',
    async run(fixture) {
      const jobs = await fixture.insert(...Array.from({ length: 500 }, (_, i) => ({ input: `{"n":${i}}` })))
      const { jobs: claimed } = await fixture.claim({ limit: 500 })
      same(
        claimed.map(({ before }) => before.id),
        jobs.map(({ id }) => id),
        'all are claimed, in order',
      )
      const { items } = await fixture.store.load(jobs.map(({ id }) => ({ id })))
      const owned = items.map((item) => item?.job as Job)
      const beats = owned.map((job) => ({ id: job.id, fence: fenceOf(job), requestId: 'beat' }))
      const beaten = await fixture.store.heartbeat(beats)
      holds(
        beaten.items.every(({ status }) => status === 'renewed'),
        'all are renewed',
      )
      const renewed = (await fixture.store.load(jobs.map(({ id }) => ({ id })))).items.map((item) => item?.job as Job)
      const ends = renewed.map((job, i) => {
        const bodies = [{ name: 'output', text: String(i) }]
        return fixture.change(job, { type: 'complete', fence: fenceOf(job) }, job.updatedAt, { bodies })
      })
      same(
        await fixture.commit(...ends),
        jobs.map(() => ({ status: 'applied' })),
        'all are completed',
      )
      const done = await fixture.store.load(jobs.map(({ id }) => ({ id, bodies: ['output'] })))
      const expected = ends.map(({ after }, i) => ({ job: after, bodies: { output: String(i) }, caused: [] }))
      same(done.items, expected, 'each with its own result')
      await fixture.expectFolds(jobs[250]?.id ?? '')
    },
  },
  {
    name: 'of two changes from the same revision one is applied, in one batch or in two',
    async run(fixture) {
      const jobs = await fixture.insert(...Array.from({ length: 12 }, () => ({})))
      const other = await fixture.another()
      for (const [i, job] of jobs.entries()) {
        const change = (name: string) => fixture.change(job, { type: 'signal', name }, fixture.begin)
        const pair = [change('one'), change('two')] as const
        const verdicts =
          i % 2 === 0
            ? await fixture.commit(...pair)
            : (await Promise.all([fixture.store.commit([pair[0]]), other.commit([pair[1]])])).flatMap((x) => x.verdicts)
        same(verdicts.map(({ status }) => status).toSorted(), ['applied', 'conflict'], 'one of the two')
        const winner = pair[verdicts.findIndex(({ status }) => status === 'applied')]
        await fixture.expectRecord(winner?.after as Job, 'the record is the winner’s')
      }
    },
  },
  {
    name: 'a batch may hold two steps of one job: they are applied in order, or the second is a conflict',
    async run(fixture) {
      const job = await fixture.insertOne()
      const first = fixture.change(job, { type: 'signal', name: 'one' }, fixture.begin)
      const second = fixture.change(first.after, { type: 'signal', name: 'two' }, fixture.begin)
      const verdicts = (await fixture.commit(first, second)).map(({ status }) => status)
      same(verdicts[0], 'applied', 'the first is applied')
      await fixture.expectRecord(verdicts[1] === 'applied' ? second.after : first.after, 'the record says so')
      await fixture.expectFolds(job.id)
    },
  },
  {
    name: 'a claim and a cancel at the same moment: the one that comes second sees the first',
    async run(fixture) {
      const other = await fixture.another()
      for (let round = 0; round < 12; round += 1) {
        const job = await fixture.insertOne({ queue: 'race' })
        const cancel = fixture.change(job, { type: 'cancel', mode: 'hard' }, fixture.begin)
        const grant = fixture.grant({ queue: 'race' })
        const [claimed, { verdicts }] = await Promise.all([fixture.store.claim(grant), other.commit([cancel])])
        const state = (await fixture.record(job.id)).state
        const applied = verdicts[0]?.status === 'applied'
        holds(!(applied && claimed.jobs.length > 0), 'not both')
        same(state, applied ? 'cancelled' : claimed.jobs.length > 0 ? 'claimed' : 'queued', 'the record says who won')
        await fixture.expectFolds(job.id)
        if (state === 'queued') await fixture.apply(cancel)
      }
    },
  },
  {
    name: 'a successor is born with the change that causes it, or not at all',
    async run(fixture) {
      const job = await fixture.insertOne({ keys: [DEDUPE] })
      const spawn = fixture.draft({ input: '"again"', parentId: job.id, keys: [DEDUPE] })
      const change = fixture.change(job, { type: 'cancel', mode: 'hard' }, fixture.begin, { give: [DEDUPE], spawn })
      const moved = await fixture.say(job, { type: 'signal', name: 's' })
      same(await fixture.commit(change), [{ status: 'conflict' }], 'the cause is a conflict')
      await fixture.expectGone(spawn.job.id, 'and there is no successor')
      const right = fixture.change(moved, { type: 'cancel', mode: 'hard' }, fixture.begin, { give: [DEDUPE], spawn })
      await fixture.apply(right)
      same(await fixture.loaded(spawn.job.id, ['input']), born(spawn), 'with the cause comes the successor')
      const next = fixture.draft({ keys: [DEDUPE] })
      const { items } = await fixture.store.insert([next])
      same(items[0]?.status === 'exists' && items[0].job.id, spawn.job.id, 'who has taken over the key')
      same(
        (await fixture.claim()).jobs.map(({ before }) => before.id),
        [spawn.job.id],
        'and can be claimed',
      )
    },
  },
  {
    name: 'a successor whose key somebody else holds stops the whole change',
    async run(fixture) {
      const [holder, job] = await fixture.insert({ keys: [DEDUPE] }, {})
      const spawn = fixture.draft({ keys: [DEDUPE] })
      const change = fixture.change(job as Job, { type: 'cancel', mode: 'hard' }, fixture.begin, { spawn })
      same(await fixture.commit(change), [{ status: 'taken', key: DEDUPE, holder: holder?.id }], 'the key is taken')
      await fixture.expectRecord(job as Job, 'the cause has not happened')
      await fixture.expectGone(spawn.job.id, 'nor the successor')
    },
  },
  {
    name: 'in a transaction of the caller a change appears with its commit and vanishes with its rollback',
    needs: 'transaction',
    async run(fixture) {
      const [kept, lost] = await fixture.insert({}, {})
      for (const [job, end] of [
        [kept as Job, 'commit'],
        [lost as Job, 'rollback'],
      ] as const) {
        const open = await fixture.transaction()
        const change = fixture.change(job, { type: 'cancel', mode: 'hard' }, fixture.begin)
        const { verdicts } = await fixture.store.commit([change], open.tx)
        same(verdicts, [{ status: 'applied' }], 'applied, so far')
        await open[end]()
        await fixture.expectRecord(end === 'commit' ? change.after : job, `after the ${end}`)
      }
    },
  },
]

const DEDUPE = { purpose: 'dedupe', key: 'k', until: undefined } as const

const FAULT = { code: 'E_TEST', message: 'no', class: 'permanent' } as const

const fenceOf = (job: Job): string => job.lease?.fence ?? ''

const born = ({ job }: NewJob) => ({ job, bodies: { input: '"again"' }, caused: [] })

async function running(fixture: StoreFixture): Promise<Job> {
  const claimed = await fixture.claimed()
  return fixture.say(claimed, { type: 'start', fence: fenceOf(claimed) }, claimed.updatedAt)
}

/** What a change that must not happen would have left behind. */
const traces = (fixture: StoreFixture) => ({
  bodies: [{ name: 'output', text: 'trace' }],
  take: [{ purpose: 'slot', key: 'trace', until: undefined } as const],
  spawn: fixture.draft(),
})

async function expectNoTrace(fixture: StoreFixture, job: Job, change: MoveChange): Promise<void> {
  const loaded = await fixture.loaded(job.id, ['output'])
  same(loaded, { job, bodies: {}, caused: [] }, 'neither record nor body has changed')
  await fixture.expectFolds(job.id)
  await fixture.expectGone(change.spawn?.job.id ?? '', 'no successor is born')
  const keys = [{ purpose: 'slot', key: 'trace', until: undefined } as const]
  same((await fixture.store.insert([fixture.draft({ keys })])).items, [{ status: 'inserted' }], 'no key is taken')
}
