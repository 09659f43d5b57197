import type { Stage } from '../../../../../src/store/conformance/stage.ts'
import { queueKey } from '../../../../../src/store/store.ts'
import type { Chapter } from '../program.ts'

export const claims: Chapter = async (stage, recording) => {
  await stage.insert({ input: '{"n":1}' }, { input: '{"n":2}' }, { queue: 'side', type: 'mail' }, { priority: 9 })
  const grant = stage.grant({ limit: 2 })
  await stage.store.claim(grant)
  await stage.store.claim({ ...grant, nonce: 'ffffffffffffffff' })
  await stage.claim({ limit: 5, maxInputBytes: 1 })
  await stage.claim()

  const [mail] = (await stage.claim({ queue: 'side' })).jobs
  const job = await stage.record(mail?.before.id ?? '')
  const fence = job.lease?.fence ?? ''
  await stage.say(job, { type: 'release', fence, reason: 'unknown_type' })
  await stage.seat.advance(11_000)
  await stage.claim({ queue: 'side', serves: ['sms'] })
  await stage.claim({ queue: 'side', serves: ['mail'] })

  await stage.insert({ queue: 'still' })
  await pause(stage, true)
  await stage.claim({ queue: 'still' })
  await pause(stage, false)
  await stage.claim({ queue: 'still' })
  // As a process does that meets kinds which others have made.
  await recording.ask(recording.statements.kinds, ['{1,2}'])
}

async function pause({ store, tenant }: Stage, paused: boolean): Promise<void> {
  const text = JSON.stringify({ paused })
  await store.settings([{ op: 'put', collection: 'queue', key: queueKey(tenant, 'still'), text, rev: undefined }])
}
