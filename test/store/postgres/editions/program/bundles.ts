import type { Job } from '../../../../../src/core/job.ts'
import type { Chapter } from '../program.ts'
import { ended, owned } from './settles.ts'

/** More than make a bundle. */
const MANY = 24

export const bundles: Chapter = async (fixture, recording) => {
  const { store } = fixture
  const jobs = await owned(fixture, MANY)
  const some = (from: number, to: number) => jobs.slice(from, to)
  await store.commit(some(0, 4).map((job) => ended(fixture, job)))
  await store.commit(some(4, 6).map((job) => ended(fixture, job, `{"of":"${job.id}"}`)))

  const [beaten, cancelled] = some(6, 8)
  if (!beaten || !cancelled) throw new Error('many are claimed')
  await fixture.beat([{ id: beaten.id, fence: beaten.lease?.fence ?? '', requestId: 'beat' }])
  await fixture.say(cancelled, { type: 'cancel', mode: 'hard' })
  // One of them is not in its bundle any more: none ends as a bundle, and each is told what became of it.
  await store.commit(some(7, 10).map((job) => ended(fixture, job)))

  const others = await owned(fixture, MANY, 'apart')
  const [first, second] = others
  if (!first || !second) throw new Error('many are claimed')
  await recording.transaction(async (tx) => void (await store.commit([ended(fixture, first)], tx)))
  await store.commit([ended(fixture, second)])
  // Somebody else was counting: whoever ended jobs has it done again.
  const [, , , , , ofBundles] = recording.lastValues(recording.statements.settleBundles)
  await recording.ask(recording.statements.recount, [ofBundles])
  const fault = { code: 'E_5XX_ORIGIN', message: 'bad gateway' }
  const failed = (job: Job) => {
    const { fence = '', expiresAt: notAfter } = job.lease ?? {}
    return fixture.change(job, { type: 'fail', fence, fault }, fixture.begin, { notAfter })
  }
  const tried = await owned(fixture, MANY, 'tried')
  // All of them, and then with one that is there no more.
  await store.commit(tried.slice(0, 4).map(failed))
  await store.commit(tried.slice(3, 6).map(failed))
  for (const { id } of [...some(0, 8), first, second, ...tried]) await fixture.expectFolds(id)
}
