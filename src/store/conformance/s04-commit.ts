/** S4: commit applies a change exactly when nothing has come between, whole or not at all. */
import type { Job } from '../../core/job.ts'
import type { MoveChange, NewJob, Verdict } from '../store.ts'
import type { Scene } from './conformance.ts'
import { holds, same } from './holds.ts'
import type { Stage } from './stage.ts'

export const commit: readonly Scene[] = [
  {
    name: 'record, events and bodies change together',
    async play(stage) {
      const job = await running(stage)
      const bodies = [
        { name: 'output', text: '{"n":1}' },
        { name: 'step/a', text: '1' },
        { name: 'step/b', text: '2' },
        { name: 'stepless', text: '3' },
      ]
      const change = stage.change(job, { type: 'complete', fence: fenceOf(job) }, stage.begin, { bodies })
      const after = await stage.apply({ ...change, notAfter: job.lease?.expiresAt })
      const { now, items } = await stage.store.load([
        { id: job.id, bodies: ['step/', 'output', 'nothing'] },
        { id: job.id },
        { id: job.id, requestId: change.events[0]?.requestId },
      ])
      holds(now >= stage.begin, 'the answer carries the clock')
      const asked = { output: '{"n":1}', 'step/a': '1', 'step/b': '2' }
      same(items[0], { job: after, bodies: asked, caused: [] }, 'the bodies asked for are there, and only they')
      same(items[1], { job: after, bodies: {}, caused: [] }, 'no body unless asked for')
      same(items[2], { job: after, bodies: {}, caused: change.events }, 'the request’s events are there when asked for')
      await stage.expectFolds(job.id)
    },
  },
  {
    name: 'a body written again is replaced',
    async play(stage) {
      const job = await running(stage)
      const body = (text: string) => ({ bodies: [{ name: 'checkpoint', text }] })
      const ref = { name: 'checkpoint', size: 1, digest: undefined }
      const say = { type: 'checkpoint', fence: fenceOf(job), body: ref } as const
      const once = await stage.apply(stage.change(job, say, stage.begin, body('1')))
      await stage.apply(stage.change(once, say, stage.begin, body('2')))
      same((await stage.loaded(job.id, ['checkpoint']))?.bodies, { checkpoint: '2' }, 'the last one stands')
    },
  },
  {
    name: 'a body named twice in one change has the text that came last, and its neighbours are none the worse',
    async play(stage) {
      const jobs = [await running(stage), await running(stage), await running(stage)]
      const twice = (name: string) => ({ bodies: [1, 2, 3].map((n) => ({ name, text: String(n) })) })
      const ref = { name: 'checkpoint', size: 1, digest: undefined }
      const [a, b, c] = jobs as [Job, Job, Job]
      const changes = [
        stage.change(a, { type: 'checkpoint', fence: fenceOf(a), body: ref }, stage.begin, twice('checkpoint')),
        stage.change(b, { type: 'complete', fence: fenceOf(b) }, stage.begin, twice('output')),
        stage.change(c, { type: 'fail', fence: fenceOf(c), fault: FAULT }, stage.begin, twice('step/a')),
      ]
      same(
        await stage.commit(...changes),
        changes.map(() => ({ status: 'applied' })),
        'all three are applied',
      )
      const names = ['checkpoint', 'output', 'step/a']
      for (const [i, { after }] of changes.entries()) {
        const name = names[i] as string
        same(
          await stage.loaded(after.id, names),
          { job: after, bodies: { [name]: '3' }, caused: [] },
          'the last one stands',
        )
        await stage.expectFolds(after.id)
      }
    },
  },
  {
    name: 'of two changes of one job in one call the second follows the first, or meets it',
    async play(stage) {
      const [a, b, c] = [await running(stage), await running(stage), await running(stage)]
      const counted = (job: Job, n: number) =>
        stage.change(job, { type: 'progress', fence: fenceOf(job), counters: { n } }, stage.begin)
      const ended = (job: Job) => stage.change(job, { type: 'complete', fence: fenceOf(job) }, stage.begin)
      const first = counted(a, 1)
      const second = ended(first.after)
      const winner = ended(b)
      const loser = counted(b, 1)
      const neighbour = ended(c)
      const verdicts = await stage.commit(first, winner, second, loser, neighbour)
      const applied: Verdict = { status: 'applied' }
      same(verdicts, [applied, applied, applied, { status: 'conflict' }, applied], 'each in its turn')
      for (const { after } of [second, winner, neighbour]) {
        await stage.expectRecord(after, 'what was applied is there')
        await stage.expectFolds(after.id)
      }
    },
  },
  {
    name: 'a change from an old revision is a conflict and leaves no trace',
    async play(stage) {
      const old = await stage.insertOne()
      const job = await stage.say(old, { type: 'signal', name: 's' })
      const stale = stage.change(old, { type: 'cancel', mode: 'hard' }, stage.begin, traces(stage))
      same(await stage.commit(stale), [{ status: 'conflict' }], 'it has moved on')
      await expectNoTrace(stage, job, stale)
      const missing = stage.draft().job
      const gone = stage.change(missing, { type: 'cancel', mode: 'hard' }, stage.begin)
      same(await stage.commit(gone), [{ status: 'conflict' }], 'what is not there cannot be moved')
    },
  },
  {
    name: 'a change that comes after its time is late and leaves no trace',
    async play(stage) {
      const job = await running(stage)
      const now = await stage.now()
      const say = { type: 'complete', fence: fenceOf(job) } as const
      const late = { ...stage.change(job, say, stage.begin, traces(stage)), notAfter: now }
      same(await stage.commit(late), [{ status: 'late' }], 'the clock has reached notAfter')
      await expectNoTrace(stage, job, late)
      const inTime = { ...stage.change(job, say, stage.begin), notAfter: now + 60_000 }
      same(await stage.commit(inTime), [{ status: 'applied' }], 'before it, the change is applied')
    },
  },
  {
    name: 'each change of a batch has a verdict of its own',
    async play(stage) {
      const [a, b, c, d, e] = await stage.insert({}, {}, {}, { keys: [DEDUPE] }, {})
      const end = (job: Job | undefined, rest = {}) =>
        stage.change(job as Job, { type: 'cancel', mode: 'hard' }, stage.begin, rest)
      await stage.say(b as Job, { type: 'signal', name: 's' })
      const missing = stage.draft().job
      const { verdicts, now } = await stage.store.commit([
        end(a),
        end(b),
        end(missing),
        { ...end(c), notAfter: 1 },
        end(e, { take: [DEDUPE] }),
        end(d),
      ])
      holds(now >= stage.begin, 'the answer carries the clock')
      const conflict: Verdict = { status: 'conflict' }
      const taken: Verdict = { status: 'taken', key: DEDUPE, holder: d?.id ?? '' }
      const applied: Verdict = { status: 'applied' }
      same(verdicts, [applied, conflict, conflict, { status: 'late' }, taken, applied], 'each on its own')
      const states = await Promise.all([a, b, c, d, e].map(async (job) => (await stage.record(job?.id ?? '')).state))
      same(states, ['cancelled', 'queued', 'queued', 'cancelled', 'queued'], 'what was applied was, the rest was not')
      same((await stage.store.commit([])).verdicts, [], 'nothing in, nothing out')
    },
  },
  {
    name: 'five hundred jobs live in step',
    async play(stage) {
      const jobs = await stage.insert(...Array.from({ length: 500 }, (_, i) => ({ input: `{"n":${i}}` })))
      const { jobs: claimed } = await stage.claim({ limit: 500 })
      same(
        claimed.map(({ before }) => before.id),
        jobs.map(({ id }) => id),
        'all are claimed, in order',
      )
      const { items } = await stage.store.load(jobs.map(({ id }) => ({ id })))
      const owned = items.map((item) => item?.job as Job)
      const beats = owned.map((job) => ({ id: job.id, fence: fenceOf(job), requestId: 'beat' }))
      const beaten = await stage.store.heartbeat(beats)
      holds(
        beaten.items.every(({ status }) => status === 'renewed'),
        'all are renewed',
      )
      const renewed = (await stage.store.load(jobs.map(({ id }) => ({ id })))).items.map((item) => item?.job as Job)
      const ends = renewed.map((job, i) => {
        const bodies = [{ name: 'output', text: String(i) }]
        return stage.change(job, { type: 'complete', fence: fenceOf(job) }, job.updatedAt, { bodies })
      })
      same(
        await stage.commit(...ends),
        jobs.map(() => ({ status: 'applied' })),
        'all are completed',
      )
      const done = await stage.store.load(jobs.map(({ id }) => ({ id, bodies: ['output'] })))
      const expected = ends.map(({ after }, i) => ({ job: after, bodies: { output: String(i) }, caused: [] }))
      same(done.items, expected, 'each with its own result')
      await stage.expectFolds(jobs[250]?.id ?? '')
    },
  },
  {
    name: 'of two changes from the same revision one is applied, in one batch or in two',
    async play(stage) {
      const jobs = await stage.insert(...Array.from({ length: 12 }, () => ({})))
      const other = await stage.another()
      for (const [i, job] of jobs.entries()) {
        const change = (name: string) => stage.change(job, { type: 'signal', name }, stage.begin)
        const pair = [change('one'), change('two')] as const
        const verdicts =
          i % 2 === 0
            ? await stage.commit(...pair)
            : (await Promise.all([stage.store.commit([pair[0]]), other.commit([pair[1]])])).flatMap((x) => x.verdicts)
        same(verdicts.map(({ status }) => status).toSorted(), ['applied', 'conflict'], 'one of the two')
        const winner = pair[verdicts.findIndex(({ status }) => status === 'applied')]
        await stage.expectRecord(winner?.after as Job, 'the record is the winner’s')
      }
    },
  },
  {
    name: 'a batch may hold two steps of one job: they are applied in order, or the second is a conflict',
    async play(stage) {
      const job = await stage.insertOne()
      const first = stage.change(job, { type: 'signal', name: 'one' }, stage.begin)
      const second = stage.change(first.after, { type: 'signal', name: 'two' }, stage.begin)
      const verdicts = (await stage.commit(first, second)).map(({ status }) => status)
      same(verdicts[0], 'applied', 'the first is applied')
      await stage.expectRecord(verdicts[1] === 'applied' ? second.after : first.after, 'the record says so')
      await stage.expectFolds(job.id)
    },
  },
  {
    name: 'a claim and a cancel at the same moment: the one that comes second sees the first',
    async play(stage) {
      const other = await stage.another()
      for (let round = 0; round < 12; round += 1) {
        const job = await stage.insertOne({ queue: 'race' })
        const cancel = stage.change(job, { type: 'cancel', mode: 'hard' }, stage.begin)
        const grant = stage.grant({ queue: 'race' })
        const [claimed, { verdicts }] = await Promise.all([stage.store.claim(grant), other.commit([cancel])])
        const state = (await stage.record(job.id)).state
        const applied = verdicts[0]?.status === 'applied'
        holds(!(applied && claimed.jobs.length > 0), 'not both')
        same(state, applied ? 'cancelled' : claimed.jobs.length > 0 ? 'claimed' : 'queued', 'the record says who won')
        await stage.expectFolds(job.id)
        if (state === 'queued') await stage.apply(cancel)
      }
    },
  },
  {
    name: 'a successor is born with the change that causes it, or not at all',
    async play(stage) {
      const job = await stage.insertOne({ keys: [DEDUPE] })
      const spawn = stage.draft({ input: '"again"', parentId: job.id, keys: [DEDUPE] })
      const change = stage.change(job, { type: 'cancel', mode: 'hard' }, stage.begin, { give: [DEDUPE], spawn })
      const moved = await stage.say(job, { type: 'signal', name: 's' })
      same(await stage.commit(change), [{ status: 'conflict' }], 'the cause is a conflict')
      await stage.expectGone(spawn.job.id, 'and there is no successor')
      const right = stage.change(moved, { type: 'cancel', mode: 'hard' }, stage.begin, { give: [DEDUPE], spawn })
      await stage.apply(right)
      same(await stage.loaded(spawn.job.id, ['input']), born(spawn), 'with the cause comes the successor')
      const next = stage.draft({ keys: [DEDUPE] })
      const { items } = await stage.store.insert([next])
      same(items[0]?.status === 'exists' && items[0].job.id, spawn.job.id, 'who has taken over the key')
      same(
        (await stage.claim()).jobs.map(({ before }) => before.id),
        [spawn.job.id],
        'and can be claimed',
      )
    },
  },
  {
    name: 'a successor whose key somebody else holds stops the whole change',
    async play(stage) {
      const [holder, job] = await stage.insert({ keys: [DEDUPE] }, {})
      const spawn = stage.draft({ keys: [DEDUPE] })
      const change = stage.change(job as Job, { type: 'cancel', mode: 'hard' }, stage.begin, { spawn })
      same(await stage.commit(change), [{ status: 'taken', key: DEDUPE, holder: holder?.id }], 'the key is taken')
      await stage.expectRecord(job as Job, 'the cause has not happened')
      await stage.expectGone(spawn.job.id, 'nor the successor')
    },
  },
  {
    name: 'in a transaction of the caller a change appears with its commit and vanishes with its rollback',
    needs: 'transaction',
    async play(stage) {
      const [kept, lost] = await stage.insert({}, {})
      for (const [job, end] of [
        [kept as Job, 'commit'],
        [lost as Job, 'rollback'],
      ] as const) {
        const open = await stage.transaction()
        const change = stage.change(job, { type: 'cancel', mode: 'hard' }, stage.begin)
        const { verdicts } = await stage.store.commit([change], open.tx)
        same(verdicts, [{ status: 'applied' }], 'applied, so far')
        await open[end]()
        await stage.expectRecord(end === 'commit' ? change.after : job, `after the ${end}`)
      }
    },
  },
]

