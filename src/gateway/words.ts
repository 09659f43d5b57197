/** From the words of HTTP to those of core: one command, and the texts it refers to. */

import type { z } from 'zod'
import { bodyRef, errorBody, stepBody } from '../core/body.ts'
import type { Command } from '../core/command.ts'
import { parseDuration } from '../core/duration.ts'
import { parseFence } from '../core/fence.ts'
import { PRIORITIES, type Priority, type Time } from '../core/job.ts'
import type { Word } from '../engine/engine.ts'
import type { Body } from '../store/store.ts'
import type { WORDS, WordName } from './contract/schemas.ts'

export type TextOf = (path: string) => string | undefined

interface Said<N extends WordName> {
  readonly body: z.output<(typeof WORDS)[N]>
  /** The exact text of a member that is kept. */
  readonly text: TextOf
  readonly now: Time
}

type Translation = { readonly command: Readonly<Record<string, unknown>>; readonly bodies?: readonly Body[] }

const TRANSLATIONS: { readonly [N in WordName]: (said: Said<N>) => Translation } = {
  start: ({ body }) => ({ command: { type: 'start', fence: body.fence } }),
  heartbeat: ({ body }) => ({ command: { type: 'heartbeat', fence: body.fence } }),
  progress: ({ body: { fence, progress, counters } }) => ({
    command: {
      type: 'progress',
      fence,
      counters,
      progress: progress && { ...progress, etaAt: timeOf(progress.etaAt) },
    },
  }),
  checkpoint: ({ body, text: textOf }) => {
    const text = textOf('state') ?? 'null'
    return {
      command: { type: 'checkpoint', fence: body.fence, body: bodyRef('checkpoint', text) },
      bodies: [{ name: 'checkpoint', text }],
    }
  },
  record: ({ body: { fence, step, undone, artifact, note, spend }, text: textOf }) => {
    if (step === undefined) {
      const memo = textOf('memo')
      const bodies = undone === undefined || memo === undefined ? [] : [{ name: stepBody(undone), text: memo }]
      return { command: { type: 'record', fence, undone, artifact, note, spend }, bodies }
    }
    const text = textOf('step.value')
    const name = stepBody(step.name)
    return {
      command: {
        type: 'record',
        fence,
        undone,
        artifact,
        note,
        spend,
        step: { name: step.name, compensate: step.compensate, body: text && bodyRef(name, text) },
      },
      bodies: text === undefined ? [] : [{ name, text }],
    }
  },
  complete: ({ body: { fence, resultPtr, stats, executionMs, startedAt }, text: textOf }) => {
    const text = textOf('result')
    return {
      command: {
        type: 'complete',
        fence,
        resultPtr,
        stats,
        executionMs,
        startedAt: timeOf(startedAt),
        result: text && bodyRef('output', text),
      },
      bodies: text === undefined ? [] : [{ name: 'output', text }],
    }
  },
  fail: ({ body: { fence, executionMs, startedAt, stack, retryAfter, ...fault }, text: textOf }) => {
    const { code, message, class: errorClass, stage, context, key } = fault
    const attempt = parseFence(fence)?.attempt ?? 0
    const text = textOf('details') ?? (stack === undefined ? undefined : JSON.stringify({ stack }))
    const name = errorBody(attempt)
    return {
      command: {
        type: 'fail',
        fence,
        executionMs,
        startedAt: timeOf(startedAt),
        fault: {
          code,
          message,
          class: errorClass,
          stage,
          context,
          retryAfterMs: parseDuration(retryAfter),
          body: text && bodyRef(name, text),
          key,
        },
      },
      bodies: text === undefined ? [] : [{ name, text }],
    }
  },
  wait: ({ body: { fence, name, key, timeout, onTimeout, memo, executionMs } }) => ({
    command: { type: 'wait', fence, name, key, timeoutMs: parseDuration(timeout), onTimeout, memo, executionMs },
  }),
  release: ({ body: { fence, reason, runAt, delay, executionMs }, now }) => ({
    command: { type: 'release', fence, reason, runAt: moment(runAt, delay, now), executionMs },
  }),
  compensated: ({ body: { fence, executionMs } }) => ({ command: { type: 'compensated', fence, executionMs } }),
  admit: ({ body: { rule, policyHash } }) => ({ command: { type: 'admit', rule, policyHash } }),
  deny: ({ body: { rule, policyHash, reason } }) => ({ command: { type: 'deny', rule, policyHash, reason } }),
  approve: ({ body: { policyHash, jobHash, reason } }) => ({
    command: { type: 'approve', policyHash, jobHash, reason },
  }),
  cancel: ({ body: { mode, reason, fence, next } }) => ({
    command: { type: 'cancel', mode, reason, next, ...owned(fence) },
  }),
  signal: ({ body: { name, key }, text: textOf }) => {
    const text = textOf('payload')
    return {
      command: { type: 'signal', name, key, body: text && bodyRef('signal', text) },
      bodies: text === undefined ? [] : [{ name: 'signal', text }],
    }
  },
  reopen: ({ body: { runAt, reason } }) => ({ command: { type: 'reopen', runAt: timeOf(runAt), reason } }),
  reschedule: ({ body: { runAt, delay, priority }, now }) => ({
    command: { type: 'reschedule', runAt: moment(runAt, delay, now), priority: priorityOf(priority) },
  }),
  deadletter: ({ body: { reason, stage, message, fence } }) => ({
    command: { type: 'deadLetter', reason, stage, message, ...owned(fence) },
  }),
}

export interface Speaker {
  readonly actor: string
  readonly tenant: string
  readonly requestId: string
  readonly traceparent: string | undefined
}

/** `body` is what its schema made of it, `text` what it did not look at. */
export function wordOf(
  name: WordName,
  id: string,
  body: Readonly<Record<string, unknown>>,
  text: TextOf,
  speaker: Speaker,
  now: Time,
): Word {
  const translate = TRANSLATIONS[name] as (said: { body: unknown; text: TextOf; now: Time }) => Translation
  const { command, bodies } = translate({ body, text, now })
  const { actor, tenant, traceparent } = speaker
  const requestId = typeof body['requestId'] === 'string' ? body['requestId'] : speaker.requestId
  const expectedRev = body['expectedRev']
  const asked = { ...command, actor, requestId, traceparent, expectedRev }
  return { id, tenant, command: asked as never as Exclude<Command, { type: 'enqueue' | 'claim' }>, bodies }
}

const timeOf = (iso: string | undefined): Time | undefined => (iso === undefined ? undefined : Date.parse(iso))
const moment = (runAt: string | undefined, delay: number | string | undefined, now: Time): Time | undefined => {
  const delayMs = parseDuration(delay)
  return delayMs === undefined ? timeOf(runAt) : now + delayMs
}

export const priorityOf = (priority: number | keyof typeof PRIORITIES | undefined): Priority | undefined =>
  typeof priority === 'string' ? PRIORITIES[priority] : priority

/** An absent fence must be absent: `'fence' in command` asks whether an owner speaks. */
const owned = (fence: string | undefined) => (fence === undefined ? {} : { fence })
