/** Everybody who can be measured, loaded where it runs. */
import type { Contender } from './contender.ts'

export const CONTENDERS = {
  pawl: async () => (await import('./contenders/pawl.ts')).pawl('pawl', 'now'),
  'pawl-work': async () => (await import('./contenders/pawl.ts')).asPawlWork(),
  'pawl-sqlite': async () => (await import('./contenders/pawl.ts')).pawl('pawl-sqlite', 'now', 'sqlite'),
  'pawl-redis': async () => (await import('./contenders/pawl.ts')).pawl('pawl-redis', 'now', 'redis'),
  'pawl-redis-ledger': async () => (await import('./contenders/pawl.ts')).withLedger(),
  'pawl-before': async () => (await import('./contenders/pawl.ts')).pawl('pawl-before', 'before'),
  'pawl-sqlite-before': async () =>
    (await import('./contenders/pawl.ts')).pawl('pawl-sqlite-before', 'before', 'sqlite'),
  'graphile-worker': async () => (await import('./contenders/graphile-worker.ts')).graphileWorker,
  'pg-boss': async () => (await import('./contenders/pg-boss.ts')).pgBoss,
  'bullmq-redis': async () => (await import('./contenders/bullmq-redis.ts')).bullmqRedis,
  'bullmq-postgres': async () => (await import('./contenders/bullmq-postgres.ts')).bullmqPostgres,
  dbos: async () => (await import('./contenders/dbos.ts')).dbos,
  openworkflow: async () => (await import('./contenders/openworkflow.ts')).openworkflow,
  'bare-sql': async () => (await import('./contenders/bare-sql.ts')).bareSql,
} satisfies Record<string, () => Promise<Contender>>

export type ContenderName = keyof typeof CONTENDERS

/** As it was at another commit. */
export const BEFORE = {
  pawl: 'pawl-before',
  'pawl-sqlite': 'pawl-sqlite-before',
} as const satisfies Partial<Record<ContenderName, ContenderName>>

/** Whom pawl is compared with; the first three are fast enough for the big scenarios. */
export const PEERS = [
  'graphile-worker',
  'pg-boss',
  'bullmq-redis',
  'bullmq-postgres',
  'dbos',
  'openworkflow',
] as const satisfies readonly ContenderName[]

export const POSTGRES_PEERS: readonly ContenderName[] = PEERS.filter((name) => name !== 'bullmq-redis')
