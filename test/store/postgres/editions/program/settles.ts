import type { Job } from '../../../../../src/core/job.ts'
import type { Stage } from '../../../../../src/store/conformance/stage.ts'
import type { Chapter } from '../program.ts'

export const settles: Chapter = async (stage, recording) => {
  const { store } = stage
  const [one, two, three, lost, late, inside] = await owned(stage, 6)
  if (!one || !two || !three || !lost || !late || !inside) throw new Error('six are claimed')
  await store.commit([ended(stage, one, '{"ok":true}')])
  await store.commit([ended(stage, two), ended(stage, three)])

  // Somebody has cancelled it meanwhile: what its owner says is missed, and is told why.
  await stage.say(lost, { type: 'cancel', mode: 'hard' })
  await store.commit([ended(stage, lost)])
  await store.commit([{ ...ended(stage, late), notAfter: stage.begin - 1 }])

  await recording.transaction(async (tx) => void (await store.commit([ended(stage, inside, '"in tx"')], tx)))
  for (const { id } of [one, lost, inside]) await stage.expectFolds(id)
}

export async function owned(stage: Stage, count: number, queue = 'main'): Promise<readonly Job[]> {
  await stage.insert(...Array.from({ length: count }, (_, n) => ({ queue, input: `{"n":${n}}` })))
  const { jobs } = await stage.claim({ queue, limit: count })
  const { items } = await stage.store.load(jobs.map(({ before }) => ({ id: before.id })))
  return items.flatMap((item) => (item === undefined ? [] : [item.job]))
}

/** As its owner would end it. */
export function ended(stage: Stage, job: Job, output?: string) {
  const fence = job.lease?.fence ?? ''
  const result = output === undefined ? undefined : { name: 'output', size: output.length, digest: undefined }
  const bodies = output === undefined ? [] : [{ name: 'output', text: output }]
  const words = { type: 'complete', fence, result, requestId: `${fence}/complete` } as const
  return stage.change(job, words, stage.begin, { notAfter: job.lease?.expiresAt, bodies })
}
