import type { Chapter } from '../program.ts'
import { ended, owned } from './settles.ts'

/** More than make a bundle. */
const MANY = 24

export const bundles: Chapter = async (stage, recording) => {
  const { store } = stage
  const jobs = await owned(stage, MANY)
  const some = (from: number, to: number) => jobs.slice(from, to)
  await store.commit(some(0, 4).map((job) => ended(stage, job)))
  await store.commit(some(4, 6).map((job) => ended(stage, job, `{"of":"${job.id}"}`)))

  const [beaten, cancelled] = some(6, 8)
  if (!beaten || !cancelled) throw new Error('many are claimed')
  await stage.beat([{ id: beaten.id, fence: beaten.lease?.fence ?? '', requestId: 'beat' }])
  await stage.say(cancelled, { type: 'cancel', mode: 'hard' })
  // One of them is not in its bundle any more: none ends as a bundle, and each is told what became of it.
  await store.commit(some(7, 10).map((job) => ended(stage, job)))

  const others = await owned(stage, MANY, 'apart')
  const [first, second] = others
  if (!first || !second) throw new Error('many are claimed')
  await recording.transaction(async (tx) => void (await store.commit([ended(stage, first)], tx)))
  await store.commit([ended(stage, second)])
  // Somebody else was counting: whoever ended jobs has it done again.
  const [, , , , , ofBundles] = recording.lastValues(recording.statements.settleBundles)
  await recording.ask(recording.statements.recount, [ofBundles])
  for (const { id } of [...some(0, 8), first, second]) await stage.expectFolds(id)
}
