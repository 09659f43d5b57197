/** From new jobs and their parts to the words of scripts. */
import { isMereRenewal } from '../../../core/decide/heartbeat.ts'
import { hash53 } from '../../../core/hash.ts'
import type { Job } from '../../../core/job.ts'
import { leaseWindowMs } from '../../../core/timers.ts'
import { STATE_CODES } from '../../codec/codes.ts'
import { type EnqueuedEvent, encodeEnqueued } from '../../codec/enqueued.ts'
import { codeMark, correlationMark, marksOf } from '../../codec/marks.ts'
import { storable } from '../../codec/text.ts'
import { Unstorable } from '../../codec/unstorable.ts'
import { type Key, type KeyPurpose, type NewJob, queueKey } from '../../store.ts'
import { IN_FLOW, newcomerFlowWords } from '../flow/words.ts'
import { idDigits } from './id-text.ts'
import { APART, INLINE, NONE, newJobTexts, timeWord } from './job-text.ts'
import { laneWord } from './lane-word.ts'

/** A longer body has a place of its own, so that a job's text, which is read and written whole, stays short. */
const INLINE_MOST = 512

/** The words of a new job, in the order in which `bear.lua` reads them. */
export function newcomerWords({ job, event, input, keys, flow }: NewJob, kind: string): readonly string[] {
  const { spec } = job
  const { tenant, queue } = spec.kind
  const stored = input === undefined ? undefined : storable(input)
  const isInline = stored !== undefined && stored.length <= INLINE_MOST
  const [value, born] = newJobTexts({
    state: STATE_CODES[job.state],
    kind,
    bornAt: String(event.at),
    priority: String(job.priority),
    careful: isMereRenewal(job) ? '0' : '1',
    window: String(leaseWindowMs(spec.kind.policy)),
    tick: timeWord(job.nextTickAt),
    head: encodeEnqueued(event as EnqueuedEvent) ?? '',
    inputSize: stored === undefined ? NONE : `${isInline ? INLINE : APART}${Buffer.byteLength(stored)}`,
    input: isInline ? stored : '',
  })
  const aliases = spec.alias === undefined ? [] : ['alias', keyName(tenant, 'alias', spec.alias), NONE]
  const held = keys.flatMap((key) => [key.purpose, keyName(tenant, key.purpose, key.key), timeWord(key.until)])
  const marks = marksOf(tenant, spec).map(markWord)
  if (spec.correlationId !== job.id) marks.push(markWord(correlationMark(tenant, spec.correlationId)))
  return [
    idWord(job.id, 'job.id'),
    value,
    born,
    String(event.at),
    queueKey(tenant, queue),
    flow === undefined ? laneWord(job) : IN_FLOW,
    timeWord(job.readyAt),
    String((aliases.length + held.length) / 3),
    ...aliases,
    ...held,
    String(marks.length),
    ...marks,
    ...(stored === undefined || isInline ? ['0'] : ['1', 'input', stored]),
    ...(flow === undefined ? [] : newcomerFlowWords(job, flow)),
  ]
}

export function idWord(id: string, field: string): string {
  const digits = idDigits(id)
  if (digits === undefined) throw new Unstorable(field, 'a job id is pj_ and a number in base 32')
  return digits
}

/** The name that a key is kept under. An alias is a key like any other, but it is never given up. */
export const keyName = (tenant: string, purpose: KeyPurpose | 'alias', key: string): string =>
  JSON.stringify([tenant, purpose, key])

export const keyNameOf = (job: Job, { purpose, key }: Key): string => keyName(job.spec.kind.tenant, purpose, key)

export const markWord = (mark: string): string => String(hash53(mark))

export function codeWord({ error, lastFailure, spec }: Job): string {
  const code = (error ?? lastFailure)?.code
  return code === undefined ? '' : markWord(codeMark(spec.kind.tenant, code))
}

/** A body as the last but one line of a job has it: short and of one line, or elsewhere. */
export const isLine = (stored: string): boolean => stored.length <= INLINE_MOST && !stored.includes('\n')
