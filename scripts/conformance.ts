import { tally } from './tally.ts'

/** The store suite on every adapter; each is the first word of its outermost `describe`. */
process.exitCode = tally('conformance', 'test/store/conformance/', [
  'memory',
  'sqlite',
  'postgres',
  'postgres+pgbouncer',
  'postgres+bundles',
])
