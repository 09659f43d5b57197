/** From core's words to those of HTTP: the mirror image of the gateway's own translation. */

import type { Policy } from '../core/policy.ts'
import type { EnqueueRequest, Word } from '../engine/engine.ts'
import { limitToWire } from './limits.ts'

/** JSON with members whose text is known already. */
export function jsonWith(value: object, spliced: Readonly<Record<string, string | undefined>>): string {
  let text = JSON.stringify(value)
  for (const [name, raw] of Object.entries(spliced)) {
    if (raw === undefined) continue
    text = `${text.slice(0, -1)}${text === '{}' ? '' : ','}${JSON.stringify(name)}:${raw}}`
  }
  return text
}

const iso = (time: number | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString()

export function enqueueText(request: EnqueueRequest, requestId: string): string {
  const { actor: _, kind, unsaid: __, older: ___, input, runAt, delayMs, ...rest } = request
  const { queue, type, policy } = kind
  return jsonWith(
    { ...rest, type, queue, requestId, runAt: iso(runAt), delay: delayMs, policy: policyToWire(policy) },
    { input },
  )
}

/** The words of `defineJob` that resolve to this very policy. */
export const policyToWire = (p: Policy): object => ({
  dialect: p.dialect,
  lease: p.leaseMs,
  heartbeat: p.heartbeat ? p.heartbeatMs : false,
  missedHeartbeats: p.missedHeartbeats,
  timeout: p.attemptMs,
  deadline: p.deadlineMs,
  startWithin: p.startWithinMs,
  parkAfter: p.parkAfterMs,
  cancelGrace: p.cancelGraceMs,
  compensateWithin: p.compensateWithinMs,
  retry: {
    attempts: p.maxAttempts,
    stalls: p.maxStalls,
    budget: p.budget,
    ...curveToWire(p.retry),
    throttled: curveToWire(p.throttled),
  },
  errors: p.errors,
  onExhausted: p.onExhausted === 'failed' ? 'failed' : 'dead_letter',
  onInvalid: p.onInvalid === 'failed' ? 'failed' : 'dead_letter',
  onTimeout: p.onAttemptTimeout,
  onStall: p.onStall,
  onNotStarted: p.onNotStarted,
  onWaitTimeout: p.onWaitTimeout,
  admission: p.admission,
  idempotent: p.idempotent,
  dedupe: {
    for: p.dedupe,
    ...(p.onDuplicate !== undefined && { onDuplicate: p.onDuplicate.does }),
    ...(p.onDuplicate?.does === 'debounce' && { within: p.onDuplicate.withinMs, atMost: p.onDuplicate.atMostMs }),
  },
  limits: p.limits?.map(limitToWire),
  breaking: p.breaking,
})

const curveToWire = ({ baseMs, factor, maxMs, jitter }: Policy['retry']): object => ({
  base: baseMs,
  factor,
  max: maxMs,
  jitter,
})

/** An item of `POST /transitions:batch`. */
export function wordText({ id, command, bodies }: Word): string {
  const {
    actor: _,
    correlationId: __,
    cause: ___,
    traceparent: ____,
    type,
    ...words
  } = command as never as Record<string, unknown> & { type: string }
  const text = bodies?.[0]?.text
  const item = { id, command: type === 'deadLetter' ? 'deadletter' : type, requestId: command.requestId }
  switch (command.type) {
    case 'checkpoint':
      return jsonWith({ ...item, fence: command.fence, expectedRev: command.expectedRev }, { state: text ?? 'null' })
    case 'record': {
      const { step, ...rest } = words
      const memo =
        command.step && jsonWith({ name: command.step.name, compensate: command.step.compensate }, { value: text })
      return jsonWith({ ...item, ...rest }, { step: memo, memo: memo === undefined ? text : undefined })
    }
    case 'complete': {
      const { result: ____, startedAt: _____, ...rest } = words
      return jsonWith({ ...item, ...rest, startedAt: iso(command.startedAt) }, { result: text })
    }
    case 'fail': {
      const { fault, level: ______, startedAt: ____, ...rest } = words
      const { retryAfterMs, body: _____, ...told } = command.fault
      return jsonWith(
        { ...item, ...rest, ...told, retryAfter: retryAfterMs, startedAt: iso(command.startedAt) },
        { details: text },
      )
    }
    case 'wait': {
      const { timeoutMs, ...rest } = words
      return jsonWith({ ...item, ...rest, timeout: timeoutMs }, {})
    }
    case 'signal':
      return jsonWith(
        { ...item, name: command.name, key: command.key, expectedRev: command.expectedRev },
        { payload: text },
      )
    case 'progress':
      return jsonWith(
        {
          ...item,
          ...words,
          progress: command.progress && { ...command.progress, etaAt: iso(command.progress.etaAt) },
        },
        {},
      )
    case 'release':
    case 'reopen':
    case 'reschedule':
      return jsonWith({ ...item, ...words, runAt: iso(command.runAt) }, {})
    default:
      return jsonWith({ ...item, ...words }, {})
  }
}
