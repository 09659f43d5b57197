import type { StoreFixture } from '../../../../../src/store/conformance/store-fixture.ts'
import type { Chapter } from '../program.ts'
import type { Recording } from '../recording.ts'

/** Longer than the program takes: whatever answers the claim is not the time. */
const LONG_MS = 600_000

export const waiting: Chapter = async (fixture, recording) => {
  const hears = await fixture.store.subscribe(() => {})
  await parked(fixture, recording, async () => void (await fixture.insert({ input: '{"n":1}' })))
  const key = { purpose: 'dedupe', key: '9:suite.job:w', until: undefined } as const
  await parked(fixture, recording, async () => void (await fixture.insert({ keys: [key] })))
  // Nothing comes: it gives its place up.
  const leaves = new AbortController()
  await parked(fixture, recording, async () => leaves.abort(), leaves.signal)
  await hears[Symbol.asyncDispose]()
}

/** A claim that waits, and what is done once the database knows of it. */
async function parked(fixture: StoreFixture, recording: Recording, done: () => Promise<void>, signal?: AbortSignal) {
  const grant = fixture.grant({ waitMs: LONG_MS, pollMs: LONG_MS, signal })
  const answer = fixture.store.claim(grant)
  await recording.heard(
    'the claim is parked',
    ([, , text, values]) => isClaim(recording, text) && values[0] === grant.requestId,
  )
  await done()
  await answer
}

const isClaim = ({ statements }: Recording, text: string): boolean => text === statements.claim
