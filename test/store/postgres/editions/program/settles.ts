import type { Job } from '../../../../../src/core/job.ts'
import type { StoreFixture } from '../../../../../src/store/conformance/store-fixture.ts'
import type { Chapter } from '../program.ts'

export const settles: Chapter = async (fixture, recording) => {
  const { store } = fixture
  const [one, two, three, lost, late, inside] = await owned(fixture, 6)
  if (!one || !two || !three || !lost || !late || !inside) throw new Error('six are claimed')
  await store.commit([ended(fixture, one, '{"ok":true}')])
  await store.commit([ended(fixture, two), ended(fixture, three)])

  // Somebody has cancelled it meanwhile: what its owner says is missed, and is told why.
  await fixture.say(lost, { type: 'cancel', mode: 'hard' })
  await store.commit([ended(fixture, lost)])
  await store.commit([{ ...ended(fixture, late), notAfter: fixture.begin - 1 }])

  await recording.transaction(async (tx) => void (await store.commit([ended(fixture, inside, '"in tx"')], tx)))
  for (const { id } of [one, lost, inside]) await fixture.expectFolds(id)
}

export async function owned(fixture: StoreFixture, count: number, queue = 'main'): Promise<readonly Job[]> {
  await fixture.insert(...Array.from({ length: count }, (_, n) => ({ queue, input: `{"n":${n}}` })))
  const { jobs } = await fixture.claim({ queue, limit: count })
  const { items } = await fixture.store.load(jobs.map(({ before }) => ({ id: before.id })))
  return items.flatMap((item) => (item === undefined ? [] : [item.job]))
}

/** As its owner would end it. */
export function ended(fixture: StoreFixture, job: Job, output?: string) {
  const fence = job.lease?.fence ?? ''
  const result = output === undefined ? undefined : { name: 'output', size: output.length, digest: undefined }
  const bodies = output === undefined ? [] : [{ name: 'output', text: output }]
  const words = { type: 'complete', fence, result, requestId: `${fence}/complete` } as const
  return fixture.change(job, words, fixture.begin, { notAfter: job.lease?.expiresAt, bodies })
}
