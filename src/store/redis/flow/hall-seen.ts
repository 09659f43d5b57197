/** The hall as one answer of `look.lua` tells it. */
import type { Gate } from '../../../core/flow/gate.ts'
import type { Flow, Place } from '../../../core/flow/hall.ts'
import { type Counted, type Slot, windowAt } from '../../../core/flow/slots.ts'
import type { Priority, Time } from '../../../core/job.ts'
import { type FlowSeen, LookedAt } from '../../looked-at.ts'
import { list, pairs, type Reply, word, words } from '../connection/reply.ts'
import { idOf } from '../job/id-text.ts'
import { NONE } from '../job/job-text.ts'

export interface SeenFlow extends FlowSeen {
  readonly version: string
  /** The lane's word, within its queue. */
  readonly laneWord: string
  /** Of places that others wait at too: who is first there, by its pass; and who is last of its own account, where one of them is. */
  readonly others: readonly (readonly [place: Place, lowest: number, last: number | undefined])[]
}

export interface SeenKey extends Counted {
  readonly version: string
  readonly wakeAt: Time | undefined
  /** The number of the budget's window that `count.spent` is of. */
  readonly window: number
  /** What was spent and is counted in it now. */
  readonly spends: readonly string[]
  /** Of a key that is looked at for its own sake: what stands, the newest first. */
  readonly standing: readonly Slot[]
}

/** A job that stands and may have to leave its lane: its queue is paused, or it stood for long in the way of others. */
export interface SeenStanding extends Slot {
  readonly why: 'paused' | 'stood'
  readonly flow: string
}

export class HallSeen extends LookedAt<SeenFlow, SeenKey> {
  readonly arrivals: readonly (readonly [what: string, number: string])[]
  readonly places: readonly Place[]
  readonly arrived: readonly string[]
  readonly back: readonly SeenStanding[]

  constructor(answer: readonly Reply[]) {
    const [time, arrivals, places, arrived, rings, flows, keys, back, ringMost, heads] = answer
    const now = Number(word(time))
    const seen = list(rings).map((ring) => ringIn(words(ring)))
    const seenFlows = list(flows).map((row) => seenFlow(list(row)))
    super({
      now,
      flows: seenFlows,
      keys: new Map(list(keys).map((row) => seenKey(list(row), now))),
      rings: seen.map(({ place, priority, names }) => [place, priority, names]),
      hungry: seen.map(({ place, priority, since }) => [place, priority, since]),
      firsts: seenFlows.flatMap(({ flow: { priority }, others }) =>
        others.map(([place, lowest]) => [place, priority, lowest] as const),
      ),
      lasts: seenFlows.flatMap(({ flow: { priority, account }, others }) =>
        others.flatMap(([place, , last]) => (last === undefined ? [] : [[place, priority, account, last] as const])),
      ),
      ringMost: Number(word(ringMost)),
      heldMost: Number(word(heads)),
    })
    this.arrivals = pairs(words(arrivals))
    this.places = words(places) as readonly Place[]
    this.arrived = words(arrived)
    this.back = list(back).map(seenStanding)
  }
}

function ringIn([place = '', priority = '', since, ...names]: readonly string[]) {
  return { place: place as Place, priority: Number(priority) as Priority, since: Number(since), names }
}

function seenFlow(row: readonly Reply[]): SeenFlow {
  const texts = row.slice(0, 14).map(word)
  const [id = '', version = '', queue = '', laneWord = '', lane = '', priority, keys = '', pass, waits, next, weight] =
    texts
  const [isPaused, standing, account = ''] = texts.slice(11)
  const flow: Flow = {
    name: id,
    queue,
    lane,
    priority: Number(priority) as Priority,
    keys: keys === '' ? [] : keys.split(' '),
    account,
    weight: Number(weight),
    pass: Number(pass),
    waitsAt: waits === '' ? undefined : (waits as Place),
    nextAt: timeIn(next ?? NONE),
  }
  const others = list(row[14]).map((each) => {
    const [place = '', lowest, last = NONE] = words(each)
    return [place as Place, Number(lowest), last === NONE ? undefined : Number(last)] as const
  })
  const held = pairs(words(row[15])).map(([job, readyAt]) => ({ job: idOf(job), readyAt: Number(readyAt) }))
  return { version, flow, laneWord, isPaused: isPaused === '1', standing: Number(standing), held, others }
}

function seenKey(row: readonly Reply[], now: Time): readonly [string, SeenKey] {
  const [id = '', version = '', gateText = '', spentBefore, spentIn, wake] = row.slice(0, 6).map(word)
  const gate = JSON.parse(gateText) as Gate
  const window = windowAt(gate, now)
  const spends = pairs(words(row[7]))
  const spent = spentWithin(gate, { spent: Number(spentBefore), window: Number(spentIn) }, spends, now)
  const standing = pairs(words(row[8])).map(([job, at]) => slotOf(job, at, NONE))
  const count = countIn(words(row[6]), spent)
  return [
    id,
    { version, gate, count, window, spends: spends.map(([spend]) => spend), standing, wakeAt: timeIn(wake ?? NONE) },
  ]
}

/** What is spent of the present window: what is summed up already, and what is not. */
export function spentWithin(
  gate: Gate,
  before: { readonly spent: number; readonly window: number },
  spends: readonly (readonly [spend: string, at: string])[],
  now: Time,
): number {
  const window = windowAt(gate, now)
  return spends
    .filter(([, at]) => windowAt(gate, Number(at)) === window)
    .reduce((sum, [spend]) => sum + Number(spend.split(':')[0]), before.window === window ? before.spent : 0)
}

export function countIn(texts: readonly string[], spent: number): Counted['count'] {
  const [taken, takenSince, started, oldest] = texts
  return {
    taken: Number(taken),
    takenSince: Number(takenSince),
    started: Number(started),
    oldestStart: timeIn(oldest ?? NONE),
    spent,
  }
}

export const slotOf = (job: string, letInAt: string, claimedAt: string): Slot => ({
  job: idOf(job),
  letInAt: Number(letInAt),
  claimedAt: timeIn(claimedAt),
})

function seenStanding(row: Reply): SeenStanding {
  const [job = '', why, flow = '', letInAt = ''] = words(row)
  return { ...slotOf(job, letInAt, NONE), why: why === 'paused' ? 'paused' : 'stood', flow }
}

const timeIn = (text: string): Time | undefined => (text === NONE ? undefined : Number(text))
