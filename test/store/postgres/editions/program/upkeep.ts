import { compact } from '../../../../../src/core/compact.ts'
import { decide } from '../../../../../src/core/decide.ts'
import type { Chapter } from '../program.ts'
import { owned } from './settles.ts'

export const upkeep: Chapter = async (fixture, recording) => {
  const { store } = fixture
  const [long, gone] = await owned(fixture, 2)
  if (!long || !gone) throw new Error('two are claimed')
  const fence = long.lease?.fence ?? ''
  let job = await fixture.say(long, { type: 'start', fence })
  for (const pages of [1, 2, 3]) job = await fixture.say(job, { type: 'progress', fence, counters: { pages } })
  job = await fixture.say(job, { type: 'complete', fence })
  const compaction = compact(await fixture.events(job.id))
  if (compaction === undefined) throw new Error('there is something to compact')
  await fixture.commit({ kind: 'compact', before: { ...job, rev: job.rev - 1 }, ...compaction })
  await fixture.commit({ kind: 'compact', before: job, ...compaction })
  await fixture.expectFolds(job.id)

  const late = { type: 'complete', fence: '0.1.00000000000000ff', resultPtr: 'mem://late', executionMs: 7 } as const
  const decision = decide(job, { ...late, actor: 'worker:old', requestId: 'late' }, fixture.begin)
  if (decision.kind !== 'refused' || decision.annotation === undefined) throw new Error('a late word is noted')
  await fixture.commit({ kind: 'annotate', annotation: decision.annotation })
  await store.events({ by: 'annotation', id: job.id })

  const ended = await fixture.say(gone, { type: 'cancel', mode: 'hard' })
  await fixture.commit({ kind: 'purge', before: gone })
  await fixture.commit({ kind: 'purge', before: ended })

  const put = { op: 'put', collection: 'token', key: 'k', text: '{"a":1}', rev: 0 } as const
  await store.settings([put])
  await store.settings([put, { op: 'get', collection: 'token', key: 'k' }])
  await store.settings([{ op: 'list', collection: 'token', after: '', limit: 10 }])
  await store.settings([{ op: 'remove', collection: 'token', key: 'k', rev: 1 }])
  // Whoever ticks tidies up: the feed's end, its beginning, and what is found by its time.
  await fixture.setup.advance(4 * 86_400_000)
  await store.due(1)
  await recording.store.lastDue()
  await store.due(1, 'judgements')
}
