/** What every command works with: where the jobs are, how to speak, and when to stop. */
import { type OpenOptions, open, DEFAULT_URL } from '../open.ts'
import type { Pawl } from '../pawl.ts'
import { type Clock, realClock } from '../system/clock.ts'
import { realTimers, type Timers } from '../system/timers.ts'
import type { Terminal } from './terminal.ts'

export interface Session {
  readonly terminal: Terminal
  readonly url: string
  readonly token: string | undefined
  readonly tenant: string | undefined
  readonly actor: string
  readonly signal: AbortSignal
  readonly timers: Timers
  readonly clock: Clock
}

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
}

export interface Flags {
  readonly url?: string
  readonly token?: string
  readonly tenant?: string
}

/** Flags come first, then the environment, then the file in this folder. */
export const sessionOf = (terminal: Terminal, flags: Flags, { env, signal }: Surroundings): Session => ({
  terminal,
  url: flags.url ?? env['PAWL_URL'] ?? DEFAULT_URL,
  token: flags.token ?? env['PAWL_TOKEN'],
  tenant: flags.tenant ?? env['PAWL_TENANT'],
  actor: `cli:${env['USER'] ?? 'somebody'}`,
  signal,
  timers: realTimers,
  clock: realClock,
})

/** Opens the store or gateway for the time of one command. The command line runs no services unless it is told to. */
export async function withPawl<T>(session: Session, work: (pawl: Pawl) => Promise<T>, options: OpenOptions = {}): Promise<T> {
  const { url, token, tenant, actor } = session
  await using pawl = await open(url, { ticker: false, retention: false, token, tenant, actor, ...options })
  return await work(pawl)
}
