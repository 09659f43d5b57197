/** The alphabet: every word somebody may say to a job, and the command it is. */
import type { Command } from '../../src/core/command.ts'
import type { BodyRef, Job } from '../../src/core/job.ts'
import { isBegun, isLetIn } from './ghost.ts'

/** Said under a fence. */
export const OWNER_WORDS = [
  'start',
  'heartbeat',
  'progress',
  'checkpoint',
  'step',
  'undo',
  'complete',
  'again',
  'transient',
  'permanent',
  'throttled',
  'askedAtOnce',
  'askedLate',
  'invalid',
  'overdue',
  'waitShort',
  'waitLong',
  'waitForever',
  'waitStrict',
  'release',
  'snooze',
  'unknown',
  'giveUp',
  'reject',
  'compensated',
] as const
export type OwnerWord = (typeof OWNER_WORDS)[number]

/** Said by anybody else. */
export const ENVIRONMENT_WORDS = [
  'admit',
  'deny',
  'ask',
  'approve',
  'cancelSoft',
  'cancelHard',
  'signal',
  'noise',
  'reopen',
  'postpone',
  'hurry',
  'bury',
  'stall',
  'requeue',
  'expire',
  'duplicate',
  'bareDuplicate',
  'misplacedDuplicate',
  'cancelDropping',
] as const
export type EnvironmentWord = (typeof ENVIRONMENT_WORDS)[number]

export type WordName = OwnerWord | EnvironmentWord | 'claim' | 'tick'

export interface Word {
  readonly name: WordName
  readonly fence: string | undefined
  /** Tells requests with the same words apart. */
  readonly serial: number
}

export interface Instant {
  readonly now: number
  readonly unitMs: number
}

/** The signal that handlers wait for. */
export const AWAITED = 'go'

/** Unique per claim: no history claims the same attempt of the same generation twice. */
export const nonceOf = (generation: number, attempt: number): string =>
  (generation * 256 + attempt).toString(16).padStart(16, '0')

/** The right attempt, the wrong secret. */
export const forged = (job: Job): string => `${job.generation}.${job.attempt}.${'f'.repeat(16)}`

export const wordText = ({ name, fence, serial }: Word): string =>
  `${name}${fence === undefined ? '' : `@${fence.split('.').slice(0, 2).join('.')}`}${serial === 0 ? '' : `#${serial}`}`

/** A command as it would arrive at this job. Times in it are relative to when it is judged. */
export function commandOf(word: Word, job: Job, at: Instant): Command {
  const expectedRev = job.spec.kind.policy.dialect === '001' ? job.rev : undefined
  return word.fence === undefined
    ? { ...environmentCommand(word, job, at), expectedRev }
    : { ...ownerCommand(word, word.fence, job, at), expectedRev }
}

