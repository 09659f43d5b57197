/**
 * How much of everything there may be. Each cap has a name, which the refusal tells, an operator sets
 * (`pawl serve --cap name=number`) and `docs/limits.md` lists. What one job may have is in `core/limits.ts`.
 */
import { JSON_DEPTH_MAX } from '../core/json.ts'
import { Objected, type Objection, objection } from './problem.ts'

interface Cap {
  readonly most: number
  /** Each process, token, tenant, request or address has so many. */
  readonly per: 'process' | 'token' | 'tenant' | 'request' | 'address'
  /** `At most 100 …` */
  readonly of: string
  /** The objection with which requests beyond the cap are refused; undefined where none is. */
  readonly refusal: Objection | undefined
}

const MB = 1024 * 1024

export const CAPS = {
  bodyBytes: { most: 8 * MB, per: 'request', of: 'bytes in a body', refusal: 'TOO_LARGE' },
  bodyDepth: { most: JSON_DEPTH_MAX, per: 'request', of: 'levels of nesting in a body', refusal: 'TOO_LARGE' },
  bodyKeys: {
    most: 50_000,
    per: 'request',
    of: 'members and elements in a body, apart from what is kept as it is',
    refusal: 'TOO_LARGE',
  },
  itemsPerSecond: {
    most: 10_000,
    per: 'token',
    of: 'jobs and words a second; each request counts as five besides',
    refusal: 'RATE',
  },
  itemsAtOnce: { most: 50_000, per: 'token', of: 'of these ahead of that pace', refusal: 'RATE' },
  refusalsPerSecond: {
    most: 50,
    per: 'token',
    of: 'requests a second that are told at once why they are refused (twice as many in advance); the others are told up to five seconds later',
    refusal: undefined,
  },
  failuresPerAddress: {
    most: 60,
    per: 'address',
    of: 'failed authentications a minute',
    refusal: 'RATE',
  },
  failures: { most: 1_200, per: 'process', of: 'failed authentications a minute', refusal: 'RATE' },
  streamsPerToken: { most: 100, per: 'token', of: 'event streams at a time', refusal: 'TOO_MANY' },
  pollsPerToken: { most: 200, per: 'token', of: 'long polls at a time', refusal: 'TOO_MANY' },
  lanesPerToken: { most: 20_000, per: 'token', of: 'lanes in long polls at a time', refusal: 'TOO_MANY' },
  readsPerToken: { most: 16, per: 'token', of: 'lists that wait to be read', refusal: 'TOO_MANY' },
  waitingPerToken: { most: 256, per: 'token', of: 'requests that wait for their turn', refusal: 'TOO_MANY' },
  bytesPerToken: { most: 32 * MB, per: 'token', of: 'bytes of bodies under way', refusal: 'TOO_MANY' },
  toldPerToken: {
    most: 256 * MB,
    per: 'token',
    of: 'characters of checkpoints, memos and signals being told',
    refusal: 'TOO_MANY',
  },
  queuesPerTenant: { most: 2_000, per: 'tenant', of: 'queues', refusal: 'FULL' },
  typesPerTenant: { most: 2_000, per: 'tenant', of: 'job types', refusal: 'FULL' },
  kindsPerTenant: {
    most: 10_000,
    per: 'tenant',
    of: 'kinds: what queue, type and policy make together',
    refusal: 'FULL',
  },
  schedulesPerTenant: { most: 1_000, per: 'tenant', of: 'schedules', refusal: 'FULL' },
  policiesPerTenant: { most: 20, per: 'tenant', of: 'policies that are set', refusal: 'FULL' },
  tokensPerTenant: { most: 1_000, per: 'tenant', of: 'tokens', refusal: 'FULL' },
  workersPerTenant: { most: 2_000, per: 'tenant', of: 'workers that have told of themselves', refusal: 'FULL' },
  busMessages: {
    most: 100_000,
    per: 'tenant',
    of: 'messages in a stream of the bus that are not in the store yet; NATS refuses what is more',
    refusal: undefined,
  },
  busBytes: { most: 64 * MB, per: 'tenant', of: 'bytes of these; NATS refuses what is more', refusal: undefined },
  busEventBytes: {
    most: 256 * MB,
    per: 'tenant',
    of: 'bytes of events that the bus keeps; the oldest go first',
    refusal: undefined,
  },
  metricValues: {
    most: 200,
    per: 'process',
    of: 'values of a label in `/metrics` by name; the rest are told together as `other`',
    refusal: undefined,
  },
  requests: { most: 512, per: 'process', of: 'requests being worked on at a time', refusal: 'SHED' },
  streams: { most: 1_000, per: 'process', of: 'event streams at a time', refusal: 'SHED' },
  polls: { most: 2_000, per: 'process', of: 'long polls at a time', refusal: 'SHED' },
  lanes: { most: 40_000, per: 'process', of: 'lanes in long polls at a time', refusal: 'SHED' },
  reads: {
    most: 4,
    per: 'process',
    of: 'lists being read at a time; others wait for their turn',
    refusal: undefined,
  },
  writes: {
    most: 4_000,
    per: 'process',
    of: 'jobs and words being written at a time; others wait for their turn',
    refusal: undefined,
  },
  lanesAsked: {
    most: 4_000,
    per: 'process',
    of: 'lanes being asked for at a time; others wait for their turn',
    refusal: undefined,
  },
  bytes: { most: 128 * MB, per: 'process', of: 'bytes of bodies under way', refusal: 'SHED' },
  told: {
    most: 512 * MB,
    per: 'process',
    of: 'characters of checkpoints, memos and signals being told',
    refusal: 'SHED',
  },
} as const satisfies Readonly<Record<string, Cap>>

export type CapName = keyof typeof CAPS
/** The caps that requests are refused for. */
export type RefusingCap = {
  [N in CapName]: (typeof CAPS)[N]['refusal'] extends Objection ? N : never
}[CapName]
export type Caps = Readonly<Record<CapName, number>>

/** All caps, with an operator's own in place of the defaults. */
export function capsWith(own: Partial<Caps> = {}): Caps {
  const caps = Object.fromEntries(Object.entries(CAPS).map(([name, { most }]) => [name, most])) as Record<
    CapName,
    number
  >
  for (const [name, most] of Object.entries(own)) {
    if (!isCap(name)) throw new Error(`pawl: there is no cap ${name}; docs/limits.md lists them.`)
    if (!Number.isSafeInteger(most) || most < 1) throw new Error(`pawl: the cap ${name} is a whole number above 0.`)
    caps[name] = most
  }
  return caps
}

export const isCap = (name: string): name is CapName => Object.hasOwn(CAPS, name)

/** The objection to throw where a cap is reached. */
export function beyond(cap: RefusingCap, caps: Caps, { retryAfterMs, detail }: Beyond = {}): Objected {
  const { per, of, refusal } = CAPS[cap]
  const most = caps[cap]
  const problem = objection(refusal, detail ?? `At most ${most} ${of} per ${per}.`, undefined, retryAfterMs)
  return new Objected({ ...problem, body: { ...problem.body, cap, most } })
}

interface Beyond {
  readonly retryAfterMs?: number | undefined
  readonly detail?: string | undefined
}
