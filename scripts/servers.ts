import { pgbouncerBinary, postgresBinaries } from '../test/support/debian.ts'

/** Finds the servers that the tests will start, and installs them first where they are missing and we may. */
console.log(`servers: Postgres in ${postgresBinaries()}, ${pgbouncerBinary()}`)
