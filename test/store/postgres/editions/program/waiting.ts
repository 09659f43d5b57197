import type { Stage } from '../../../../../src/store/conformance/stage.ts'
import type { Chapter } from '../program.ts'
import type { Recording } from '../recording.ts'

/** Longer than the program takes: whatever answers the claim is not the time. */
const LONG_MS = 600_000

export const waiting: Chapter = async (stage, recording) => {
  const hears = await stage.store.subscribe(() => {})
  await parked(stage, recording, async () => void (await stage.insert({ input: '{"n":1}' })))
  const key = { purpose: 'dedupe', key: '9:suite.job:w', until: undefined } as const
  await parked(stage, recording, async () => void (await stage.insert({ keys: [key] })))
  // Nothing comes: it gives its place up.
  const leaves = new AbortController()
  await parked(stage, recording, async () => leaves.abort(), leaves.signal)
  await hears[Symbol.asyncDispose]()
}

/** A claim that waits, and what is done once the database knows of it. */
async function parked(stage: Stage, recording: Recording, done: () => Promise<void>, signal?: AbortSignal) {
  const grant = stage.grant({ waitMs: LONG_MS, pollMs: LONG_MS, signal })
  const answer = stage.store.claim(grant)
  await recording.heard(
    'the claim is parked',
    ([, , text, values]) => isClaim(recording, text) && values[0] === grant.requestId,
  )
  await done()
  await answer
}

const isClaim = ({ statements }: Recording, text: string): boolean => text === statements.claim
