import { freshDatabase } from '../../support/postgres.ts'
import { provePostgres } from './prove-postgres.ts'

const { url, drop } = await freshDatabase()

provePostgres({ name: 'postgres', url, close: drop })
