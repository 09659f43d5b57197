import { otherMajors } from '../../support/embedded-postgres.ts'
import { startPostgres } from '../../support/postgres.ts'
import { ELSEWHERE } from './elsewhere.ts'
import { provePostgres } from './prove-postgres.ts'

/** The same promises on older versions: the oldest in the gate, all of them in soak. The newest is everybody else's. */
for (const { major, programs } of otherMajors()) {
  const { url, stop } = await startPostgres({ programs })
  await provePostgres({ name: `postgres+${major}`, repeated: ELSEWHERE, url, close: stop })
}
