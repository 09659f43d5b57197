/**
 * The scripts: what each is made of, and what of core and codec is filled in. A script compares, swaps and moves; it knows no
 * letter, no rank and no time of its own.
 */
import { assert } from '../../../core/assert.ts'
import { gateOf } from '../../../core/flow/gate.ts'
import { LANE_WINDOW, LET_IN_MOST, PATIENCE_MS } from '../../../core/flow/hall.ts'
import { atRest } from '../../../core/flow/key.ts'
import { COUNTS } from '../../../core/limits.ts'
import { EVENT_CODES, STATE_CODES } from '../../codec/codes.ts'
import { HANDED_OUT_MS } from '../../handed-out.ts'
import { leaseEndText } from '../../lease-text.ts'
import { OWN_KEYS } from '../../ledger/own-keys.ts'
import { IN_FLOW } from '../flow/words.ts'
import { ANY_REQUEST } from '../job/job-text.ts'
import { luaFiles } from './files.ts'

/** What a script answers instead of doing anything where its caller has not joined this life of the server. */
export const REJOIN = 'REJOIN'
/**
 * What a script answers instead of doing anything where too much of the server's log has not been shipped: `ledger/record` says it
 * before every script whose writes go to a ledger, and `connection/calls.ts` makes OVERLOADED of it.
 */
export const BEHIND = 'BEHIND'
/** Of keys and texts in the server: another number is another layout, which this code neither reads nor writes. */
export const LAYOUT = '1'

const CONSTANTS: Readonly<Record<string, string | number>> = {
  REJOIN,
  LAYOUT,
  ANY_REQUEST,
  HANDED_OUT_MS,
  LEASE_END: leaseEndText('now', 'window'),
  PRIORITIES: COUNTS.priority.max + 1,
  CLAIMED: STATE_CODES.claimed,
  ENQUEUED_EVENT: EVENT_CODES.enqueued,
  CLAIMED_EVENT: EVENT_CODES.claimed,
  HEARTBEAT_EVENT: EVENT_CODES.heartbeat,
  EVENT_LETTERS: Object.values(EVENT_CODES).join(''),
  /** While it is ahead of the server's, the partition's clock is slower by this part: half an hour for a minute. */
  CATCH_UP: 32,
  /** What one call looks at besides what it was asked for, at most. */
  LOOKED_AT: 1_000,
  /**
   * How long a claim is remembered besides its longest lease. Who repeats it has not heard the answer, hence renewed no lease of it:
   * when those are over there is nothing to be told again.
   */
  CLAIM_KEPT_MS: 60_000,
  /** Of a key that nobody has said anything of. */
  UNSAID_GATE: JSON.stringify(gateOf(atRest(''), {})),
  IN_FLOW,
  LANE_WINDOW,
  PATIENCE_MS,
  TRIES: LET_IN_MOST.tries,
  /** Of anything that one look at the hall looks at. */
  LOOK_MOST: 100,
  /** How long the turns of a flow without jobs are remembered. */
  FLOW_KEPT_MS: 24 * 60 * 60 * 1_000,
  /** Jobs that are counted as held, and slots that are told of a key that is probed. */
  HELD_SHOWN: 1_000,
  PROBES_SHOWN: 10,
  /** How often the place in the log is marked that the time has come to. */
  MARK_EVERY_MS: 60_000,
  BEHIND,
  OWN_KEYS: OWN_KEYS.join(' '),
  READS:
    'EXISTS GET HEXISTS HGET HLEN HMGET MGET SCARD SISMEMBER SMEMBERS SMISMEMBER SPUBLISH SRANDMEMBER TIME XLEN XRANGE ZCARD ZINTERCARD ZRANGE ZSCORE',
  /** Unshipped entries and their bytes, beyond which nothing new is taken on; what is under way may be ended for twice as long. */
  UNSHIPPED: 100_000,
  UNSHIPPED_BYTES: 64 << 20,
  /** Of entries in one answer, about: one always fits. */
  PAGE_BYTES: 4 << 20,
}

const READING = ['script/enter']
const WRITING = [...READING, 'script/draft']
const OF_JOBS = [...WRITING, 'job/evicted', 'job/job']
const OF_LANES = [...OF_JOBS, 'claim/lane-key', 'claim/lanes', 'flow/stir', 'flow/texts', 'flow/hall']

