/** What the server says about backends of our connections, asked on another connection. */
import type { Row } from './client.ts'
import type { Link } from './link.ts'

/** A backend that waits for its client (to send, or to take in an answer) is not at work: it waits for us. */
const AT_WORK = `a.state = 'active' and a.wait_event_type is distinct from 'Client'`
/** Process ids are given again: a backend that began later than ours is another's. */
const OURS = `unnest($1::int[], $2::timestamptz[]) as u(pid, since) join pg_stat_activity a on a.pid = u.pid and a.backend_start <= u.since`

const WORKING = `select count(*) from ${OURS} where ${AT_WORK}`
/** Behind a pooler it is not known which backend has our statement: one of ours that has worked for as long may be it. */
const WORKING_FOR_SOMEBODY = `select count(*) from pg_stat_activity a where ${AT_WORK} and a.datname = current_database()
  and a.usename = current_user and a.pid <> pg_backend_pid() and a.query_start < clock_timestamp() - $1 * interval '1 ms'`

/** Whether the server is at what was asked on each of these, none of which has been answered for longer than that. */
export async function areAtWork(asked: Link, links: readonly Link[], forMs: number): Promise<boolean> {
  const direct = links.filter(({ greeting }) => greeting.direct)
  const pooled = links.length - direct.length
  const seen = direct.length === 0 ? 0 : countIn(await asked.ask(WORKING, namesOf(direct)))
  if (seen < direct.length) return false
  return pooled === 0 || countIn(await asked.ask(WORKING_FOR_SOMEBODY, [forMs])) >= pooled
}

/** Ends what was given up: else it would keep its locks, and its place, until the server finds out by itself. */
export async function endBackends(asked: Link, links: readonly Link[]): Promise<void> {
  const direct = links.filter(({ greeting }) => greeting.direct)
  if (direct.length > 0) await asked.ask(`select pg_terminate_backend(a.pid) from ${OURS}`, namesOf(direct))
}

const namesOf = (links: readonly Link[]): unknown[] => [
  links.map(({ greeting }) => greeting.processId),
  links.map(({ greeting }) => greeting.at),
]

const countIn = ([row]: readonly Row[]): number => Number(row?.[0])
