/** One request on its way through the gateway: who asks, for what, with which words; and what is answered. */

import type { AuditLog } from '../engine/audit.ts'
import type { Engine } from '../engine/engine.ts'
import type { JobTypes } from '../engine/job-types.ts'
import type { Workers } from '../engine/workers.ts'
import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import type { Random } from '../system/random.ts'
import type { Timers } from '../system/timers.ts'
import type { Allowance } from './allowance.ts'
import type { Caps } from './caps.ts'
import type { Census } from './census.ts'
import type { Kept } from './contract/outline.ts'
import type { Route } from './contract/route.ts'
import type { Headcount } from './headcount.ts'
import type { Positions } from './positions.ts'
import type { Rounds } from './rounds.ts'
import type { Token, Tokens } from './token.ts'
import type { Traffic } from './traffic/traffic.ts'
import type { Turns } from './turns.ts'
import type { FeedReader } from './waiting/feed-reader.ts'
import type { Frames } from './waiting/frames.ts'
import type { Hearing } from './waiting/hearing.ts'
import type { Wakes } from './waiting/wakes.ts'

export interface Call {
  readonly route: Route
  /** Present exactly where the route is not open. */
  readonly token: Token
  /** The address it comes from; empty where that is not known. */
  readonly address: string
  readonly params: Readonly<Record<string, string>>
  /** Query and body as the route's schemas made them. */
  readonly query: Readonly<Record<string, unknown>>
  readonly body: Readonly<Record<string, unknown>>
  /** Members of the body that are kept exactly as they were sent. */
  readonly kept: Kept
  readonly headers: Headers
  /** As it was asked for. */
  readonly url: string
  readonly requestId: string
  /** When it came, by the gateway's monotonic clock. */
  readonly cameMs: number
  /** Aborts when the caller has gone. */
  readonly signal: AbortSignal
  /** Said by a handler that only waits from now on: it makes room for others. */
  readonly leave: () => void
  /** Drops the connection, whatever is still on its way. */
  readonly hangUp: () => void
  /** Said by a handler that has waited: objects if the token was revoked or has expired meanwhile. */
  readonly stillWelcome: () => Promise<void>
}

export interface Reply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** JSON text, other text, a file, or a stream. */
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | undefined
  readonly type?: string | undefined
}

/** The parts of a gateway that handlers work with. */
export interface Parts {
  readonly engine: Engine
  readonly caps: Caps
  /** Where it is mounted: before every path, or empty. */
  readonly basePath: string
  readonly tokens: Tokens
  readonly positions: Positions
  readonly feed: FeedReader<Frames>
  readonly hearing: Hearing
  /** Aborts when the gateway ends: nobody waits any more. */
  readonly ending: AbortSignal
  readonly wakes: Wakes
  /** Shares out the event loop: who may be understood, and told, in this turn. */
  readonly rounds: Rounds
  /** Lists, a few at a time. */
  readonly reads: Turns
  /** Jobs and words. */
  readonly writes: Turns
  /** Lanes that are asked for. */
  readonly asks: Turns
  readonly streams: Allowance
  /** Characters of bodies that jobs have written, while a caller is told them. */
  readonly told: Allowance
  readonly polls: Allowance
  /** Lanes that long polls wait for. */
  readonly lanes: Allowance
  /** Announced types: they give queue and policy to a job that names neither. */
  readonly types: JobTypes
  readonly census: Census
  /** Enqueues under way by (tenant, idempotency key): a second one with the same key does not wait, it is told. */
  readonly inFlight: Set<string>
  readonly workers: Workers
  /** How many workers, and announced types, each tenant has. */
  readonly workerCount: Headcount
  readonly typeCount: Headcount
  readonly audit: AuditLog
  readonly traffic: Traffic
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly log: Log
  readonly metricsText: () => Promise<string>
  /** What the store's server promises about what it has answered, where its settings say so. */
  readonly promise: string | undefined
  /** Whether somebody looks at what has come due, where the engine is this process's. */
  readonly upkeep: Watched | undefined
  /** Whether there are pages for browsers. */
  readonly dashboard: boolean
}

export interface Watched {
  /** For how long nobody has, where that is too long; 0 where it is not, undefined where nobody can say. */
  lateMs(): Promise<number | undefined>
}

export type Handler = (call: Call, parts: Parts) => Promise<Reply>

/** JSON, with members whose text is known already put in as it is. */
export function json(
  status: number,
  value: object,
  spliced: Readonly<Record<string, string | undefined>> = {},
  headers?: Reply['headers'],
): Reply {
  let body = JSON.stringify(value)
  for (const [name, text] of Object.entries(spliced)) {
    if (text === undefined) continue
    body = `${body.slice(0, -1)}${body === '{}' ? '' : ','}${JSON.stringify(name)}:${text}}`
  }
  return { status, body, headers }
}
