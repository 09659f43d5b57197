/**
 * A transaction as a caller hands it over: anything with `query(text, values)` that resolves to `{ rows }`, in an open
 * transaction. What is handed over by mistake is recognised by its shape, and named with what it needs. Whether a
 * transaction is open only the database can tell; the Postgres store asks it.
 */

import type { Transaction } from '../store/store.ts'
import { Invalid } from './errors.ts'

interface Shape {
  readonly is: (tx: Fields) => boolean
  readonly rule: string
}

type Fields = Readonly<Record<string, unknown>>

const has = (tx: Fields, ...methods: readonly string[]): boolean =>
  methods.every((method) => typeof tx[method] === 'function')

const adapter = (library: string, name: string, values = 'tx'): string =>
  `this is a transaction of ${library}: hand over ${name}(${values}) instead, which pawl/transactions exports`

/** Most particular first. */
const SHAPES: readonly Shape[] = [
  {
    is: (tx) => has(tx, 'query', 'connect') && typeof tx['totalCount'] === 'number' && 'idleCount' in tx,
    rule: 'this is a pool, and a pool is no transaction: take a client (pool.connect()), begin, and hand over the client',
  },
  {
    is: (tx) => has(tx, 'raw') && 'isTransaction' in tx && typeof tx === 'function',
    rule: adapter('knex', 'fromKnex'),
  },
  { is: (tx) => has(tx, 'selectFrom', 'executeQuery'), rule: adapter('kysely', 'fromKysely') },
  {
    is: (tx) => has(tx, 'unsafe') && (has(tx, 'begin') || has(tx, 'savepoint')),
    rule: adapter('postgres.js', 'fromPostgresJs'),
  },
  {
    is: (tx) => has(tx, 'execute', 'select', 'insert') && 'session' in tx,
    rule: `${adapter('drizzle-orm', 'fromDrizzle', 'tx, sql')}; sql is drizzle-orm's`,
  },
  { is: (tx) => has(tx, '$queryRawUnsafe'), rule: adapter('Prisma', 'fromPrisma') },
  {
    is: (tx) => 'isTransactionActive' in tx || (has(tx, 'query') && 'queryRunner' in tx),
    rule: 'this is a transaction of TypeORM: hand over { query: async (text, values) => ({ rows: await manager.query(text, values) }) }',
  },
]

const GENERAL = 'must have query(text, values) that runs in your open transaction and resolves to { rows }'

/** The transaction, unless it is none. */
export function recognised(tx: unknown): Transaction | undefined {
  if (tx === undefined) return undefined
  const shape = isFields(tx) ? SHAPES.find(({ is }) => is(tx)) : undefined
  if (shape === undefined && isTransaction(tx)) return tx
  throw new Invalid('enqueue', [{ field: 'tx', rule: shape?.rule ?? GENERAL }])
}

const isFields = (tx: unknown): tx is Fields => (typeof tx === 'object' && tx !== null) || typeof tx === 'function'

const isTransaction = (tx: unknown): tx is Transaction => isFields(tx) && has(tx, 'query')
