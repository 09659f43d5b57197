import {
  chromiumBinary,
  chromiumMissing,
  etcdBinary,
  natsBinary,
  natsMissing,
  patroniBinary,
  patroniMissing,
  pgbouncerBinary,
  pgbouncerMissing,
  redisBinary,
  redisMissing,
} from '../test/support/debian.ts'
import { otherMajors } from '../test/support/embedded-postgres.ts'
import { postgresPrograms } from '../test/support/postgres-programs.ts'
import { soaking } from '../test/support/scale.ts'

/** Finds the servers that the tests will start, and installs them first where they are missing and we may. */
console.log(`servers: Postgres in ${postgresPrograms()}`)
for (const { major, programs } of otherMajors()) console.log(`servers: Postgres ${major} in ${programs}`)
console.log(`servers: ${pgbouncerMissing() ?? pgbouncerBinary()}`)
console.log(`servers: ${redisMissing() ?? redisBinary()}`)
console.log(`servers: ${natsMissing() ?? natsBinary()}`)
console.log(`servers: ${chromiumMissing() ?? chromiumBinary()}`)
// Nothing but the soak has the time for failovers that nobody helps.
if (soaking) console.log(`servers: ${patroniMissing() ?? [patroniBinary(), etcdBinary()].join(', ')}`)
