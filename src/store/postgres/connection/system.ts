/** What a store or a ledger has around it, with what it is unless given. */
import { type Clock, realClock } from '../../../system/clock.ts'
import { type Log, silentLog } from '../../../system/log.ts'
import { type Random, realRandom } from '../../../system/random.ts'
import { realTimers, type Timers } from '../../../system/timers.ts'
import { type Connect, connectWithPg } from './client.ts'
import type { RouteParts } from './route.ts'

export interface SystemOptions {
  readonly connect?: Connect | undefined
  readonly clock?: Clock | undefined
  readonly timers?: Timers | undefined
  readonly random?: Random | undefined
  readonly log?: Log | undefined
  /** How long a call is repeated while the server is away; 30 s unless given. */
  readonly retryForMs?: number | undefined
  /** How long a statement may go unanswered before the server is asked about its backend; 5 s unless given, and less than half a lease. */
  readonly answerWithinMs?: number | undefined
  /** Calls off opening: the schema is not waited for any more. */
  readonly signal?: AbortSignal | undefined
}

const RETRY_FOR_MS = 30_000
export const ANSWER_WITHIN_MS = 5_000

export const systemOf = (options: SystemOptions): Omit<RouteParts, 'target'> => ({
  connect: options.connect ?? connectWithPg,
  clock: options.clock ?? realClock,
  timers: options.timers ?? realTimers,
  random: options.random ?? realRandom,
  log: options.log ?? silentLog,
  retryForMs: options.retryForMs ?? RETRY_FOR_MS,
  answerWithinMs: options.answerWithinMs ?? ANSWER_WITHIN_MS,
})
