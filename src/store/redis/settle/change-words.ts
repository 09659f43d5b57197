/** A change as the words of `commit.lua`. */

import { hasLongLog } from '../../../core/compact.ts'
import { isMereRenewal } from '../../../core/decide/heartbeat.ts'
import type { Event } from '../../../core/event.ts'
import { hash53 } from '../../../core/hash.ts'
import type { Job } from '../../../core/job.ts'
import { judgeAt, tickBesidesLease } from '../../../core/timers.ts'
import { COMMAND_CODES, EVENT_CODES, STATE_CODES } from '../../codec/codes.ts'
import { baseOf, encodeEvents } from '../../codec/events.ts'
import { logTells } from '../../codec/log-tells.ts'
import { correlationMark, marksAdded } from '../../codec/marks.ts'
import { encodeRecord } from '../../codec/record.ts'
import { storable } from '../../codec/text.ts'
import { type Body, type Change, type MoveChange, queueKey } from '../../store.ts'
import { IN_FLOW, isFlowing, keyMoveWords, mendWords, moveFlowWords } from '../flow/words.ts'
import { codeWord, idWord, isLine, keyNameOf, markWord, newcomerWords } from '../job/encode.ts'
import { ANY_REQUEST, APART, INLINE, NONE, timeWord } from '../job/job-text.ts'
import type { Kinds } from '../job/kinds.ts'
import { laneWord } from '../job/lane-word.ts'

export type Simple = Exclude<Change, { kind: 'compact' }>

/** Nothing where no job is involved. */
export function idOfChange(change: Change): string {
  if (change.kind === 'key' || change.kind === 'mend') return ''
  return change.kind === 'annotate'
    ? idWord(change.annotation.jobId, 'annotation.jobId')
    : idWord(change.before.id, 'before.id')
}

export function changeWords(change: Simple, kinds: Kinds, inFull: boolean): readonly string[] {
  switch (change.kind) {
    case 'move':
      return moveWords(change, kinds, inFull)
    case 'annotate': {
      const { generation, attempt, command } = change.annotation
      const field = `${generation}.${attempt}.${COMMAND_CODES[command]}`
      return ['annotate', idOfChange(change), field, JSON.stringify(change.annotation)]
    }
    case 'purge':
      return ['purge', idOfChange(change), String(change.before.rev), codeWord(change.before)]
    case 'key':
      return ['key', ...keyMoveWords(change.tenant, change.move)]
    case 'mend':
      return ['mend', ...mendWords(change)]
  }
}

function moveWords(change: MoveChange, kinds: Kinds, inFull: boolean): readonly string[] {
  const { before, after, events, notAfter } = change
  const isInLog = !inFull && logTells(before, after)
  const { tenant, queue } = after.spec.kind
  const output = change.bodies.findLast(({ name }) => name === 'output')
  const stored = output === undefined ? undefined : storable(output.text)
  return [
    'move',
    idOfChange(change),
    String(before.rev),
    before.lease?.fence ?? NONE,
    timeWord(notAfter),
    stateLine(after),
    leaseLine(after),
    isInLog ? '' : encodeRecord(after),
    encodeEvents(events, before.spec, baseOf(before), isInLog ? 'following' : 'alone'),
    after.endedAt === undefined
      ? [...new Set(events.map(({ requestId }) => hash53(requestId)))].join(' ')
      : ANY_REQUEST,
    stored === undefined ? '' : isLine(stored) ? `${INLINE}${stored}` : APART,
    factsOf(events),
    queueKey(tenant, queue),
    ...moreWords(change, kinds, stored),
  ]
}

/** The first line of the job's text as the change makes it. */
const stateLine = (after: Job): string => {
  const { rev, state, seq, generation, attempt } = after
  const tick = timeWord(tickBesidesLease(after))
  return `${rev} ${STATE_CODES[state]} ${seq} ${generation} ${attempt} ${tick} ${isMereRenewal(after) ? 0 : 1} ${rev}`
}

/** A lease that a commit has written is told by the log, with all its heartbeats. */
const leaseLine = ({ lease }: Job): string =>
  lease === undefined ? '' : `${lease.fence} ${lease.expiresAt} 1 ${lease.beats} 0 0 0 0 0`

/** When a job with a long log ended. */
const longWord = (job: Job): string => (hasLongLog(job) ? timeWord(job.endedAt) : NONE)

const quoted = (text: string | undefined): string => (text === undefined ? '' : JSON.stringify(storable(text)))

const factsOf = (events: readonly Event[]): string =>
  events.map(({ type, rev, at }) => `${EVENT_CODES[type]} ${rev} ${at}`).join(';')

/** Owners, lanes, codes, keys, other bodies, words that belong elsewhere, a successor: ends of jobs seldom have any. */
function moreWords(change: MoveChange, kinds: Kinds, output: string | undefined): readonly string[] {
  const { before, after, events, bodies, give, take, spawn } = change
  const { correlationId, kind } = before.spec
  const others = bodies.length === 0 ? NO_BODIES : otherBodies(bodies, output)
  const echoes = events.filter((event) => event.correlationId !== correlationId)
  const owner = [quoted(after.owner?.workerId), quoted(after.lease?.lastBeatId)]
  const lanes = lanesOf(change)
  const long = hasLongLog(before) || hasLongLog(after) ? longWord(after) : ''
  const judge = judgeAt(before) === undefined && judgeAt(after) === undefined ? '' : timeWord(judgeAt(after))
  const codes = [codeWord(before), codeWord(after)]
  const strips = change.strips === true ? '1' : ''
  const marks = [
    ...echoes.map((event) => correlationMark(kind.tenant, event.correlationId)),
    ...marksAdded(before, after),
  ]
  const isPlain =
    others.size + marks.length + give.length + take.length === 0 &&
    spawn === undefined &&
    [...owner, ...lanes, long, judge, strips].every((each) => each === '') &&
    codes[0] === codes[1]
  if (isPlain) return PLAIN
  return [
    '1',
    ...owner,
    ...lanes,
    timeWord(after.readyAt),
    long,
    judge,
    ...codes,
    strips,
    String(give.length),
    ...give.map((key) => keyNameOf(before, key)),
    String(take.length),
    ...take.flatMap((key) => [keyNameOf(before, key), timeWord(key.until)]),
    String(others.size),
    ...[...others].flat(),
    String(marks.length),
    ...marks.map(markWord),
    ...(spawn === undefined ? ['0'] : ['1', ...newcomerWords(spawn, kinds.numberOf(spawn.job.spec.kind) ?? '')]),
    ...(lanes[0] === IN_FLOW ? moveFlowWords(change) : []),
  ]
}

/** The lanes that it is in before and after. What becomes of a job with a flow is told apart. */
function lanesOf(change: MoveChange): readonly [string, string] {
  const { before, after } = change
  if (after.spec.flow !== undefined) return [isFlowing(change) ? IN_FLOW : '', '']
  return [laneBy(before), laneBy(after)]
}

const laneBy = (job: Job): string => (job.readyAt === undefined ? '' : laneWord(job))

const PLAIN: readonly string[] = ['0']
const NO_BODIES: ReadonlyMap<string, string> = new Map()

/** Those that do not lie in the job's own text. */
function otherBodies(bodies: readonly Body[], output: string | undefined): ReadonlyMap<string, string> {
  const others = new Map<string, string>()
  for (const { name, text } of bodies) if (name !== 'output') others.set(storable(name), storable(text))
  if (output !== undefined && !isLine(output)) others.set('output', output)
  return others
}
