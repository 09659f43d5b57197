/**
 * What admission makes of a job besides its terms: it may send it elsewhere, label it, and put it under further keys. From then on
 * `spec` says what the job is, so that whoever has it, claims it or counts it needs no rule of admission; what was asked for stays
 * beside it, because a request that is repeated, the key of a duplicate and the next chance of the job are about that.
 */
import type { Limit } from './flow/key.ts'
import type { Job, JobFlow, Kind, Spec } from './job.ts'
import { SIZES } from './limits.ts'

/** Where a job goes instead of where it was asked to. Another tenant is not among what can be said. */
export interface Redirect {
  readonly from: string
  /** A topic. */
  readonly to: string
  /** What that topic comes to. */
  readonly queue: string
  readonly type: string
  /** Whose word it is. */
  readonly rule: string
}

/** A key that a job is put under. */
export interface Throttle {
  readonly key: string
  readonly rule: string
  /** What holds for the key as long as nobody has said anything else. */
  readonly limit: Limit | undefined
}

/** What is made of a job. At least one of the three says something. */
export interface Recast {
  readonly redirect: Redirect | undefined
  /** Added to its own, and in their place where they have the same name. */
  readonly labels: Readonly<Record<string, string>> | undefined
  /** Added to its own keys, behind them. */
  readonly throttles: readonly Throttle[] | undefined
}

/** What was made of a job, and of what. */
export interface Recasted {
  readonly asked: Spec
  readonly redirect: Redirect | undefined
  readonly labels: Readonly<Record<string, string>> | undefined
  readonly keys: readonly string[] | undefined
}

/** What somebody asked for, whatever admission has made of it. */
export const askedOf = ({ spec, recast }: Pick<Job, 'spec' | 'recast'>): Spec => recast?.asked ?? spec

/** Whether a job is in one of these queues, or was enqueued to one. Undefined: in any. */
export const isIn = (job: Pick<Job, 'spec' | 'recast'>, queues: readonly string[] | undefined): boolean =>
  queues === undefined || queues.includes(job.spec.kind.queue) || queues.includes(askedOf(job).kind.queue)

/** What of it changes this job; undefined where nothing does. */
export function changing({ spec }: Pick<Job, 'spec'>, recast: Recast | undefined): Recast | undefined {
  if (recast === undefined) return undefined
  const { redirect } = recast
  const isElsewhere = redirect !== undefined && !isThere(spec, redirect)
  const labels = Object.entries(recast.labels ?? {}).filter(([name, value]) => labelIn(spec, name) !== value)
  const throttles = (recast.throttles ?? []).filter(({ key }) => spec.flow?.keys.includes(key) !== true)
  if (!isElsewhere && labels.length === 0 && throttles.length === 0) return undefined
  return {
    redirect: isElsewhere ? redirect : undefined,
    labels: labels.length === 0 ? undefined : Object.fromEntries(labels),
    throttles: throttles.length === 0 ? undefined : throttles,
  }
}

/** Why a job cannot be made that; undefined where it can. */
export function recastAmiss({ spec }: Pick<Job, 'spec'>, recast: Recast | undefined): string | undefined {
  if (recast === undefined) return undefined
  const labels = Object.keys({ ...spec.labels, ...recast.labels }).length
  if (labels > SIZES.labels) return `It would have ${labels} labels; ${SIZES.labels} are the most.`
  const keys = new Set([...(spec.flow?.keys ?? []), ...(recast.throttles ?? []).map(({ key }) => key)]).size
  return keys > SIZES.limits ? `It would have ${keys} limit keys; ${SIZES.limits} are the most.` : undefined
}

/** The record of what was made of a job that was asked for like this. */
export const recasted = (asked: Spec, { redirect, labels, throttles }: Recast): Recasted => ({
  asked,
  redirect,
  labels,
  keys: throttles?.map(({ key }) => key),
})

/** What a job is from then on. */
export const specAs = ({ asked, redirect, labels, keys }: Recasted): Spec => ({
  ...asked,
  kind: redirect === undefined ? asked.kind : elsewhere(asked.kind, redirect),
  topic: redirect === undefined ? asked.topic : redirect.to,
  labels: labels === undefined ? asked.labels : { ...asked.labels, ...labels },
  flow: keys === undefined ? asked.flow : under(asked.flow, keys),
})

const under = (flow: JobFlow | undefined, keys: readonly string[]): JobFlow => ({
  keys: [...(flow?.keys ?? []), ...keys],
  fair: flow?.fair,
})

/** What a job is addressed to: its topic; of one that names none, its type. */
export const topicOf = ({
  topic,
  kind,
}: {
  readonly topic: string | undefined
  readonly kind: { readonly type: string }
}): string => topic ?? kind.type

const isThere = (spec: Spec, { to, queue, type }: Redirect): boolean =>
  topicOf(spec) === to && spec.kind.queue === queue && spec.kind.type === type

const labelIn = ({ labels }: Spec, name: string): string | undefined =>
  labels !== undefined && Object.hasOwn(labels, name) ? labels[name] : undefined

/** The kind of a job with what is announced for the topic it is sent to, if anything is. A job that was asked for by its topic is one of the other. */
export function destinationOf(
  { topic, kind }: Spec,
  to: string,
  announced: Pick<Kind, 'queue' | 'type'> | undefined,
): Pick<Kind, 'queue' | 'type'> {
  if (announced !== undefined) return { queue: announced.queue, type: announced.type }
  return { queue: to, type: topicOf({ topic, kind }) === kind.type ? to : kind.type }
}

/** By kind, then by destination: stores know siblings by the kind they share. */
const known = new WeakMap<Kind, Map<string, Kind>>()
const DESTINATIONS_KNOWN = 1_000

function elsewhere(kind: Kind, { queue, type }: Redirect): Kind {
  const name = JSON.stringify([queue, type])
  const some = known.get(kind) ?? new Map<string, Kind>()
  const found = some.get(name) ?? { ...kind, queue, type }
  if (some.size >= DESTINATIONS_KNOWN) some.clear()
  known.set(kind, some.set(name, found))
  return found
}
