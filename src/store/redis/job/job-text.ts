/**
 * A job as it lies in Redis: two texts of lines, which no word of a user can break, because those are JSON or stand in the last.
 * What it was born with is written once: as in `Born`, the head being the first event (`codec/enqueued.ts`), and in a second line the
 * input where it is small. What becomes of it is this, of which scripts compare the first lines (`job.lua`):
 *
 *   state     as in `State`, with blanks between, `-` for none
 *   kind      as in `Kind`: never changed
 *   lease     as in `Lease`; empty where nobody owns it
 *   claim     of a lease that a claim gave, as the log will tell it (`codec/opening.ts`)
 *   worker    whose lease it is, quoted
 *   beat      the request of the last heartbeat, quoted
 *   before    the record before the claim, once the owner's words have made another
 *   record    absent: what the first event makes it, or, of an ended job, what its log does. Of a lease whose claim the log does
 *             not tell yet: the record before the claim
 *   opening, log, requests
 *             the last stretch of its log; those before it are in the stream `past:<id>`
 *   output    `=` and the body of that name, where it is small and one line; `@`: among the bodies
 */
import { assert } from '../../../core/assert.ts'

/** Words of the first lines, in this order. */
interface State {
  readonly rev: string
  readonly state: string
  readonly seq: string
  readonly generation: string
  readonly attempt: string
  /** Clocks besides the end of the lease. */
  readonly tick: string
  readonly careful: string
  /** The last revision that its last stretch tells. */
  readonly tailRev: string
}

interface Kind {
  readonly kind: string
  readonly window: string
  /** `=` or `@` and how many bytes it has, with what it was born with or among the bodies; `-`: there is none. */
  readonly inputSize: string
}

interface Born {
  readonly bornAt: string
  readonly priority: string
  readonly head: string
  readonly input: string
}

export interface Lease {
  readonly fence: string
  readonly expires: string
  /** 1: the log tells the claim. */
  readonly logged: string
  readonly beatsAll: string
  /** Since the last event that was none. */
  readonly beats: string
  readonly beatsFrom: string
  readonly beatsTo: string
  readonly claimRequest: string
  readonly beatRequest: string
}

interface Lines {
  readonly claim: string
  readonly worker: string
  readonly beat: string
  readonly before: string
  readonly record: string
  readonly opening: string
  readonly log: string
  readonly requests: string
  readonly output: string
}

export interface JobText extends State, Kind, Born, Lines {
  readonly lease: Lease | undefined
}

export const NONE = '-'

export const timeWord = (time: number | undefined): string => (time === undefined ? NONE : String(time))

export const INLINE = '='
export const APART = '@'
/** The request of a stretch that may be any: ends are not indexed by it, because an ended job has its end at hand. */
export const ANY_REQUEST = '0'

export function jobTextIn(value: string, born: string): JobText {
  const [
    state = '',
    kind = '',
    lease = '',
    claim = '',
    worker = '',
    beat = '',
    before = '',
    record = '',
    opening = '',
    log = '',
    requests = '',
    output = '',
  ] = partsOf(value, '\n', 12)
  const [rev = '', stateOf = '', seq = '', generation = '', attempt = '', tick = '', careful = '', tailRev = ''] =
    partsOf(state, ' ', 8)
  const [number = '', window = '', inputSize = ''] = partsOf(kind, ' ', 3)
  const [first = '', input = ''] = partsOf(born, '\n', 2)
  const [bornAt = '', priority = '', head = ''] = partsOf(first, ' ', 3)
  return {
    rev,
    state: stateOf,
    seq,
    generation,
    attempt,
    tick,
    careful,
    tailRev,
    kind: number,
    window,
    inputSize,
    bornAt,
    priority,
    head,
    input,
    lease: lease === '' ? undefined : leaseIn(lease),
    claim,
    worker,
    beat,
    before,
    record,
    opening,
    log,
    requests,
    output,
  }
}

function leaseIn(line: string): Lease {
  const [
    fence = '',
    expires = '',
    logged = '',
    beatsAll = '',
    beats = '',
    beatsFrom = '',
    beatsTo = '',
    claimRequest = '',
    beatRequest = '',
  ] = partsOf(line, ' ', 9)
  return { fence, expires, logged, beatsAll, beats, beatsFrom, beatsTo, claimRequest, beatRequest }
}

/** So many parts, the last of which is all that is left. */
function partsOf(text: string, between: string, count: number): readonly string[] {
  const parts: string[] = []
  let from = 0
  while (parts.length < count - 1) {
    const to = text.indexOf(between, from)
    assert(to >= 0, 'a job has all its parts')
    parts.push(text.slice(from, to))
    from = to + 1
  }
  parts.push(text.slice(from))
  return parts
}

type NewFields =
  | 'state'
  | 'kind'
  | 'bornAt'
  | 'priority'
  | 'careful'
  | 'window'
  | 'tick'
  | 'head'
  | 'inputSize'
  | 'input'

/** The texts of a new job. */
export function newJobTexts(fields: Pick<JobText, NewFields>): readonly [value: string, born: string] {
  const { state, kind, bornAt, priority, careful, window, tick, head, inputSize, input } = fields
  const value = `1 ${state} 1 0 0 ${tick} ${careful} 1\n${kind} ${window} ${inputSize}\n\n\n\n\n\n\n\n\n\n`
  return [value, `${bornAt} ${priority} ${head}\n${input}`]
}
