import { assert } from '../../../core/assert.ts'
import { evolve } from '../../../core/evolve.ts'
import type { Time } from '../../../core/job.ts'
import { baseOf, encodeEvents } from '../../codec/events.ts'
import { encodeRecord } from '../../codec/record.ts'
import { rejected } from '../../codec/unstorable.ts'
import type { Change, CommitAnswer, Key, MoveChange, Verdict } from '../../store.ts'
import type { Calls } from '../connection/calls.ts'
import { word } from '../connection/reply.ts'
import { eventsOf } from '../job/decode.ts'
import { idWord } from '../job/encode.ts'
import { idOf } from '../job/id-text.ts'
import type { Kinds } from '../job/kinds.ts'
import { readLog } from '../read/read-log.ts'
import { lettersIn, portions, sendAll } from '../script/portions.ts'
import { changeWords, idOfChange } from './change-words.ts'
import { restore } from './restore.ts'

export interface CommitParts {
  readonly calls: Calls
  readonly kinds: Kinds
}

interface Placed {
  readonly place: number
  readonly words: readonly string[]
}

/** What the script wants by itself: it is sent again in full before anybody is answered. */
const APART = 'apart'
/** The job has left the server: it is brought back first. */
const EVICTED = 'evicted'

export async function commit(parts: CommitParts, changes: readonly Change[]): Promise<CommitAnswer> {
  const verdicts: (Verdict | undefined)[] = new Array(changes.length).fill(undefined)
  let now = 0
  for (const inFull of [false, true]) {
    const open = changes.flatMap((_, place) => (verdicts[place] === undefined ? [place] : []))
    if (inFull && open.length === 0) break
    now = await parts.calls.repeated(
      () => send(parts, changes, open, inFull, verdicts),
      () => verdicts.includes(APPLIED),
    )
  }
  assert(
    verdicts.every((verdict) => verdict !== undefined),
    'every change has a verdict',
  )
  return { now, verdicts }
}

async function send(
  parts: CommitParts,
  changes: readonly Change[],
  open: readonly number[],
  inFull: boolean,
  verdicts: (Verdict | undefined)[],
): Promise<Time> {
  const { calls, kinds } = parts
  const { life } = calls
  await kinds.intern(open.flatMap((place) => spawnedKind(changes[place] as Change)))
  const rows: Placed[] = []
  // What a repetition finds answered stays so: a change that was applied would meet itself.
  for (const place of open.filter((each) => verdicts[each] === undefined)) {
    const words = await wordsOf(parts, changes[place] as Change, inFull)
    if (Array.isArray(words)) rows.push({ place, words })
    else verdicts[place] = words as Verdict
  }
  let now = 0
  const away: number[] = []
  const sent = portions(rows, ({ words }) => lettersIn(words))
  await sendAll(sent.length === 0 ? [[]] : sent, async (part) => {
    const ids = part.map(({ place }) => idOfChange(changes[place] as Change)).join(' ')
    const answer = await calls.call('commit', [ids, ...part.flatMap(({ words }) => words)], life)
    now = calls.timeIn(answer)
    for (const [i, { place }] of part.entries()) {
      const said = word(answer[i + 1])
      if (said === EVICTED) away.push(place)
      else verdicts[place] = verdictOf(changes[place] as Change, said)
    }
  })
  if (away.length === 0) return now
  // In the order of the changes, whichever portion was answered first.
  away.sort((a, b) => a - b)
  const there = await restore(
    calls,
    away.map((place) => idOfChange(changes[place] as Change)),
  )
  for (const place of away) if (!there.has(idOfChange(changes[place] as Change))) verdicts[place] = CONFLICT
  return send(parts, changes, away, inFull, verdicts)
}

const spawnedKind = (change: Change) =>
  change.kind === 'move' && change.spawn !== undefined ? [change.spawn.job.spec.kind] : []

async function wordsOf(parts: CommitParts, change: Change, inFull: boolean): Promise<readonly string[] | Verdict> {
  if (change.kind === 'compact') return compacted(parts, change)
  try {
    return changeWords(change, parts.kinds, inFull)
  } catch (error) {
    return rejected(error)
  }
}

/** The log of an ended job again, from its second event on, with one event in the place of those it stands for. */
async function compacted(
  parts: CommitParts,
  { before, event, replaces }: Extract<Change, { kind: 'compact' }>,
): Promise<readonly string[] | Verdict> {
  const id = idWord(before.id, 'before.id')
  const found = await readLog(parts, id)
  if (found === undefined) return CONFLICT
  const gone = new Set(replaces)
  const [first, ...rest] = eventsOf(found.stored, found.stretches)
  assert(first !== undefined, 'a job has its first event')
  const kept = [...rest.filter(({ rev }) => !gone.has(rev)), event].sort((a, b) => a.rev - b.rev)
  const born = evolve(undefined, first)
  const log = encodeEvents(kept, born.spec, baseOf(born), 'alone')
  return ['compact', id, String(before.rev), found.stored.text.log, log, encodeRecord(before)]
}

/** Undefined for what is to be sent again. */
function verdictOf(change: Change, said: string): Verdict | undefined {
  switch (said) {
    case 'applied':
      return APPLIED
    case 'conflict':
      return CONFLICT
    case 'late':
      return LATE
    case APART:
      return undefined
    default:
      return taken(change as MoveChange, said)
  }
}

function taken({ take, spawn }: MoveChange, said: string): Verdict {
  const [whose, place, holder] = said.split(' ')
  const wanted = whose === 'take' ? take : spawnKeys(spawn)
  const key = wanted[Number(place) - 1]
  assert(key !== undefined && holder !== undefined, 'a key that was asked for is taken')
  return { status: 'taken', key, holder: idOf(holder) }
}

/** In the order in which they were sent, an alias before them. */
const spawnKeys = (spawn: MoveChange['spawn']): readonly (Key | undefined)[] =>
  spawn === undefined ? [] : [...(spawn.job.spec.alias === undefined ? [] : [undefined]), ...spawn.keys]

const APPLIED: Verdict = { status: 'applied' }
const CONFLICT: Verdict = { status: 'conflict' }
const LATE: Verdict = { status: 'late' }
