/** What the library is put together of, by whoever opens a store. */
import type { JobId } from '../core/job.ts'
import type { AuditLog } from '../engine/audit.ts'
import type { Engine } from '../engine/engine.ts'
import type { Mended } from '../engine/mend.ts'
import type { Upkeep } from '../engine/upkeep.ts'
import type { Durability } from '../system/durability.ts'
import type { Ids } from '../system/ids.ts'
import type { Log } from '../system/log.ts'
import type { LedgerDesk } from '../system/meter.ts'
import type { Timers } from '../system/timers.ts'
import type { Surroundings } from '../worker/worker.ts'
import type { Telemetry } from './telemetry.ts'

export interface PawlParts {
  readonly engine: Engine
  /** What is behind it, where bodies are encrypted on the way: everything as it is stored. */
  readonly stored?: Engine | undefined
  readonly timers: Timers
  readonly ids: Ids
  readonly log: Log
  /** What workers need to know of where they are. */
  readonly surroundings?: Surroundings | undefined
  readonly tenant?: string | undefined
  /** Who gives commands, unless a call says otherwise. */
  readonly actor?: string | undefined
  readonly telemetry?: Telemetry | undefined
  /** The store is at the other end of HTTP. */
  readonly isRemote?: boolean | undefined
  /** Where the store is at hand. Over HTTP the gateway keeps it. */
  readonly audit?: AuditLog | undefined
  /** What the store's server promises, where that is for its settings to say. */
  readonly durability?: Durability | undefined
  /** Whether somebody looks at what has come due; absent over HTTP, where that is the gateway's to know. */
  readonly upkeep?: Upkeep | undefined
  /** Of a Redis with a ledger. */
  readonly ledger?: LedgerDesk | undefined
  /** Removes jobs that have ended, where the store is at hand; tells of each whether it is gone. */
  readonly purge?: ((ids: readonly JobId[]) => Promise<readonly boolean[]>) | undefined
  /** Makes anew what is derived of limits, where the store is at hand: of one tenant, or of all. `before` is told of each. */
  readonly mend?:
    | ((tenant: string | undefined, before: (tenant: string) => Promise<void>) => Promise<Mended>)
    | undefined
  /** Stopped before the engine is closed. */
  readonly services?: readonly AsyncDisposable[] | undefined
}

/** What a companion is made of. */
export type Around = Pick<PawlParts, 'engine' | 'timers' | 'log'>
