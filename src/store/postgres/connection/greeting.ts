/** From knocking at one host to a connection that can be used: what it must know of its server, and ask of it. */
import type { Clock } from '../../../system/clock.ts'
import type { Timers } from '../../../system/timers.ts'
import { type Client, type Connect, type Row, TYPES } from './client.ts'
import { type Greeting, Link, type Role } from './link.ts'
import type { DriverConfig, Target, Wanted } from './target.ts'
import { type Attempt, isAway, NoWrites, TooLate } from './trouble.ts'

export interface GreetingParts {
  readonly target: Target
  readonly connect: Connect
  readonly clock: Clock
  readonly timers: Timers
  /** Aborts when nobody wants to be let in any more. */
  readonly signal: AbortSignal
}

/** Why a host is none to work with just now is a value; whatever trying again would not change is thrown. */
export async function greeted(
  parts: GreetingParts,
  host: DriverConfig,
  role: Role,
  direct: boolean,
): Promise<Link | Attempt> {
  const { target, connect, clock, timers, signal } = parts
  const pipeline = role.pipeline && direct
  // Behind a pooler one name for all roles: it sends each change of the name to a backend, as a statement more.
  const client = connect({ host, name: direct ? `pawl ${role.name}` : 'pawl', pipeline })
  let late = false
  const hurry = timers.after(target.connectWithinMs, () => {
    late = true
    client.destroy()
  })
  const leave = () => client.destroy()
  signal.addEventListener('abort', leave)
  let link: Link
  try {
    await client.connect()
    const greeting = await exchanged(client, target.wants)
    link = new Link({ client, greeting, role, sinceMs: clock.monotonicMs() })
  } catch (error) {
    client.destroy()
    const cause = late ? new TooLate(`no answer within ${target.connectWithinMs / 1_000} s`) : error
    if (!isAway(cause)) throw error
    return { where: client.where, cause }
  } finally {
    hurry[Symbol.dispose]()
    signal.removeEventListener('abort', leave)
  }
  if (link.greeting.direct || !pipeline) return link
  // A pooler is in between, and mixes up pipelined answers: a connection is wanted that sends one statement at a time.
  await link.close(timers)
  return greeted(parts, host, role, false)
}

const WHO = `select pg_backend_pid(), pg_is_in_recovery(), current_setting('transaction_read_only') = 'on', clock_timestamp()::text`

/**
 * A server waits two hours before it asks whether a silent client is alive, and keeps its locks and channels for it.
 * For these sessions it asks after a quarter of a minute.
 */
const ASK_AFTER_US = `select set_config('tcp_keepalives_idle', '15', false), set_config('tcp_keepalives_interval', '5', false),
  set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', '30000', false)`

async function exchanged(client: Client, wants: Wanted): Promise<Greeting> {
  const [processId, standby, readOnly, at] = await ask(client, WHO)
  if (standby === true && wants !== 'any') throw new NoWrites('a standby, which takes no writes')
  if (readOnly === true && wants === 'read-write') throw new NoWrites('its transactions are read-only')
  // A pooler answers for the server with a process id of its own invention.
  const direct = processId === client.processId()
  // A pooler's session is not ours to change.
  if (direct) await ask(client, ASK_AFTER_US)
  return { direct, processId: Number(processId), at: String(at) }
}

async function ask(client: Client, text: string): Promise<Row> {
  const { rows } = await client.query({ text, values: [], rowMode: 'array', types: TYPES })
  const [row] = rows as Row[]
  return row ?? []
}
