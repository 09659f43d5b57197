/** An event in a few words, from what it carries. */
import type { JobEvent } from '../api/wire.ts'
import { span } from '../words/format.ts'

type Payload = JobEvent['payload']

interface Inner {
  readonly [name: string]: unknown
}

const inner = (payload: Payload, name: string): Inner | undefined => payload[name] as Inner | undefined

const failed = (payload: Payload): string => {
  const failure = inner(payload, 'failure')
  return failure === undefined ? '' : `${failure['code']}: ${failure['message']}`
}

const judged = (payload: Payload): string => {
  const { rule, reason } = inner(payload, 'verdict') ?? {}
  return typeof reason === 'string' ? `rule ${rule}: ${reason}` : `rule ${rule}`
}

const SAYINGS: Readonly<Record<string, (event: JobEvent) => string>> = {
  claimed: ({ attempt, payload }) => `run ${attempt}, lease until ${String(payload['leaseExpiresAt']).slice(11, 19)}`,
  started: ({ attempt }) => `run ${attempt}`,
  waiting: ({ payload }) => `for ${inner(payload, 'wait')?.['name']}`,
  signalled: ({ payload }) => String(inner(payload, 'signal')?.['name'] ?? ''),
  signal_stored: ({ payload }) => `${inner(payload, 'signal')?.['name']}, kept until it is waited for`,
  replaced: ({ payload }) =>
    inner(payload, 'newer')?.['next'] === undefined ? 'a newer input' : 'a newer input, for the job that comes next',
  retry_scheduled: ({ payload }) => failed(payload),
  failed: ({ payload }) => failed(payload),
  timed_out: ({ payload }) => failed(payload),
  dead_lettered: ({ payload }) => `${inner(payload, 'deadLetter')?.['reason']}, ${failed(payload)}`,
  succeeded: ({ payload }) => `worked ${span(Number(payload['executionMs'] ?? 0))}`,
  cancelled: ({ payload }) => String(inner(payload, 'cancel')?.['reason'] ?? ''),
  cancel_requested: ({ payload }) =>
    `${inner(payload, 'cancel')?.['mode']}${inner(payload, 'cancel')?.['reason'] === undefined ? '' : `, ${inner(payload, 'cancel')?.['reason']}`}`,
  heartbeat: ({ payload }) => `${payload['count']} of them`,
  progressed: ({ payload }) => progressOf(payload),
  recorded: ({ payload }) => recordOf(payload),
  denied: ({ payload }) => judged(payload),
  admitted: ({ payload }) => judged(payload),
  approval_asked: ({ payload }) => judged({ verdict: payload['approval'] }),
  enqueued: ({ payload }) => `as ${inner(payload, 'spec')?.['type']} in ${inner(payload, 'spec')?.['queue']}`,
}

export function sayingOf(event: JobEvent): string {
  const said = SAYINGS[event.type]?.(event) ?? ''
  // A failure's code is the reason of its event as well.
  const reason = event.reason === undefined || said.includes(event.reason) ? [] : [event.reason]
  return [said, ...reason].filter((part) => part !== '').join('; ')
}

function progressOf(payload: Payload): string {
  const progress = inner(payload, 'progress')
  if (progress === undefined) return 'counters'
  const { done, total, message } = progress
  const share =
    typeof total === 'number' && total > 0
      ? `${Math.floor((100 * Number(done)) / total)} %, ${done} of ${total}`
      : String(done)
  return typeof message === 'string' ? `${share}, ${message}` : share
}

function recordOf(payload: Payload): string {
  const step = inner(payload, 'step')
  if (step !== undefined) return `step ${step['name']}`
  if (payload['undone'] !== undefined) return `undone ${payload['undone']}`
  const artifact = inner(payload, 'artifact')
  return artifact === undefined ? 'a note' : `artifact ${artifact['name']}`
}
