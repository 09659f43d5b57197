/**
 * Messages that a stream keeps until the store has what they say. Any number of processes take from it, each message goes to one of them
 * and comes again where that one does not confirm it: because the store was away, the process died, or the confirmation was lost. So what
 * is done with a message may be done twice.
 */
import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream'
import { Objected } from '../gateway/problem.ts'
import type { Ration } from '../gateway/rate.ts'
import type { Log } from '../system/log.ts'
import { type Service, service } from '../system/service.ts'
import type { Timers } from '../system/timers.ts'
import type { Link } from './link.ts'
import { AckPolicy } from './policies.ts'

/** Messages that are taken together, and for how long one pull waits for them. */
const TOGETHER = 200
const PULL_MS = 5_000
/**
 * A message that is not confirmed comes again after this long; one that could not be done now, after that. Well below a lease: a result in
 * the hands of a process that has fallen silent must not come too late for the job it ends.
 */
const AGAIN_NS = 5_000_000_000
const LATER_MS = 1_000
const RETRY_MS = 500

export interface InboxParts {
  readonly link: Link
  readonly stream: string
  /** The consumer's name, which all processes share. */
  readonly name: string
  readonly subject: string
  /** How many may be taken, and how fast: what is more waits in the stream. */
  readonly ration: Ration
  readonly timers: Timers
  readonly log: Log
  /** Answers for each whether it is done with; where not, it comes again. Throws where none is. */
  readonly handle: (messages: readonly JsMsg[]) => Promise<readonly boolean[]>
}

export async function openInbox(parts: InboxParts): Promise<Service> {
  const { link, stream, name, subject, ration, timers, log } = parts
  const together = Math.min(TOGETHER, ration.most)
  /** Taken and not paid for yet. */
  let owed = 0
  await link.demand(`${stream}/${name}`, async ({ consumers }) => {
    await consumers.add(stream, {
      durable_name: name,
      filter_subject: subject,
      ack_policy: AckPolicy.Explicit,
      ack_wait: AGAIN_NS,
      max_ack_pending: 10 * TOGETHER,
    })
  })
  const inbox = service({
    name: `bus ${name}`,
    everyMs: RETRY_MS,
    timers,
    log,
    async round(signal) {
      const waitMs = paidIn(ration, owed)
      if (waitMs > 0) return waitMs
      const consumer = await link.jetstream.consumers.get(stream, name)
      owed = await taken(parts, await consumer.fetch({ max_messages: together, expires: PULL_MS }), signal)
      return 0
    },
  })
  inbox.start()
  return inbox
}

/** After how long there is enough to pay; 0 where it is paid. */
function paidIn(ration: Ration, items: number): number {
  try {
    ration.take(items)
    return 0
  } catch (error) {
    if (error instanceof Objected && error.problem.retryAfterMs !== undefined) return error.problem.retryAfterMs
    throw error
  }
}

/** How many have come. Handles messages as they come: while some are being handled, others gather. */
async function taken(parts: InboxParts, messages: ConsumerMessages, signal: AbortSignal): Promise<number> {
  const close = () => void messages.close()
  signal.addEventListener('abort', close, { once: true })
  let count = 0
  let gathered: JsMsg[] = []
  let failure: unknown
  let handling: Promise<void> | undefined
  const handleAll = async () => {
    while (gathered.length > 0) {
      const batch = gathered
      gathered = []
      try {
        await handled(parts, batch)
      } catch (error) {
        failure = error
      }
    }
    handling = undefined
  }
  try {
    for await (const message of messages) {
      count += 1
      gathered.push(message)
      handling ??= handleAll()
    }
  } finally {
    signal.removeEventListener('abort', close)
    await handling
  }
  if (failure !== undefined) throw failure
  return count
}

async function handled({ handle }: InboxParts, batch: readonly JsMsg[]): Promise<void> {
  try {
    const done = await handle(batch)
    for (const [i, message] of batch.entries()) {
      if (done[i] === true) message.ack()
      else message.nak(LATER_MS)
    }
  } catch (error) {
    for (const message of batch) message.nak(LATER_MS)
    throw error
  }
}
