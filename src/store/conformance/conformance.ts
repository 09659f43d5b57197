/**
 * The suite every store passes: the promises of the port, one file each. It needs no test framework. `conformance`
 * names the cases; whoever runs them calls `run`, which throws where a promise is broken.
 *
 *     for (const { promise, name, run } of conformance(subject)) test(`${promise} ${name}`, run)
 */
import type { Store, Transaction } from '../store.ts'
import { holds } from './holds.ts'
import { resources } from './resources.ts'
import { durable } from './s01-durable.ts'
import { insert } from './s02-insert.ts'
import { claim } from './s03-claim.ts'
import { sideLanes } from './s03-side-lanes.ts'
import { commit } from './s04-commit.ts'
import { recasts } from './s04-recast.ts'
import { upkeep } from './s04-upkeep.ts'
import { heartbeat } from './s05-heartbeat.ts'
import { events } from './s06-events.ts'
import { feed } from './s07-feed.ts'
import { due } from './s08-due.ts'
import { judgements } from './s08-judgements.ts'
import { replay } from './s09-replay.ts'
import { askedText } from './s10-asked-text.ts'
import { text } from './s10-text.ts'
import { keys } from './s11-keys.ts'
import { settings } from './s12-settings.ts'
import { clock } from './s13-clock.ts'
import { hints } from './s14-hints.ts'
import { reads } from './s15-reads.ts'
import { close } from './s16-close.ts'
import { wait } from './s17-wait.ts'
import { held } from './s18-held.ts'
import { flowKeys } from './s18-keys.ts'
import { mending } from './s18-mend.ts'
import { budgets, rates } from './s18-rates.ts'
import { slots } from './s18-slots.ts'
import { turns } from './s18-turns.ts'
import { openStoreFixture, type StoreFixture } from './store-fixture.ts'

/** What is to be proved. */
export interface Subject {
  readonly name: string
  /**
   * A store for one case. Cases keep to tenants and ids of their own, so they may all share one database, and, unless
   * `fresh` is asked for, one open store: only then does a case close it, and count what that leaves behind.
   */
  open(how: { readonly fresh: boolean }): Promise<Setup>
  /** What this store cannot do by its nature, and why. Cases that need it are marked as skipped. */
  readonly cannot?: Readonly<Partial<Record<Need, string>>>
}

export type Need = 'reopen' | 'transaction' | 'hints' | 'setClock' | 'flow'

export interface Setup {
  readonly store: Store
  /** Lets the store's clock pass at least `ms`: a virtual clock jumps, a real one is waited for. */
  advance(ms: number): Promise<void>
  /** Sets whatever the store reads the time from, as whoever administers the machine may. No time passes. */
  setClock?(byMs: number): Promise<void>
  /** A second store on the same data, as another process would open one. The setup closes it. Absent: the same store. */
  another?(): Promise<Store>
  /** Closes the store, and opens another on the same data. */
  reopen?(): Promise<Store>
  /** An open transaction of the caller's own, on the database the store is in. */
  transaction?(): Promise<OpenTransaction>
  close(): Promise<void>
}

export interface OpenTransaction {
  readonly tx: Transaction
  commit(): Promise<void>
  rollback(): Promise<void>
}

/**
 * One thing that must hold, about a store, with a fixture of its own.
 * @internal
 */
export interface Check {
  readonly name: string
  readonly needs?: Need
  /** It closes the store. */
  readonly fresh?: true
  readonly run: (fixture: StoreFixture) => Promise<void>
}

export interface Case {
  /** `S1` to `S18`. */
  readonly promise: string
  readonly name: string
  /** Why this store need not pass it, in the subject's own words; whoever skips it prints them. */
  readonly skipped: string | undefined
  /** Throws where the promise is broken. */
  run(): Promise<void>
}

const CHECKS: Readonly<Record<string, readonly Check[]>> = {
  S1: durable,
  S2: insert,
  S3: [...claim, ...sideLanes],
  S4: [...commit, ...recasts, ...upkeep],
  S5: heartbeat,
  S6: events,
  S7: feed,
  S8: [...due, ...judgements],
  S9: replay,
  S10: [...text, ...askedText],
  S11: keys,
  S12: settings,
  S13: clock,
  S14: hints,
  S15: reads,
  S16: close,
  S17: wait,
  S18: [...held, ...slots, ...mending, ...rates, ...budgets, ...turns, ...flowKeys],
}

/** What all checks of a promise need. */
const NEEDS: Readonly<Partial<Record<string, Need>>> = { S18: 'flow' }

export function conformance(subject: Subject): readonly Case[] {
  const cannot = (need: Need | undefined) => (need === undefined ? undefined : subject.cannot?.[need])
  return Object.entries(CHECKS).flatMap(([promise, checks]) =>
    checks.map((check) => ({
      promise,
      name: check.name,
      skipped: cannot(NEEDS[promise]) ?? cannot(check.needs),
      run: () => run(subject, check),
    })),
  )
}

async function run(subject: Subject, check: Check): Promise<void> {
  const baseline = resources()
  const setup = await subject.open({ fresh: check.fresh ?? false })
  try {
    holds(offers(setup, check.needs), `${subject.name} offers ${check.needs}, or says in \`cannot\` why not`)
    await check.run(await openStoreFixture(setup, baseline))
  } finally {
    await setup.close()
  }
}

function offers(setup: Setup, need: Need | undefined): boolean {
  return need === undefined || need === 'hints' || need === 'flow' || setup[need] !== undefined
}
