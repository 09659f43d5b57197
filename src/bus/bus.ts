/**
 * The bus of document 002, for one tenant: JobRequests, JobResults and cancellations come in and go to the store; jobs go out to the workers
 * of pools; what happens is told. The store is the truth: any message may be lost, come twice or late, and any process may die.
 */
import type { JsMsg } from '@nats-io/jetstream'
import type { Engine } from '../engine/engine.ts'
import { JobTypes } from '../engine/job-types.ts'
import { Workers } from '../engine/workers.ts'
import { type Caps, capsWith } from '../gateway/caps.ts'
import { Census } from '../gateway/census.ts'
import { BODY_BYTES } from '../gateway/contract/route.ts'
import { Headcount } from '../gateway/headcount.ts'
import { Ration } from '../gateway/rate.ts'
import type { Clock } from '../system/clock.ts'
import { realIds } from '../system/ids.ts'
import type { Log } from '../system/log.ts'
import type { Random } from '../system/random.ts'
import type { Service } from '../system/service.ts'
import type { Timers } from '../system/timers.ts'
import { Attendance } from './attendance.ts'
import { openCalls } from './calls.ts'
import { Dispatcher } from './dispatcher.ts'
import { herald } from './herald.ts'
import { openInbox } from './inbox.ts'
import { type Link, openLink, withStream } from './link.ts'
import { DiscardPolicy, RetentionPolicy, StorageType } from './policies.ts'
import { Registry } from './registry.ts'
import { cancelledBy, resulted } from './results.ts'
import type { Outcome, Spoken } from './spoken.ts'
import { everyDispatch, everyEvent, everyOne, streamsOf, subjectsOf } from './subjects.ts'
import { submitted } from './submissions.ts'
import { Turn } from './turn.ts'

export interface BusOptions {
  /** `nats://user:password@host:4222`: a user of the account that is this tenant's. */
  readonly url: string
  readonly tenant: string
  readonly engine: Engine
  /** `gateway`: takes what comes in, answers workers and tells what happens. `scheduler`: dispatches. */
  readonly roles: ReadonlySet<'gateway' | 'scheduler'>
  readonly timers: Timers
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** How much of everything there may be: what HTTP has per token, a tenant's bus has. Defaults where absent. */
  readonly caps?: Partial<Caps> | undefined
}

/** For how long what happens is kept in the stream of events. */
const EVENTS_KEPT_NS = 24 * 3_600 * 1e9
/** A dispatch is long over by then: its lease is. */
const DISPATCHES_KEPT_NS = 3_600 * 1e9
/** How often a message about a job that is not there is taken for one that has overtaken the job. */
const OVERTAKES = 5

