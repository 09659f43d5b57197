/**
 * A comment has a subject that a stranger can resolve: which process, transaction, job, caller. "Whoever" has none, so behind the
 * port it is not said; what is frozen, or written for users, is named here.
 */
import { expect, it } from 'vitest'
import { sources } from '../support/source.ts'

const ROOMS = ['store', 'engine', 'worker', 'gateway']

const EXEMPT: Readonly<Record<string, string>> = {
  'src/store/postgres/schema/0001_tables.sql': 'a migration never changes',
  'src/store/sqlite/thread/schema.ts': 'a migration never changes',
  'src/worker/spawn.ts': 'said to users, of people who run jobs',
  'src/worker/spoken.ts': 'why a rule is suppressed there: it is about callers of `then`',
  'src/worker/worker-options.ts': 'said to users, of people who enqueue',
  'src/gateway/host.ts': 'said to users, of their own callers',
}

const comment = /^\s*(?:\/?\*|\/\/|--).*\bwhoever\b/gim

it('comments behind the port name who they are about', () => {
  const all = ROOMS.flatMap((room) => [...sources(`src/${room}/**/*.ts`), ...sources(`src/${room}/**/*.sql`)])
  const vague = all.filter(
    ({ path, text }) => !path.includes('/conformance/') && (text.match(comment) ?? []).length > 0,
  )
  expect(vague.map(({ path }) => path).sort()).toEqual(Object.keys(EXEMPT).sort())
})
