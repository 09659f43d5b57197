/** Prisma: what is asked as a raw query is answered with rows. */
import type { Transaction } from '../store/store.ts'
import { rowsIn } from './rows.ts'

/** What is used of an interactive transaction of Prisma on Postgres. */
export interface PrismaTransaction {
  $queryRawUnsafe(text: string, ...values: unknown[]): PromiseLike<unknown>
}

/** For `{ tx }`, inside `prisma.$transaction(async (tx) => …)`: `{ tx: fromPrisma(tx) }`. */
export const fromPrisma = (tx: PrismaTransaction): Transaction => ({
  query: async (text, values) => ({ rows: rowsIn(await tx.$queryRawUnsafe(text, ...values)) }),
})
