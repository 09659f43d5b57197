import { bundleAll } from '../../support/all-bundled.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { ELSEWHERE } from './elsewhere.ts'
import { provePostgres } from './prove-postgres.ts'

const { url, drop } = await freshDatabase()
await bundleAll(url)

await provePostgres({ name: 'postgres+bundles', repeated: ELSEWHERE, url, close: drop })
