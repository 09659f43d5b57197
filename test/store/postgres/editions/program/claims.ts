import type { StoreFixture } from '../../../../../src/store/conformance/store-fixture.ts'
import { queueKey } from '../../../../../src/store/store.ts'
import type { Chapter } from '../program.ts'

export const claims: Chapter = async (fixture, recording) => {
  await fixture.insert({ input: '{"n":1}' }, { input: '{"n":2}' }, { queue: 'side', type: 'mail' }, { priority: 9 })
  const grant = fixture.grant({ limit: 2 })
  await fixture.store.claim(grant)
  await fixture.store.claim({ ...grant, nonce: 'ffffffffffffffff' })
  await fixture.claim({ limit: 5, maxInputBytes: 1 })
  await fixture.claim()

  const [mail] = (await fixture.claim({ queue: 'side' })).jobs
  const job = await fixture.record(mail?.before.id ?? '')
  const fence = job.lease?.fence ?? ''
  await fixture.say(job, { type: 'release', fence, reason: 'unknown_type' })
  await fixture.setup.advance(11_000)
  await fixture.claim({ queue: 'side', serves: ['sms'] })
  await fixture.claim({ queue: 'side', serves: ['mail'] })

  await fixture.insert({ queue: 'still' })
  await pause(fixture, true)
  await fixture.claim({ queue: 'still' })
  await pause(fixture, false)
  await fixture.claim({ queue: 'still' })
  // As a process does that meets kinds which others have made.
  await recording.ask(recording.statements.kinds, ['{1,2}'])
  // As a claim does whose inputs are beyond what its own row carries.
  await recording.ask(recording.statements.inputs, ['{1,2}'])
}

async function pause({ store, tenant }: StoreFixture, paused: boolean): Promise<void> {
  const text = JSON.stringify({ paused })
  await store.settings([{ op: 'put', collection: 'queue', key: queueKey(tenant, 'still'), text, rev: undefined }])
}
