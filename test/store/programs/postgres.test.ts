import { expect, it } from 'vitest'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { scaled } from '../../support/scale.ts'
import { runPrograms } from './run-programs.ts'

it('what programs do to a Postgres store is what core says they do', async () => {
  await using database = await freshDatabase()
  const store = await openPostgresStore({ url: database.url, migrate: true })
  try {
    expect(await runPrograms({ store, count: scaled(200, 2_000), seed: 1 })).toEqual([])
  } finally {
    await store.close()
  }
})
