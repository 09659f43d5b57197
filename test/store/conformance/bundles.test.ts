import { bundleAll } from '../../support/all-bundled.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { provePostgres } from './prove-postgres.ts'

const { url, drop } = await freshDatabase()
await bundleAll(url)

provePostgres({ name: 'postgres+bundles', url, close: drop })
