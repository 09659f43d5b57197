import { expect, it } from 'vitest'
import type { Job } from '../../src/core/job.ts'
import { FlowKeys, type Said } from '../../src/engine/flow-keys.ts'
import { silentLog } from '../../src/system/log.ts'
import { EngineFixture } from './engine-fixture.ts'

it('a word that changes nothing is judged by what was known when it was said, whatever is forgotten while others are read', async () => {
  const fixture = new EngineFixture()
  const { tenant } = fixture.kind
  const [known, unknown] = [await fixture.enqueue(under('known')), await fixture.enqueue(under('unknown'))]
  let reads = 0
  const keys: FlowKeys = new FlowKeys({
    log: silentLog,
    store: {
      async events(query) {
        const page = await fixture.store.events(query)
        reads += 1
        // Another batch has met a conflict meanwhile.
        if (reads > 1) keys.forget(tenant, 'known')
        return page
      },
    },
  })
  await keys.views(tenant, ['known'])
  const heard = await keys.hear([succeeds(known), succeeds(unknown)], fixture.clock.now())
  expect(reads).toBe(2)
  expect(heard).toMatchObject([
    { key: 'known', move: { key: 'known', rev: 1, next: 'same' } },
    // Read since it was said: whatever becomes of the key from now on comes after it.
    { key: 'unknown', move: undefined },
  ])
  const [again] = await keys.hear([{ ...succeeds(known), isAgain: true }], fixture.clock.now())
  expect([reads, again?.move], 'once it met a conflict, it is read').toEqual([3, undefined])
})

const under = (key: string) => ({ flow: { keys: [key], fair: undefined } })

const succeeds = (job: Job): Said => ({
  job,
  heard: {
    key: job.spec.flow?.keys[0] ?? '',
    input: {
      type: 'succeeded',
      claimedAt: job.updatedAt,
      cause: { job: job.id, attempt: 1, code: undefined, actor: 'worker:w', requestId: 'r' },
    },
  },
})
