/** A change as the words of `commit.lua`. */

import { hasLongLog } from '../../../core/compact.ts'
import { isMereRenewal } from '../../../core/decide/heartbeat.ts'
import type { Event } from '../../../core/event.ts'
import { hash53 } from '../../../core/hash.ts'
import type { Job } from '../../../core/job.ts'
import { tickBesidesLease } from '../../../core/timers.ts'
import { COMMAND_CODES, EVENT_CODES, STATE_CODES } from '../../codec/codes.ts'
import { baseOf, encodeEvents } from '../../codec/events.ts'
import { logTells } from '../../codec/log-tells.ts'
import { correlationMark } from '../../codec/marks.ts'
import { encodeRecord } from '../../codec/record.ts'
import { storable } from '../../codec/text.ts'
import { type Change, type MoveChange, queueKey } from '../../store.ts'
import {
  codeWord,
  idWord,
  isLine,
  keyNameOf,
  laneWord,
  markWord,
  NO_LIMITS,
  newcomerWords,
  timeWord,
  Unstorable,
} from '../job/encode.ts'
import { ANY_REQUEST, APART, INLINE, NONE } from '../job/job-text.ts'
import type { Kinds } from '../job/kinds.ts'

export type Simple = Exclude<Change, { kind: 'compact' }>

export function idOfChange(change: Change): string {
  if (change.kind === 'key') throw new Unstorable('flow', NO_LIMITS)
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
      return [idOfChange(change)]
  }
}

function moveWords(change: MoveChange, kinds: Kinds, inFull: boolean): readonly string[] {
  const { before, after, events } = change
  const isInLog = !inFull && logTells(before, after)
  const { tenant, queue } = before.spec.kind
  const output = change.bodies.findLast(({ name }) => name === 'output')
  const stored = output === undefined ? undefined : storable(output.text)
  return [
    'move',
    idOfChange(change),
    numbersOf(change),
    quoted(after.owner?.workerId),
    quoted(after.lease?.lastBeatId),
    isInLog ? '' : encodeRecord(after),
    encodeEvents(events, before.spec, baseOf(before), isInLog ? 'following' : 'alone'),
    after.endedAt === undefined
      ? [...new Set(events.map(({ requestId }) => hash53(requestId)))].join(' ')
      : ANY_REQUEST,
    stored === undefined ? '' : isLine(stored) ? `${INLINE}${stored}` : APART,
    factsOf(events),
    queueKey(tenant, queue),
    before.readyAt === undefined ? '' : laneWord(before),
    after.readyAt === undefined ? '' : laneWord(after),
    codeWord(before),
    codeWord(after),
    ...moreWords(change, kinds, stored),
  ]
}

/** The numbers of a move, in the order in which the script takes them apart. */
function numbersOf({ before, after, notAfter }: MoveChange): string {
  const { rev, seq, state, generation, attempt, lease } = after
  return [
    before.rev,
    timeWord(notAfter),
    rev,
    seq,
    STATE_CODES[state],
    generation,
    attempt,
    isMereRenewal(after) ? 0 : 1,
    timeWord(tickBesidesLease(after)),
    lease?.fence ?? NONE,
    lease?.expiresAt ?? 0,
    lease?.beats ?? 0,
    timeWord(after.readyAt),
    longWord(before),
    longWord(after),
  ].join(' ')
}

/** When a job with a long log ended. */
const longWord = (job: Job): string => (hasLongLog(job) ? timeWord(job.endedAt) : NONE)

const quoted = (text: string | undefined): string => (text === undefined ? '' : JSON.stringify(storable(text)))

const factsOf = (events: readonly Event[]): string =>
  events.map(({ type, rev, at }) => `${EVENT_CODES[type]} ${rev} ${at}`).join(';')

/** Keys, other bodies, words that belong elsewhere, a successor: most changes have none. */
function moreWords(change: MoveChange, kinds: Kinds, output: string | undefined): readonly string[] {
  const { before, events, bodies, give, take, spawn } = change
  const { correlationId, kind } = before.spec
  const others = new Map(
    bodies.filter(({ name }) => name !== 'output').map(({ name, text }) => [storable(name), storable(text)]),
  )
  if (output !== undefined && !isLine(output)) others.set('output', output)
  const echoes = events.filter((event) => event.correlationId !== correlationId)
  if (others.size + echoes.length + give.length + take.length === 0 && spawn === undefined) return ['0']
  return [
    '1',
    String(give.length),
    ...give.map((key) => keyNameOf(before, key)),
    String(take.length),
    ...take.flatMap((key) => [keyNameOf(before, key), timeWord(key.until)]),
    String(others.size),
    ...[...others].flat(),
    String(echoes.length),
    ...echoes.map((event) => markWord(correlationMark(kind.tenant, event.correlationId))),
    ...(spawn === undefined ? ['0'] : ['1', ...newcomerWords(spawn, kinds.numberOf(spawn.job.spec.kind) ?? '')]),
  ]
}