const DEDUPE = { purpose: 'dedupe', key: 'k', until: undefined } as const

const FAULT = { code: 'E_TEST', message: 'no', class: 'permanent' } as const

const fenceOf = (job: Job): string => job.lease?.fence ?? ''

const born = ({ job }: NewJob) => ({ job, bodies: { input: '"again"' }, caused: [] })

async function running(stage: Stage): Promise<Job> {
  const claimed = await stage.claimed()
  return stage.say(claimed, { type: 'start', fence: fenceOf(claimed) }, claimed.updatedAt)
}

/** What a change that must not happen would have left behind. */
const traces = (stage: Stage) => ({
  bodies: [{ name: 'output', text: 'trace' }],
  take: [{ purpose: 'slot', key: 'trace', until: undefined } as const],
  spawn: stage.draft(),
})

async function expectNoTrace(stage: Stage, job: Job, change: MoveChange): Promise<void> {
  const loaded = await stage.loaded(job.id, ['output'])
  same(loaded, { job, bodies: {}, caused: [] }, 'neither record nor body has changed')
  await stage.expectFolds(job.id)
  await stage.expectGone(change.spawn?.job.id ?? '', 'no successor is born')
  const keys = [{ purpose: 'slot', key: 'trace', until: undefined } as const]
  same((await stage.store.insert([stage.draft({ keys })])).items, [{ status: 'inserted' }], 'no key is taken')
}
