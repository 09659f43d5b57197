import type { Chapter } from '../program.ts'

const KEY = { purpose: 'dedupe', key: '9:suite.job:k', until: undefined } as const
const ADMITTED = { admission: true } as const

export const enqueues: Chapter = async (fixture, recording) => {
  const { store } = fixture
  const { statements } = recording
  const plain = [
    fixture.draft({ input: '{"a":1}', labels: { site: 'b' }, correlationId: 'c1' }),
    fixture.draft({ input: '{"a":2}', priority: 0, workflowId: 'w1' }),
    fixture.draft({ type: 'other.job', runAt: fixture.begin + 60_000, policy: { deadlineMs: 600_000 } }),
  ]
  await store.insert(plain)
  await store.insert([fixture.draft({ policy: ADMITTED }), fixture.draft({ policy: ADMITTED, input: '1' })])
  // Somebody was first: the batch is broken up, and each is told who.
  await store.insert([...plain.slice(0, 1), fixture.draft()])

  await store.insert([
    fixture.draft({ keys: [KEY], alias: 'a-1', dedupeKey: 'k', input: '1' }),
    fixture.draft({ alias: 'a-2' }),
  ])
  await store.insert([fixture.draft({ keys: [KEY] })])
  await store.insert([fixture.draft({ policy: ADMITTED, alias: 'a-3' })])
  await store.insert([fixture.draft({ policy: ADMITTED, alias: 'a-3', keys: [KEY] })])
  await recording.ask(statements.enqueueEach, recording.lastValues(statements.enqueue))

  await store.insert([fixture.draft({ alias: 'a-4' }), fixture.draft()], undefined, true)
  await store.insert([fixture.draft({ alias: 'a-4' }), fixture.draft()], undefined, true)

  await recording.transaction(async (tx) => {
    await store.insert([fixture.draft({ keys: [{ ...KEY, key: '9:suite.job:tx' }], input: '{"a":3}' })], tx)
    await store.insert([fixture.draft({ keys: [KEY], input: '1' })], tx)
    await store.insert([fixture.draft({ alias: 'a-5' }), fixture.draft()], tx, true)
  })
  await recording.transaction(
    async (tx) => void (await store.insert([fixture.draft({ alias: 'a-6' })], tx)),
    'rollback',
  )
}
