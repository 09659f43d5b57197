/** The public names of `pawl/transactions`: a transaction of another library, as `enqueue(job, input, { tx })` takes it. */

export { type DrizzleSql, type DrizzleTransaction, fromDrizzle } from './transactions/from-drizzle.ts'
export { fromKnex, type KnexTransaction } from './transactions/from-knex.ts'
export { fromKysely, type KyselyQuery, type KyselyTransaction } from './transactions/from-kysely.ts'
export { fromPostgresJs, type PostgresJsTransaction } from './transactions/from-postgres-js.ts'
export { fromPrisma, type PrismaTransaction } from './transactions/from-prisma.ts'
