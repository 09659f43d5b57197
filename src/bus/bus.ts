/**
 * The bus of document 002, for one tenant: JobRequests, JobResults and cancellations come in and go to the store; jobs go out to the workers
 * of pools; what happens is told. The store is the truth: any message may be lost, come twice or late, and any process may die.
 */
import type { JsMsg } from '@nats-io/jetstream'
import type { Engine } from '../engine/engine.ts'
import { JobTypes } from '../engine/job-types.ts'
import { Workers } from '../engine/workers.ts'
import type { Clock } from '../system/clock.ts'
import { realIds } from '../system/ids.ts'
import type { Log } from '../system/log.ts'
import type { Random } from '../system/random.ts'
import type { Service } from '../system/service.ts'
import type { Timers } from '../system/timers.ts'
import { openCalls } from './calls.ts'
import { Dispatcher } from './dispatcher.ts'
import { herald } from './herald.ts'
import { openInbox } from './inbox.ts'
import { type Link, openLink, withStream } from './link.ts'
import { toldOf } from './messages.ts'
import { DiscardPolicy, RetentionPolicy, StorageType } from './policies.ts'
import { Registry } from './registry.ts'
import { cancelledBy, resulted } from './results.ts'
import type { Outcome, Spoken } from './spoken.ts'
import { everyEvent, everyOne, streamsOf, subjectsOf } from './subjects.ts'
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
}

/** For how long, and how much of, what happens is kept in the stream of events. */
const EVENTS_KEPT_NS = 24 * 3_600 * 1e9
const EVENTS_KEPT_BYTES = 256 * 1024 * 1024
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
    await prepare(link, tenant)
    const monotonicMs = () => clock.monotonicMs()
    if (roles.has('gateway')) {
      parts.push(...(await inboxes(link, options)))
      const registry = new Registry(new Workers(engine), tenant, () => engine.now())
      parts.push(openCalls({ connection: link.connection, engine, tenant, registry, log }))
      const events = herald({ link, engine, tenant, timers, monotonicMs, log })
      events.start()
      parts.push(events)
    }
    if (roles.has('scheduler'))
      parts.push(new Dispatcher({ link, engine, tenant, timers, monotonicMs, ids: realIds(random), log }))
    return { [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

/** The streams, in the tenant's account. */
async function prepare(link: Link, tenant: string): Promise<void> {
  const streams = streamsOf(tenant)
  const { submit, result, cancel, dispatch, dead, refused } = subjectsOf(tenant)
  const kept = { storage: StorageType.File, retention: RetentionPolicy.Workqueue } as const
  await link.demand('streams', async (manager) => {
    await withStream(manager, { ...kept, name: streams.words, subjects: [everyOne(submit), result, cancel] })
    const dispatches = { name: streams.dispatches, subjects: [everyOne(dispatch)], max_age: DISPATCHES_KEPT_NS }
    await withStream(manager, { ...kept, ...dispatches })
    await withStream(manager, {
      name: streams.events,
      subjects: [everyEvent(tenant), everyOne(dead), refused],
      storage: StorageType.File,
      retention: RetentionPolicy.Limits,
      discard: DiscardPolicy.Old,
      max_age: EVENTS_KEPT_NS,
      max_bytes: EVENTS_KEPT_BYTES,
    })
  })
  await Turn.prepare(link, tenant)
}

/** One for each kind of message: results do not wait behind submissions. */
function inboxes(link: Link, { tenant, engine, timers, log }: BusOptions): Promise<readonly Service[]> {
  const { words } = streamsOf(tenant)
  const { submit, result, cancel } = subjectsOf(tenant)
  const types = new JobTypes(engine)
  const box = (name: string, subject: string, take: (messages: readonly Spoken[]) => Promise<readonly Outcome[]>) =>
    openInbox({
      link,
      stream: words,
      name,
      subject,
      timers,
      log,
      async handle(messages) {
        const outcomes = await take(messages.map(spokenIn))
        return await Promise.all(messages.map((message, i) => settled(link, tenant, message, outcomes[i])))
      },
    })
  return Promise.all([
    box('submit', everyOne(submit), (messages) => submitted({ engine, types, tenant }, messages)),
    box('result', result, (messages) => resulted({ engine, tenant }, messages)),
    box('cancel', cancel, (messages) => cancelledBy({ engine, tenant }, messages)),
  ])
}

const spokenIn = (message: JsMsg): Spoken => ({
  subject: message.subject,
  text: message.string(),
  times: message.info.deliveryCount,
})

/** Whether a message is done with: accepted, or refused for good and told so. */
async function settled(link: Link, tenant: string, message: JsMsg, outcome: Outcome | undefined): Promise<boolean> {
  if (outcome === undefined || outcome.ok) return true
  const { refusal, jobId = refusal.job } = outcome
  if (refusal.code === 'OVERLOADED') return false
  if (refusal.code === 'NOT_FOUND' && message.info.deliveryCount < OVERTAKES) return false
  const told = { ...toldOf(refusal, jobId), subject: message.subject }
  const msgID = `refused/${message.info.stream}/${message.seq}`
  await link.jetstream.publish(subjectsOf(tenant).refused, JSON.stringify(told), { msgID })
  return true
}
