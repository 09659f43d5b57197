/**
 * The schema before a store is opened on it: brought up to date if asked, or refused with the command to run. One that is
 * newer than this code is what a rolling deployment looks like from an older process, and is told to the log.
 */
import type { Clock } from '../../../system/clock.ts'
import type { Log } from '../../../system/log.ts'
import type { Timers } from '../../../system/timers.ts'
import type { Link, Role } from '../connection/link.ts'
import type { Route } from '../connection/route.ts'
import { isNotYet, PostgresUnavailable } from '../connection/trouble.ts'
import type { Blueprint } from './blueprint.ts'
import { type Ask, migrate, migrationStatus } from './migrate.ts'

export interface PrepareParts {
  readonly blueprint: Blueprint
  readonly route: Route
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
  /** Calls it off: the connection is given up, and the server takes back what was begun on it. */
  readonly signal?: AbortSignal | undefined
}

/** A migration takes as long as it takes, while the server is seen at it. */
const SCHEMA: Role = { name: 'schema', pipeline: false, workMs: Number.POSITIVE_INFINITY }
/** How long a server is waited for that starts or is being promoted; one that cannot be reached is an error at once. */
const WITHIN_MS = 10_000

export async function prepareSchema(parts: PrepareParts, schema: string, mayMigrate: boolean): Promise<void> {
  const { signal = NEVER, timers } = parts
  const link = await opened(parts, signal)
  const abandon = () => link.abandon(undefined)
  signal.addEventListener('abort', abandon)
  try {
    signal.throwIfAborted()
    await prepare(parts, (text, values) => link.ask(text, values), schema, mayMigrate)
  } finally {
    signal.removeEventListener('abort', abandon)
    await link.close(timers)
  }
}

async function opened({ route, clock }: PrepareParts, signal: AbortSignal): Promise<Link> {
  const untilMs = clock.monotonicMs() + WITHIN_MS
  for (;;) {
    try {
      return await route.open(SCHEMA, untilMs, signal)
    } catch (error) {
      const mayCome = error instanceof PostgresUnavailable && error.attempts.some(({ cause }) => isNotYet(cause))
      if (!mayCome || clock.monotonicMs() >= untilMs) throw error
    }
  }
}

const NEVER = new AbortController().signal

async function prepare({ blueprint, log }: PrepareParts, ask: Ask, schema: string, mayMigrate: boolean): Promise<void> {
  const [row] = await ask("select current_setting('default_transaction_isolation'), current_user")
  const [begins, user] = row ?? []
  if (begins !== 'read committed') {
    throw new Error(
      `pawl: transactions begin as "${String(begins)}" here; what pawl does under a lock must see what was committed before. Run: alter role ${String(user)} set default_transaction_isolation = 'read committed'`,
    )
  }
  const { pending, newer, tooNew } = await migrationStatus(ask, schema, blueprint)
  if (tooNew.length > 0) {
    throw new Error(
      `pawl: schema "${schema}" is too new for this version of pawl, which does not know ${tooNew.join(', ')} and cannot go on after it. Run the version that migrated it, or a later one.`,
    )
  }
  if (newer.length > 0) {
    log.warn('the schema is newer than this version of pawl, which goes on; roll the newer version out', {
      schema,
      newer: newer.join(', '),
    })
  }
  if (pending.length === 0) return
  if (!mayMigrate) {
    throw new Error(
      `pawl: schema "${schema}" lacks ${pending.join(', ')}. Run \`pawl migrate\` with this database, or open it with { migrate: true }.`,
    )
  }
  const waits = () => log.warn('somebody else is migrating the schema: it is waited for', { schema })
  await migrate(ask, schema, { waits }, blueprint)
}
