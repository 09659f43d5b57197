import type { Job } from '../../../../../src/core/job.ts'
import type { Saying, Stage } from '../../../../../src/store/conformance/stage.ts'
import type { Chapter } from '../program.ts'
import { owned } from './settles.ts'

const KEY = { purpose: 'dedupe', key: '9:suite.job:moved', until: undefined } as const
const FAULT = { code: 'E_5XX_ORIGIN', message: 'bad gateway' } as const

export const moves: Chapter = async (stage, recording) => {
  const { store } = stage
  const jobs = await owned(stage, 6)
  const by = (job: Job, words: object) => ({ ...words, fence: job.lease?.fence ?? '' }) as Saying

  // Of different kinds, in one call.
  const running = jobs.map((job) => stage.change(job, by(job, { type: 'start' }), stage.begin))
  await store.commit(running)
  const [a, b, c, d, e, f] = running.map(({ after }) => after) as [Job, Job, Job, Job, Job, Job]
  const memo = { name: 'step/pay', text: '{"paid":1}' }
  const step = { name: 'pay', compensate: true, body: { name: memo.name, size: 10 } }
  const stepped = stage.change(c, by(c, { type: 'record', step }), stage.begin, { bodies: [memo] })
  await store.commit([
    stage.change(a, by(a, { type: 'fail', fault: FAULT }), stage.begin),
    stage.change(b, by(b, { type: 'wait', name: 'approved', timeoutMs: 60_000 }), stage.begin),
    stepped,
    stage.change(d, by(d, { type: 'release', reason: 'snoozed', runAt: stage.begin + 5_000 }), stage.begin),
  ])
  await store.commit([stage.change(a, by(a, { type: 'fail', fault: FAULT }), stage.begin)])
  const woken = await stage.record(b.id)
  const signal = { type: 'signal', name: 'approved', body: { name: 'signal', size: 2, digest: undefined } } as const
  await stage.apply(stage.change(woken, signal, stage.begin))
  await recording.transaction(async (tx) => {
    await store.commit([stage.change(e, by(e, { type: 'progress', counters: { pages: 3 } }), stage.begin)], tx)
  })
  await keys(stage, f)
  await stage.say(stepped.after, by(stepped.after, { type: 'cancel', mode: 'soft' }))
  await stage.seat.advance(10_000)
  await stage.claim()
  for (const { id } of jobs) await stage.expectFolds(id)
}

/** Given up, taken, taken by somebody else, and brought by a successor. */
async function keys(stage: Stage, job: Job): Promise<void> {
  const holder = await stage.insertOne({ keys: [KEY] })
  const cancelled = stage.change(holder, { type: 'cancel', mode: 'hard' }, stage.begin, { give: [KEY] })
  await stage.apply(cancelled)
  const next = await stage.insertOne({ keys: [KEY] })
  const reopened = stage.change(cancelled.after, { type: 'reopen' }, stage.begin, { take: [KEY] })
  await stage.commit(reopened)
  await stage.apply(stage.change(next, { type: 'cancel', mode: 'hard' }, stage.begin, { give: [KEY] }))
  await stage.apply(reopened)
  const fence = job.lease?.fence ?? ''
  const spawn = stage.draft({ parentId: job.id, input: '{"again":1}' })
  const fault = { code: 'bad_request', message: 'no' }
  await stage.apply(stage.change(job, { type: 'fail', fence, fault }, stage.begin, { spawn }))
}
