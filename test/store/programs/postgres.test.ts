import { it } from 'vitest'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import { bundleAll } from '../../support/all-bundled.ts'
import { migratedDatabase } from '../../support/migrated-postgres.ts'
import { scaled } from '../../support/scale.ts'
import { runPrograms } from './run-programs.ts'

it(
  'what programs do to a Postgres store is what core says they do',
  async () => {
    await using database = await migratedDatabase()
    const store = await openPostgresStore({ url: database.url, migrate: true })
    try {
      // Two hundred are too few to meet everything that can happen; that they may go on is all that is asked.
      await runPrograms({ store, count: scaled(200, 2_000), seed: 1 })
    } finally {
      await store.close()
    }
  },
  scaled(120_000, 3_600_000),
)

it(
  'what programs do to a Postgres store whose claims are bundles is what core says they do',
  async () => {
    await using database = await migratedDatabase()
    await bundleAll(database.url)
    const store = await openPostgresStore({ url: database.url, migrate: true })
    try {
      await runPrograms({ store, count: scaled(200, 2_000), seed: 2 })
    } finally {
      await store.close()
    }
  },
  scaled(120_000, 3_600_000),
)
