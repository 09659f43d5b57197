import type { Command } from '../../../src/core/command.ts'
import type { BodyRef, Job, State } from '../../../src/core/job.ts'
import { placeOf } from '../../../src/core/newer.ts'
import type { CommandType } from '../../../src/core/verb.ts'
import type { Body } from '../../../src/store/store.ts'
import type { Intent } from './program.ts'

export type Word = Exclude<Command, { type: 'enqueue' }>

/** A command in full, and the texts its bodies stand for. */
export interface Words {
  readonly command: Word
  readonly bodies: readonly Body[]
}

export type Verb = CommandType | 'tick' | 'purge' | 'compact'

/** What people do with a job in this state, likelier things more often: aimless programs never get far. */
const SENSIBLE: Readonly<Record<State, readonly Verb[]>> = {
  pending: ['admit', 'admit', 'admit', 'deny', 'askApproval', 'askApproval', 'tick'],
  queued: [
    'claim',
    'claim',
    'claim',
    'claim',
    'claim',
    'claim',
    'signal',
    'replace',
    'reschedule',
    'cancel',
    'tick',
    'deadLetter',
  ],
  retrying: ['claim', 'claim', 'claim', 'reschedule', 'tick', 'cancel'],
  claimed: ['start', 'start', 'start', 'start', 'heartbeat', 'complete', 'fail', 'release', 'tick', 'cancel'],
  running: [
    ...(['heartbeat', 'heartbeat', 'progress', 'progress', 'checkpoint', 'checkpoint', 'record', 'record'] as const),
    ...(['record', 'wait', 'wait', 'complete', 'fail', 'fail', 'compensated', 'compensated', 'release'] as const),
    ...(['tick', 'stall', 'signal', 'replace', 'replace', 'cancel', 'deadLetter'] as const),
  ],
  waiting: ['replace', 'signal', 'signal', 'tick', 'tick', 'tick', 'cancel'],
  parked: ['signal', 'signal', 'tick', 'tick', 'cancel'],
  stalled: ['requeue', 'requeue', 'claim', 'tick'],
  succeeded: ['purge', 'compact', 'compact', 'complete', 'strip'],
  denied: ['purge', 'reopen', 'strip'],
  failed: ['reopen', 'reopen', 'compact', 'purge', 'fail', 'strip'],
  cancelled: ['reopen', 'reopen', 'compact', 'purge', 'cancel', 'strip'],
  timed_out: ['reopen', 'reopen', 'compact', 'purge'],
  dead_lettered: ['reopen', 'reopen', 'compact', 'purge'],
}

const UNDOING: readonly Verb[] = ['record', 'record', 'compensated', 'compensated', 'heartbeat', 'fail', 'tick']

/** What an intent comes to for a job in this state. */
export function verbFor({ state, phase, approval }: Job, { verb, n }: Intent): Verb {
  if (verb !== 'sensible') return verb
  const sensible = state === 'running' && phase === 'compensate' ? UNDOING : SENSIBLE[state]
  const chosen = sensible[n % sensible.length] as Verb
  // What was asked for is answered, or few programs come to it.
  return chosen === 'askApproval' && approval !== undefined ? 'approve' : chosen
}

interface Circumstances {
  readonly requestId: string
  readonly fence: string
  /** Unique in its program. */
  readonly serial: number
  readonly at: number
}