function ownerCommand({ name, serial }: Word, fence: string, job: Job, { now, unitMs }: Instant): Command {
  const actor = 'worker:w'
  /** The one word that ends a lease has an implied request id; the others are numbered. */
  const last = (type: string) => ({ actor, fence, requestId: `${fence}/${type}` })
  const next = (type: string) => ({ actor, fence, requestId: `${fence}/${type}/${serial}` })
  const wait = { ...last('wait'), type: 'wait', name: AWAITED } as const
  const body = { name: 'checkpoint', size: 1, digest: 'd' }
  switch (name) {
    case 'start':
      return { ...next('start'), type: 'start' }
    case 'heartbeat':
      return { ...next('heartbeat'), type: 'heartbeat' }
    case 'progress':
      return { ...next('progress'), type: 'progress', counters: { pages: 1 } }
    case 'checkpoint':
      return { ...next('checkpoint'), type: 'checkpoint', body }
    case 'step':
      return { ...next('step'), type: 'record', step: { name: `s${job.steps + 1}`, body: undefined, compensate: true } }
    case 'undo':
      return { ...next('undo'), type: 'record', undone: job.compensations.at(-1) ?? 's1' }
    case 'complete':
      return { ...last('complete'), type: 'complete' }
    case 'again':
      return { ...next('complete'), type: 'complete' }
    case 'transient':
      return { ...last('fail'), type: 'fail', fault: { code: 'E_QDRANT', message: 'transient' } }
    case 'permanent':
      return { ...last('fail'), type: 'fail', fault: { code: 'E_URL_BAD', message: 'permanent' } }
    case 'throttled':
      return { ...last('fail'), type: 'fail', fault: { code: 'captcha', message: 'throttled' } }
    case 'askedAtOnce':
      return { ...last('fail'), type: 'fail', fault: { code: 'E_429_RATE', message: name, retryAfterMs: 0 } }
    case 'askedLate':
      return { ...last('fail'), type: 'fail', fault: { code: 'E_429_RATE', message: name, retryAfterMs: 100 * unitMs } }
    case 'invalid':
      return { ...last('fail'), type: 'fail', fault: { code: 'validation_failed', message: 'invalid', stage: 'input' } }
    case 'overdue':
      return { ...last('fail'), type: 'fail', fault: { code: 'E_TIMEOUT', message: 'overdue' } }
    case 'waitShort':
      return { ...wait, timeoutMs: unitMs }
    case 'waitLong':
      return { ...wait, timeoutMs: 2 * unitMs }
    case 'waitForever':
      return wait
    case 'waitStrict':
      return { ...wait, timeoutMs: unitMs, onTimeout: 'timed_out' }
    case 'release':
      return { ...last('release'), type: 'release', reason: 'shutdown' }
    case 'snooze':
      return { ...last('release'), type: 'release', reason: 'snoozed', runAt: now + unitMs }
    case 'unknown':
      return { ...last('release'), type: 'release', reason: 'unknown_type' }
    case 'giveUp':
      return { ...last('cancel'), type: 'cancel', mode: 'soft' }
    case 'reject':
      return { ...last('deadLetter'), type: 'deadLetter', reason: 'parse_error', stage: 'input', message: 'unreadable' }
    case 'compensated':
      return { ...last('compensated'), type: 'compensated' }
    case 'stall':
      return { ...next('stall'), actor: 'system', type: 'stall' }
    default:
      throw new Error(`${name} is not said under a fence`)
  }
}

function environmentCommand({ name, serial }: Word, job: Job, { now, unitMs }: Instant): Command {
  const asked = { actor: 'operator:o', requestId: `${name}#${serial}` }
  const verdict = { rule: 'r', policyHash: 'h' }
  switch (name) {
    case 'claim': {
      const nonce = nonceOf(job.generation, job.attempt + 1)
      return { actor: 'worker:w', requestId: `claim/${nonce}`, type: 'claim', workerId: 'w', nonce }
    }
    case 'admit':
      return { ...asked, ...verdict, type: 'admit' }
    case 'deny':
      return { ...asked, ...verdict, type: 'deny' }
    case 'ask':
      return { ...asked, ...verdict, type: 'askApproval', expiresMs: 2 * unitMs }
    case 'approve':
      return { ...asked, type: 'approve', policyHash: 'h', jobHash: job.approval?.jobHash ?? 'none' }
    case 'cancelSoft':
      return { ...asked, type: 'cancel', mode: 'soft' }
    case 'cancelHard':
      return { ...asked, type: 'cancel', mode: 'hard' }
    case 'signal':
      return { ...asked, type: 'signal', name: AWAITED }
    case 'noise':
      return { ...asked, type: 'signal', name: AWAITED, key: 'another' }
    case 'reopen':
      return { ...asked, type: 'reopen' }
    case 'postpone':
      return { ...asked, type: 'reschedule', runAt: now + unitMs }
    case 'hurry':
      return { ...asked, type: 'reschedule', runAt: now }
    case 'bury':
      return { ...asked, type: 'deadLetter', reason: 'policy_violation', stage: 'exec' }
    case 'stall':
      return { ...asked, type: 'stall' }
    case 'requeue':
      return { ...asked, type: 'requeue' }
    case 'expire':
      return { ...asked, type: 'expire' }
    case 'duplicate':
      return { ...asked, type: 'replace', input: newerFor(job) }
    case 'misplacedDuplicate': {
      const { name, ...input } = newerFor(job)
      return { ...asked, type: 'replace', input: { ...input, name: name === 'next' ? 'replaced' : 'next' } }
    }
    case 'bareDuplicate':
      return { ...asked, type: 'replace' }
    case 'cancelDropping':
      return { ...asked, type: 'cancel', mode: 'soft', next: 'drop' }
    default:
      throw new Error(`${name} is said under a fence`)
  }
}

/** Revisions are one in here, so each input has a size of its own. */
function newerFor(job: Job): BodyRef {
  const name = isBegun(job) || isLetIn(job, job.spec.kind.policy) ? 'next' : 'replaced'
  return { name, size: (job.newer?.input?.size ?? 0) + 1, digest: 'd' }
}
