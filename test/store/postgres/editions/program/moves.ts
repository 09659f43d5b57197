import type { Job } from '../../../../../src/core/job.ts'
import type { Saying, StoreFixture } from '../../../../../src/store/conformance/store-fixture.ts'
import type { Chapter } from '../program.ts'
import { owned } from './settles.ts'

const KEY = { purpose: 'dedupe', key: '9:suite.job:moved', until: undefined } as const
const FAULT = { code: 'E_5XX_ORIGIN', message: 'bad gateway' } as const

export const moves: Chapter = async (fixture, recording) => {
  const { store } = fixture
  const jobs = await owned(fixture, 6)
  const by = (job: Job, words: object) => ({ ...words, fence: job.lease?.fence ?? '' }) as Saying

  // Of different kinds, in one call.
  const running = jobs.map((job) => fixture.change(job, by(job, { type: 'start' }), fixture.begin))
  await store.commit(running)
  const [a, b, c, d, e, f] = running.map(({ after }) => after) as [Job, Job, Job, Job, Job, Job]
  const memo = { name: 'step/pay', text: '{"paid":1}' }
  const step = { name: 'pay', compensate: true, body: { name: memo.name, size: 10 } }
  const stepped = fixture.change(c, by(c, { type: 'record', step }), fixture.begin, { bodies: [memo] })
  await store.commit([
    fixture.change(a, by(a, { type: 'fail', fault: FAULT }), fixture.begin),
    fixture.change(b, by(b, { type: 'wait', name: 'approved', timeoutMs: 60_000 }), fixture.begin),
    stepped,
    fixture.change(d, by(d, { type: 'release', reason: 'snoozed', runAt: fixture.begin + 5_000 }), fixture.begin),
  ])
  await store.commit([fixture.change(a, by(a, { type: 'fail', fault: FAULT }), fixture.begin)])
  const woken = await fixture.record(b.id)
  const signal = { type: 'signal', name: 'approved', body: { name: 'signal', size: 2, digest: undefined } } as const
  await fixture.apply(fixture.change(woken, signal, fixture.begin))
  await recording.transaction(async (tx) => {
    await store.commit([fixture.change(e, by(e, { type: 'progress', counters: { pages: 3 } }), fixture.begin)], tx)
  })
  await keys(fixture, f)
  await fixture.say(stepped.after, by(stepped.after, { type: 'cancel', mode: 'soft' }))
  await fixture.setup.advance(10_000)
  await fixture.claim()
  for (const { id } of jobs) await fixture.expectFolds(id)
}

/** Given up, taken, taken by somebody else, and brought by a successor. */
async function keys(fixture: StoreFixture, job: Job): Promise<void> {
  const holder = await fixture.insertOne({ keys: [KEY] })
  const cancelled = fixture.change(holder, { type: 'cancel', mode: 'hard' }, fixture.begin, { give: [KEY] })
  await fixture.apply(cancelled)
  const next = await fixture.insertOne({ keys: [KEY] })
  const reopened = fixture.change(cancelled.after, { type: 'reopen' }, fixture.begin, { take: [KEY] })
  await fixture.commit(reopened)
  await fixture.apply(fixture.change(next, { type: 'cancel', mode: 'hard' }, fixture.begin, { give: [KEY] }))
  await fixture.apply(reopened)
  const fence = job.lease?.fence ?? ''
  const spawn = fixture.draft({ parentId: job.id, input: '{"again":1}' })
  const fault = { code: 'bad_request', message: 'no' }
  await fixture.apply(fixture.change(job, { type: 'fail', fence, fault }, fixture.begin, { spawn }))
}