export function wordsFor(type: Word['type'], job: Job, n: number, about: Circumstances): Words {
  const { requestId, fence, serial, at } = about
  const bodies: Body[] = []
  const body = (name: string): BodyRef => {
    const text = JSON.stringify({ serial, name })
    bodies.push({ name, text })
    return { name, size: text.length, digest: n % 2 === 0 ? `d${serial}` : undefined }
  }
  const asked = { actor: `actor:${n % 3}`, requestId, ...(n % 11 === 0 && { correlationId: `c${n}`, cause: 'chance' }) }
  const owned = { ...asked, fence }
  const spent = n % 3 === 0 ? { executionMs: n } : {}
  const command = ((): Word => {
    switch (type) {
      case 'admit':
        return { ...asked, type, rule: 'r', policyHash: 'h' }
      case 'deny':
        return { ...asked, type, rule: 'r', policyHash: 'h', reason: 'no' }
      case 'askApproval':
        return {
          ...asked,
          type,
          rule: 'r',
          policyHash: 'h',
          expiresMs: 1_000_000 + n,
          ...(n % 2 === 0 && { notBy: `actor:${n % 5}` }),
        }
      case 'approve':
        return { ...asked, type, policyHash: 'h', jobHash: job.approval?.jobHash ?? 'none', reason: 'seen' }
      case 'claim':
        return { ...asked, type, workerId: `w${n % 5}`, nonce: serial.toString(16).padStart(16, '0') }
      case 'start':
      case 'heartbeat':
        return { ...owned, type }
      case 'compensated':
        return { ...owned, type, ...spent }
      case 'progress':
        return {
          ...owned,
          type,
          ...(n % 2 === 0 && { progress: { done: n, total: undefined, message: `é ${n}`, etaAt: at + n } }),
          counters: { documents: n % 7, [`c${n % 3}`]: 0.5 },
        }
      case 'checkpoint':
        return { ...owned, type, body: body('checkpoint') }
      case 'record':
        return recordWork(owned, job, n, body)
      case 'complete':
        return n % 4 === 0
          ? { ...owned, type, resultPtr: `s3://${n}`, stats: { pages: 1 }, ...spent }
          : { ...owned, type, result: body('output'), ...spent, ...(n % 5 === 0 && { startedAt: job.updatedAt }) }
      case 'fail':
        return { ...owned, type, fault: fault(n, job, body), ...spent }
      case 'wait':
        return {
          ...owned,
          type,
          name: `s${n % 2}`,
          ...(n % 8 === 0 && { key: 'k' }),
          ...(n % 3 !== 0 && { timeoutMs: n }),
          ...(n % 5 === 0 && { memo: `memo${n}`, onTimeout: 'resume' as const }),
          ...spent,
        }
      case 'signal':
        return {
          ...asked,
          type,
          name: `s${n % 2}`,
          ...(n % 8 === 0 && { key: 'k' }),
          body: body(`signal/${job.signals + 1}`),
        }
      case 'release':
        return {
          ...owned,
          type,
          reason: n % 2 === 0 ? 'shutdown' : 'snoozed',
          ...(n % 3 === 0 && { runAt: at + n }),
          ...spent,
        }
      case 'reschedule':
        return { ...asked, type, ...(n % 2 === 0 && { priority: n % 10 }), ...(n % 3 === 0 && { runAt: at + n * 10 }) }
      case 'replace':
        return {
          ...asked,
          type,
          input: body(placeOf(job, { input: 'some', flow: job.spec.flow })),
          flow: job.spec.flow,
          ...(n % 2 === 0 && { debounce: { withinMs: n * 10, atMostMs: n * 100 } }),
          ...(n % 3 === 0 && { runAt: at + n * 10 }),
        }
      case 'stall':
        return { ...asked, type, ...(n % 2 === 0 && { fence }) }
      case 'requeue':
      case 'expire':
        return { ...asked, type }
      case 'cancel':
        return { ...asked, type, mode: n % 3 === 0 ? 'hard' : 'soft', reason: 'why not', ...(n % 5 === 0 && { fence }) }
      case 'deadLetter':
        return { ...asked, type, reason: 'policy_violation', stage: 'exec', ...(n % 4 === 0 && { fence }) }
      case 'reopen':
        return { ...asked, type, reason: 'again', ...(n % 4 === 0 && { runAt: at + n }) }
      case 'strip':
        return { ...asked, type, ...(n % 3 !== 0 && { evenOf: job.state }) }
    }
  })()
  return { command, bodies }
}

function recordWork(
  owned: { actor: string; requestId: string; fence: string },
  job: Job,
  n: number,
  body: (name: string) => BodyRef,
): Word {
  const [undone] = job.compensations
  if (job.phase === 'compensate' && undone !== undefined) return { ...owned, type: 'record', undone }
  if (n % 3 === 0) return { ...owned, type: 'record', artifact: { name: `a${n % 4}`, ptr: `s3://${n}` } }
  const name = `step${n % 9}`
  return { ...owned, type: 'record', step: { name, body: body(`step/${name}`), compensate: n % 2 === 1 } }
}

function fault(n: number, job: Job, body: (name: string) => BodyRef) {
  const classes = ['transient', 'transient', 'permanent', 'throttled', 'validation'] as const
  return {
    code: n % 6 === 0 ? 'E_429_RATE' : 'E_PROGRAM',
    message: `n is ${n}`,
    class: classes[n % classes.length],
    ...(n % 4 === 0 && { retryAfterMs: n }),
    ...(n % 7 === 0 && { context: { url: `u${n}` }, body: body(`error/${job.attempt}`) }),
  }
}