export async function openBus(options: BusOptions): Promise<AsyncDisposable> {
  const { url, tenant, engine, roles, timers, clock, random, log } = options
  const link = await openLink(url, log)
  // The last of them goes first.
  const parts: (AsyncDisposable | Disposable)[] = [link]
  const close = async () => {
    for (const part of parts.splice(0).reverse())
      if (Symbol.asyncDispose in part) await part[Symbol.asyncDispose]()
      else part[Symbol.dispose]()
  }
  try {
    const caps = capsWith(options.caps)
    await prepare(link, tenant, caps)
    const monotonicMs = () => clock.monotonicMs()
    const types = new JobTypes(engine)
    if (roles.has('gateway')) {
      parts.push(...(await inboxes(link, options, types, caps)))
      const registry = registryOf(options, types, caps)
      parts.push(openCalls({ connection: link.connection, engine, tenant, registry, caps, log }))
      const events = herald({ link, engine, tenant, timers, monotonicMs, log })
      events.start()
      parts.push(events)
    }
    const ids = realIds(random)
    if (roles.has('scheduler'))
      parts.push(new Dispatcher({ link, engine, types, tenant, timers, monotonicMs, ids, caps, log }))
    // Until NATS has heard of the subscriptions, whoever calls is told that nobody answers there.
    await link.connection.flush()
    return { [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

/** The streams, in the tenant's account. What is more than they may keep NATS refuses, and says so to who publishes it. */
async function prepare(link: Link, tenant: string, caps: Caps): Promise<void> {
  const streams = streamsOf(tenant)
  const { submit, result, cancel, dead, refused } = subjectsOf(tenant)
  const bounds = { max_msgs: caps.busMessages, max_bytes: caps.busBytes, discard: DiscardPolicy.New } as const
  const kept = { storage: StorageType.File, retention: RetentionPolicy.Workqueue, ...bounds } as const
  const said = { ...kept, max_msg_size: Math.min(caps.bodyBytes, BODY_BYTES.words) }
  await link.demand('streams', async (manager) => {
    await withStream(manager, { ...said, name: streams.submissions, subjects: [everyOne(submit)] })
    await withStream(manager, { ...said, name: streams.words, subjects: [result, cancel] })
    const dispatches = { name: streams.dispatches, subjects: [everyDispatch(tenant)], max_age: DISPATCHES_KEPT_NS }
    await withStream(manager, { ...kept, ...dispatches })
    await withStream(manager, {
      name: streams.events,
      subjects: [everyEvent(tenant), everyOne(dead), refused],
      storage: StorageType.File,
      retention: RetentionPolicy.Limits,
      discard: DiscardPolicy.Old,
      max_age: EVENTS_KEPT_NS,
      max_bytes: caps.busEventBytes,
    })
  })
  await Turn.prepare(link, tenant)
}

/** One for each kind of message: results do not wait behind submissions. */
function inboxes(
  link: Link,
  { tenant, engine, timers, clock, log }: BusOptions,
  types: JobTypes,
  caps: Caps,
): Promise<readonly Service[]> {
  const { submissions, words } = streamsOf(tenant)
  const { submit, result, cancel } = subjectsOf(tenant)
  const census = new Census(engine, clock, caps)
  const box = (
    stream: string,
    name: string,
    subject: string,
    take: (messages: readonly Spoken[]) => Promise<readonly Outcome[]>,
  ) =>
    openInbox({
      link,
      stream,
      name,
      subject,
      ration: new Ration(caps, clock),
      timers,
      log,
      async handle(messages) {
        const outcomes = await take(messages.map(spokenIn))
        return await Promise.all(messages.map((message, i) => settled(link, tenant, message, outcomes[i])))
      },
    })
  return Promise.all([
    box(submissions, 'submit', everyOne(submit), (said) => submitted({ engine, types, census, tenant }, said)),
    box(words, 'result', result, (said) => resulted({ engine, tenant }, said)),
    box(words, 'cancel', cancel, (said) => cancelledBy({ engine, tenant }, said)),
  ])
}

function registryOf({ engine, tenant, clock }: BusOptions, types: JobTypes, caps: Caps): Registry {
  const workers = new Workers(engine)
  const workerCount = new Headcount(clock, caps.workersPerTenant, (name, most) => workers.count(name, most))
  const attendance = new Attendance(caps, () => clock.monotonicMs())
  return new Registry({ workers, types, tenant, attendance, workerCount, caps, now: () => engine.now() })
}

const spokenIn = (message: JsMsg): Spoken => ({ subject: message.subject, text: message.string() })

/** Whether a message is done with: accepted, or refused for good and told so. */
async function settled(link: Link, tenant: string, message: JsMsg, outcome: Outcome | undefined): Promise<boolean> {
  if (outcome === undefined || outcome.ok) return true
  const { told } = outcome
  if (told.code === 'OVERLOADED') return false
  if (told.code === 'NOT_FOUND' && message.info.deliveryCount < OVERTAKES) return false
  const msgID = `refused/${message.info.stream}/${message.seq}`
  const text = JSON.stringify({ ...told, subject: message.subject })
  await link.jetstream.publish(subjectsOf(tenant).refused, text, { msgID })
  return true
}