/** By name: the files that it is made of. */
const PARTS = {
  insert: [...OF_LANES, 'enqueue/bear', 'enqueue/insert'],
  claim: [...OF_LANES, 'claim/claim'],
  commit: [...OF_LANES, 'enqueue/bear', 'flow/move', 'flow/mend', 'settle/commit'],
  heartbeat: [...OF_JOBS, 'lease/heartbeat'],
  due: [...OF_JOBS, 'lease/due'],
  outdated: [...WRITING, 'lease/outdated'],
  notch: [...READING, 'lease/notch'],
  unjudged: [...OF_JOBS, 'lease/unjudged'],
  load: [...READING, 'job/evicted', 'read/load'],
  candidates: [...READING, 'read/candidates'],
  ended: [...READING, 'read/ended'],
  log: [...READING, 'job/evicted', 'read/log'],
  moments: [...READING, 'read/moments'],
  entries: [...READING, 'read/entries'],
  feed: [...READING, 'read/feed'],
  tally: [...READING, 'read/tally'],
  backlog: [...READING, 'read/backlog'],
  notes: [...READING, 'job/evicted', 'read/notes'],
  settings: [...WRITING, 'flow/stir', 'keep/settings'],
  look: [...READING, 'claim/lane-key', 'flow/texts', 'flow/count', 'flow/look'],
  apply: [...OF_LANES, 'flow/apply'],
  limits: [...READING, 'claim/lane-key', 'flow/count', 'flow/limits'],
  'limit-names': [...READING, 'flow/limit-names'],
  lobby: [...READING, 'claim/lane-key', 'flow/texts', 'flow/lobby'],
  list: [...READING, 'keep/list'],
  intern: [...WRITING, 'keep/intern'],
  kinds: [...READING, 'keep/kinds'],
  evict: [...READING, 'ledger/evict'],
  restore: [...READING, 'job/evicted', 'ledger/restore'],
  join: ['connection/join'],
  unshipped: ['ledger/unshipped'],
  shipped: ['ledger/shipped'],
  mark: ['ledger/mark'],
  held: ['ledger/held'],
  sizes: ['ledger/sizes'],
  replay: ['ledger/do-again', 'ledger/replay'],
  page: ['ledger/do-again', 'ledger/page'],
  open: ['ledger/open'],
} as const

export type ScriptName = keyof typeof PARTS

export function scriptTexts(): Readonly<Record<ScriptName, string>> {
  const files = luaFiles()
  const texts: Partial<Record<ScriptName, string>> = {}
  for (const name of Object.keys(PARTS) as ScriptName[]) {
    texts[name] = nested(PARTS[name].map((place) => [place, partOf(files, `${place}.lua`)]))
  }
  return texts as Record<ScriptName, string>
}

/**
 * Parts that the rest of a script stands in a function behind. Because a function looks for each variable that it shares with the one
 * it is made in among all that are shared there, one after the other, and takes over what that one has from outside without a look: of
 * commit's 94 functions this was half of 60 µs, in each call. Not behind more parts: a function can have 60 variables from outside.
 */
const IN_FRONT: ReadonlySet<string> = new Set(['script/enter', 'script/draft'])

function nested(parts: readonly (readonly [place: string, text: string])[]): string {
  const [[place, text] = ['', ''], ...rest] = parts
  if (rest.length === 0) return text
  const behind = nested(rest)
  return IN_FRONT.has(place) ? `${text}\nreturn (function()\n${behind}\nend)()` : `${text}\n${behind}`
}

/**
 * Those whose writes are entries of the server's log, each with how many times the bound of what is unshipped it bears. What is due is
 * handed out by a mark that may be lost: then it is handed out again.
 */
const RECORDED = {
  insert: 1,
  claim: 1,
  apply: 1,
  commit: 2,
  heartbeat: 2,
  settings: 2,
  intern: 2,
  outdated: 2,
  evict: 1,
  restore: 2,
} as const

/** How many times the bound of what waits for the ledger a script bears; one that writes nothing bears all. */
export const patienceOf = (name: ScriptName): number =>
  name in RECORDED ? RECORDED[name as keyof typeof RECORDED] : Number.POSITIVE_INFINITY

/** The scripts of a server whose log goes to a ledger: the same, and around those that write what makes an entry of it. */
export function recordedTexts(): Readonly<Record<ScriptName, string>> {
  const files = luaFiles()
  const texts = scriptTexts()
  const recorded = Object.entries(RECORDED).map(([name, patience]) => [
    name,
    [
      `local patience = ${patience}`,
      partOf(files, 'ledger/record.lua'),
      'local function script()',
      texts[name as keyof typeof RECORDED],
      'end',
      partOf(files, 'ledger/entry.lua'),
    ].join('\n'),
  ])
  return { ...texts, ...Object.fromEntries(recorded) }
}

/** Those that are no calls: they compare for themselves what they are asked about. */
const OF_THE_SERVER: ReadonlySet<string> = new Set([
  'join',
  'unshipped',
  'shipped',
  'mark',
  'held',
  'sizes',
  'replay',
  'page',
  'open',
])

/** The scripts of a store with a ledger behind it: each call is answered together with the head that it has left, or seen. */
export function ledgeredTexts(texts = recordedTexts()): Readonly<Record<ScriptName, string>> {
  const files = luaFiles()
  const headed = Object.entries(texts).map(([name, text]) => {
    if (OF_THE_SERVER.has(name)) return [name, text]
    return [name, ['local function whole()', text, 'end', partOf(files, 'ledger/head.lua')].join('\n')]
  })
  return Object.fromEntries(headed) as Record<ScriptName, string>
}

function partOf(files: ReadonlyMap<string, string>, place: string): string {
  const text = files.get(place)
  assert(text !== undefined, `${place} is there`)
  return text.replaceAll(/@([A-Z_]+)@/g, (_, name: string) => {
    const value = CONSTANTS[name]
    assert(value !== undefined, `${place} asks for ${name}, which is known`)
    return String(value)
  })
}
