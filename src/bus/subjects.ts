/**
 * What things are called on the bus, in one place. A subject is `pawl.<tenant>.<what>`, and where it has a name of somebody's own (a
 * topic, a pool, a queue) that comes last, with its dots, so that who may publish what can be said by patterns: `pawl.acme.submit.job.chat.>`.
 * Whatever else a name has is written as `=` and two hexadecimal digits for each byte (not `%`: nats-server 2.9 takes that in the name of a
 * consumer for a verb of its formats), and so are dots that would leave an empty token.
 */
import { digest } from '../core/hash.ts'
import { badgeOf, PLAIN, type Squad } from './squad.ts'

export interface Subjects {
  /** A JobRequest, under its topic. */
  readonly submit: (topic: string) => string
  /** A JobResult. */
  readonly result: string
  readonly cancel: string
  /** Jobs on their way to workers of a pool, each to one of those that can do the same. */
  readonly dispatch: (squad: Squad) => string
  /** Asked by the worker that has a dispatch in hand: it may begin when it is answered so. */
  readonly start: string
  readonly progress: string
  /** What a worker has free, and which jobs it has. */
  readonly heartbeat: string
  /** What happened to jobs, by its name and the job's queue. */
  readonly event: (type: string, queue: string) => string
  readonly dead: (queue: string) => string
  /** What came over the bus and was not accepted. */
  readonly refused: string
}

export const subjectsOf = (tenant: string): Subjects => {
  const of = (...rest: readonly string[]) => ['pawl', tokenOf(tenant), ...rest].join('.')
  return {
    submit: (topic) => of('submit', tailOf(topic)),
    result: of('result'),
    cancel: of('cancel'),
    dispatch: (squad) => of('dispatch', badgeOf(squad), tailOf(squad.pool)),
    start: of('start'),
    progress: of('progress'),
    heartbeat: of('heartbeat'),
    event: (type, queue) => of('event', tokenOf(type), tailOf(queue)),
    dead: (queue) => of('dead', tailOf(queue)),
    refused: of('refused'),
  }
}

/** All subjects that begin like this one, which was made of a name. */
export const everyOne = (subject: (name: string) => string): string => subject('x').replace(/x$/, '>')

export const everyEvent = (tenant: string): string => `pawl.${tokenOf(tenant)}.event.>`

export const everyDispatch = (tenant: string): string => `pawl.${tokenOf(tenant)}.dispatch.>`

/** A name as one token: of a subject, a stream or a consumer. */
export function tokenOf(name: string): string {
  const token = encoded(name, /[^A-Za-z0-9_-]/gu)
  // Names of streams and consumers are names of folders, too.
  return token.length <= LONGEST ? token : `==${digest(name)}${digest(token)}`
}

const LONGEST = 180

/** A name as the rest of a subject. */
const tailOf = (name: string): string => encoded(name, /[^A-Za-z0-9_.-]|^\.|\.$|(?<=\.)\./gu)

const encoded = (name: string, pattern: RegExp): string =>
  name.replaceAll(pattern, (letter) =>
    [...Buffer.from(letter)].map((byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  )

/** What keeps messages, for each tenant: in the account of its own that its connection is of. */
export interface Streams {
  /** JobRequests that are not in the store yet. */
  readonly submissions: string
  /** What else was said to pawl and is not in the store yet: submissions, however many, keep no result from being taken. */
  readonly words: string
  readonly dispatches: string
  /** What pawl tells. */
  readonly events: string
  /** Who dispatches to which pool. */
  readonly turns: string
}

export const streamsOf = (tenant: string): Streams => {
  const of = (what: string) => `PAWL_${tokenOf(tenant)}_${what}`
  return {
    submissions: of('submissions'),
    words: of('words'),
    dispatches: of('dispatches'),
    events: of('events'),
    turns: of('turns'),
  }
}

/** The consumer that a squad's workers take their dispatches from, and the subject under which they ask it for the next. */
export function consumerOf(tenant: string, squad: Squad): { readonly name: string; readonly next: string } {
  const badge = badgeOf(squad)
  const pool = tokenOf(squad.pool)
  const name = badge === PLAIN ? pool : `${pool}==${badge}`
  return { name, next: `$JS.API.CONSUMER.MSG.NEXT.${streamsOf(tenant).dispatches}.${name}` }
}

/** Where it is written down whose turn something is. */
export const turnOf = (tenant: string) => {
  const begin = `pawl.${tokenOf(tenant)}.turn`
  const squadIn = (squad: Squad) => `${begin}.squad.${badgeOf(squad)}.${tailOf(squad.pool)}`
  return { squad: squadIn, events: `${begin}.events`, all: `${begin}.>` }
}
