/** `bun test` as one types it: Bun takes no limit from its configuration, and five seconds are little on a machine that is busy. */
import { setDefaultTimeout } from 'bun:test'

setDefaultTimeout(60_000)
