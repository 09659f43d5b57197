import { pgbouncerMissing, redisMissing } from '../test/support/debian.ts'
import { otherMajors } from '../test/support/embedded-postgres.ts'
import { tally } from './tally.ts'

/** The store suite on every adapter; each is the first word of its outermost `describe`. */
process.exitCode = tally('conformance', 'test/store/conformance/', [
  'memory',
  'sqlite',
  'postgres',
  ...(pgbouncerMissing() === undefined ? ['postgres+pgbouncer'] : []),
  'postgres+bundles',
  ...(redisMissing() === undefined ? ['redis', 'redis+ledger'] : []),
  ...otherMajors().map(({ major }) => `postgres+${major}`),
])
