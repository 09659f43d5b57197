/**
 * What is recorded of an edition: a process that does everything a store can be asked for, one thing at a time, so that every
 * function is called in the ways in which it is called.
 */
import { openStoreFixture, type StoreFixture } from '../../../../src/store/conformance/store-fixture.ts'
import { bundles } from './program/bundles.ts'
import { claims } from './program/claims.ts'
import { enqueues } from './program/enqueues.ts'
import { flows } from './program/flows.ts'
import { leases } from './program/leases.ts'
import { moves } from './program/moves.ts'
import { reads } from './program/reads.ts'
import { settles } from './program/settles.ts'
import { upkeep } from './program/upkeep.ts'
import { waiting } from './program/waiting.ts'
import type { Recording } from './recording.ts'

export type Chapter = (fixture: StoreFixture, recording: Recording) => Promise<void>

/** In this order: what is read and removed at the end is what the others have left. */
const CHAPTERS: readonly Chapter[] = [enqueues, claims, settles, moves, bundles, leases, waiting, flows, upkeep, reads]

export async function runProgram(recording: Recording): Promise<void> {
  const setup = {
    store: recording.store,
    advance: (ms: number) => recording.advance(ms),
    close: async () => {},
  }
  for (const chapter of CHAPTERS) {
    await chapter(await openStoreFixture(setup, {}), recording)
    await recording.advance(1_000)
  }
}
