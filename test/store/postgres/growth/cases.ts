/**
 * A call of every statement, and one more for each way through its function that reads something else. What they ask for is
 * among the first thousand of `fill.ts`, twenty at a time where a call takes many: what is planned for a list shows there.
 */
import { RANK, STATES } from '../../../../src/core/job.ts'
import { STATE_CODES } from '../../../../src/store/codec/codes.ts'
import type { Statements } from '../../../../src/store/postgres/connection/statements.ts'
import { ledBy, ledOf } from '../../../../src/store/postgres/names/led.ts'
import { letInLane } from '../../../../src/store/postgres/names/let-in-lane.ts'
import { packed } from '../../../../src/store/postgres/names/step.ts'
import { scaled } from '../../../support/scale.ts'
import { BEGIN, BUNDLE, CLAIMABLE, FAR, FULL, job, SIDES } from './fill.ts'

export type StatementName = Exclude<keyof Statements, 'inCallers'>

export interface Case {
  readonly what: string
  readonly values: readonly unknown[]
}

/** What may cost more the more there is, by statement or by case, and why. */
export const EXEMPT: ReadonlyMap<string, string> = new Map([
  ['tenants: all', 'it answers with each of them, by a look-up each'],
  ['tallies: of all', 'it answers with each of them'],
])

/** An index of times has a page for some 64 MB of its table, and a search looks at each. */
const INDEX_OF_TIMES = scaled(8, 24)
const OF_TIMES = {
  pages: 4 * 32 + INDEX_OF_TIMES,
  rows: Number.POSITIVE_INFINITY,
  why: 'an index of times that costs no enqueue and no end anything knows ranges of 32 pages, and no rows',
}

interface Besides {
  readonly pages?: number
  readonly probes?: number
  readonly rows?: number
  readonly why: string
}

/** What a call may take besides, by statement or by case, and why. */
export const BESIDES: ReadonlyMap<string, Besides> = new Map<string, Besides>([
  ['bornBetween', OF_TIMES],
  ['committedBetween', OF_TIMES],
  ['flowSet', { pages: 8, rows: Number.POSITIVE_INFINITY, why: 'flows are found by their keys in an inverted index' }],
  ['summarize', { pages: INDEX_OF_TIMES, why: 'all pages of an index of times are looked at' }],
  ['findIds: ended early', { probes: 20, why: 'what is found may be joined one by one, as many as an answer has' }],
])

/** Never called: the server writes them into whoever asks for them, and there they are measured. */
export const INLINED: readonly string[] = [
  'beats_in',
  'claim_answer',
  'claim_answer_each',
  'clock',
  'event_name',
  'is_wrong',
  'kept_at',
  'owned_of',
  'request_mark',
  'server_ms',
  'updated_at',
]

const some = (of: (n: number) => number, from = 500, count = 20): readonly number[] =>
  Array.from({ length: count }, (_, i) => of(from + i))
const literal = (values: readonly unknown[]): string => `{${values}}`
const json = (value: unknown): string => JSON.stringify(value)

const anywhere = [...some(job.ready), ...some(job.leased), ...some(job.resting), ...some(job.ended)]
const { lane } = CLAIMABLE
const fresh = 8_000_000_000_000
const another = `new ${fresh}`

/**
 * What is new must be so each time: a row that was taken back still stands in the indexes, for whoever comes with the same key,
 * and at their ends for the planner. So new jobs are given numbers that nobody has, in between.
 */
export const renewed = (values: readonly unknown[], round: number): readonly unknown[] =>
  values.map((value) =>
    typeof value === 'string' ? value.replaceAll(FRESH, (_, i) => freshIn(round, Number(i))) : value,
  )

const FRESH = /8000000000(\d{3})/g
const freshIn = (round: number, i: number): string => String(8 * (1_000 + 20 * round + (i % 20)) + 5)

/** New ones, of the queue that has claimable jobs; so many that they are offered to whoever waits. */
const columns = (count: number): readonly unknown[] => {
  const ids = Array.from({ length: count }, (_, i) => fresh + i)
  return [
    literal(ids),
    '{"{}"}',
    '{}',
    `{${FAR}}`,
    '{2}',
    `{${lane}}`,
    '{30000}',
    '{shared}',
    '{"{shared}"}',
    '{}',
    '{}',
    '{}',
    '{-eq}',
  ]
}
const newRow = (i: number, more: object = {}) => ({
  i: fresh + i,
  t: FAR,
  k: 2,
  l: lane,
  w: 30_000,
  b: '{}',
  tn: 't',
  s: '-eq',
  ...more,
})
const offer = [lane, 'pawl_hints', 'all', null]

const grant = (request: string, lanes: readonly number[], wanted: number, hasStarts = true): readonly unknown[] => [
  request,
  null,
  'w',
  'a',
  '00000000000000bb',
  literal(lanes),
  literal(hasStarts ? lanes.map(() => 0) : []),
  wanted,
  1 << 20,
]
const notParked = [false, null, null]

const ended = packed(0, 1, RANK.succeeded)
const end = { v: 3, s: ended, a: FAR, z: STATE_CODES.succeeded, e: '[0]', p: 1 }
const settled = (items: readonly object[], ids: readonly number[]): readonly unknown[] => [
  json(items),
  literal(ids),
  '{3}',
  '{1}',
  '{cSS}',
]
const bundle = some(job.bundled, 1, 16)
const putBack = (ids: readonly number[], claims: readonly number[]): readonly unknown[] => [
  literal(ids.toSorted((a, b) => a - b)),
  literal(claims),
  '{2}',
  literal([FAR]),
  '{4}',
  literal([packed(0, 1, RANK.retrying)]),
  literal([FAR]),
  '{[0]}',
  '{"{}"}',
  literal([FAR]),
  literal([lane]),
  '{30000}',
  '{1}',
  '{3}',
  '{cstt}',
  '{}',
  '{}',
  '{error/1}',
  '{"{}"}',
]
const move = (ids: readonly number[], words: object): readonly unknown[] => [
  json(
    ids.map((i) => ({
      i,
      v: 6,
      a: FAR,
      e: '[0]',
      k: 1,
      h: 'qCC',
      tn: 't',
      f: 6,
      lw: 30_000,
      l: lane,
      rq: ['word'],
      ...words,
    })),
  ),
  true,
]
/** The end of what was claimed: an odd job of a lease, whose claim is in no commit yet. */
const odd = (of: (n: number) => number) => Array.from({ length: 20 }, (_, i) => of(501 + 2 * i))
const even = (of: (n: number) => number) => Array.from({ length: 20 }, (_, i) => of(500 + 2 * i))
const cancelled = { s: ended - 16, z: STATE_CODES.cancelled, w: 'p' }

const setting = (n: number) => `w${String(n).padStart(8, '0')}`
const search = (words: object) => [json({ newest: true, n: 20, w: 100, ...words })]
const between = (from: number, to: number) => [BEGIN + from, BEGIN + to, 0, 100]

const keyed = (count: number) => {
  const numbers = Array.from({ length: count }, (_, i) => i)
  return [
    ...columns(count),
    literal(numbers.map((n) => `"${another} ${n}"`)),
    literal(numbers.map((n) => fresh + n)),
    '{t}',
    '{dedupe}',
    '{}',
  ]
}

const flowKey = (n: number) => `k${String(n).padStart(8, '0')}`
const laneOf = (n: number) => 10 * n + 5
const numbers = some((n) => n)
const document = { g: '{}', s: 0, r: 1000, m: 1000, w: 1, x: 'said' }
const look = (
  words: { keys?: readonly number[]; flows?: readonly number[]; lanes?: readonly number[]; queues?: readonly number[] },
  isTicker = false,
) => [...[words.keys, words.flows, words.lanes, words.queues].map((each) => literal(each ?? [])), isTicker, 20]
const plan = (words: object) => [
  json({ a: [], k: [], f: [], q: [], s: [], l: [], b: [], g: [], m: [], o: [], u: [], ...words }),
]
const applied = {
  a: numbers,
  k: numbers.map((i) => ({ i, v: 0, s: 1, n: 1, c: [i] })),
  f: numbers.map((i) => ({ i, v: 0, p: 1, w: `key ${i}` })),
  q: numbers.map((i) => ({ i, z: false })),
  s: numbers.map((i) => ({ i: laneOf(i), n: 1 })),
  g: numbers.map((i) => ({ p: `key ${i}`, n: 5 })),
  m: [500],
  o: [500],
  u: numbers,
}
const limitedEnd = (n: number, words: object = {}) => ({
  fl: {
    i: job.leased(n),
    f: n,
    m: 'leave',
    sp: [{ a: 1 }],
    km: { t: 't', k: flowKey(n), v: 1, ...document },
    ...words,
  },
})

export const CASES: Readonly<Record<StatementName, readonly Case[]>> = {
  insertPlain: [{ what: 'twenty', values: columns(20) }],
  insertPlainOffering: [{ what: 'three', values: [...columns(3), ...offer] }],
  insertKeyed: [{ what: 'twenty', values: keyed(20) }],
  insertKeyedOffering: [{ what: 'three', values: [...keyed(3), ...offer] }],
  enqueueEach: [
    {
      what: 'new keys and held ones',
      values: [
        json([
          newRow(1, { ks: [{ p: 'dedupe', k: `${another} 1` }] }),
          newRow(2, { ks: [{ p: 'dedupe', k: 'k501' }] }),
        ]),
      ],
    },
  ],
  enqueue: [
    {
      what: 'new keys',
      values: [
        json(some((n) => n).map((n) => newRow(n, { m: ['shared'], ks: [{ p: 'dedupe', k: `${another} ${n}` }] }))),
      ],
    },
    {
      what: 'keys that are held, or were',
      values: [json(some((n) => n).map((n) => newRow(n, { ks: [{ p: 'dedupe', k: `k${n}` }] })))],
    },
    { what: 'numbers that are taken', values: [json(some(job.ready).map((i) => ({ ...newRow(0), i })))] },
    { what: 'not claimable', values: [json([newRow(1, { p: 1, n: FAR })])] },
  ],
  enqueueOffering: [{ what: 'one', values: [json([newRow(1)]), lane, literal([fresh + 1]), ...offer.slice(1)] }],
  enqueueTogether: [
    {
      what: 'new keys',
      values: [json(some((n) => n).map((n) => newRow(n, { ks: [{ p: 'dedupe', k: `${another} ${n}` }] })))],
    },
    { what: 'a key that is held', values: [json([newRow(1), newRow(2, { ks: [{ p: 'dedupe', k: 'k501' }] })])] },
  ],
  isOpen: [{ what: 'a lock', values: [] }],
  claim: [
    { what: 'one', values: [...grant(another, [lane], 1), ...notParked, null] },
    { what: 'touched and untouched', values: [...grant(another, [lane], 50), ...notParked, null] },
    {
      what: 'many lanes',
      values: [
        ...grant(
          another,
          some((n) => 10 * n + 5),
          50,
        ),
        ...notParked,
        null,
      ],
    },
    {
      what: 'many lanes of many queues',
      values: [
        ...grant(
          another,
          some((n) => 10 * n + 5),
          50,
          false,
        ),
        ...notParked,
        literal(some((n) => n)),
      ],
    },
    {
      what: 'many queues in vain',
      values: [...grant(another, [5015], 50, false), ...notParked, literal(some((n) => n))],
    },
    { what: 'a bundle', values: [...grant(another, [lane], 16), ...notParked, null] },
    { what: 'again', values: [...grant('r501', [lane], 50), ...notParked, null] },
    { what: 'a bundle again', values: [...grant('bundle3', [lane], 50), ...notParked, null] },
    { what: 'in vain', values: [...grant(another, [5015], 50), ...notParked, null] },
    { what: 'parked', values: [...grant(another, [5015], 50), false, 1000, 'channel', null] },
    { what: 'parked before', values: [...grant('p501', [5015], 50), true, 1000, 'channel', null] },
  ],
  inputs: [{ what: 'of what was claimed', values: [literal(some(job.leased))] }],
  claimLimited: [
    {
      what: 'limited and not',
      values: [
        ...grant(another, [letInLane(lane), lane, ...numbers.map(laneOf).map(letInLane)], 50),
        ...notParked,
        10,
        null,
      ],
    },
    { what: 'again', values: [...grant('r501', [letInLane(lane)], 50), ...notParked, 10, null] },
    { what: 'in vain', values: [...grant(another, [letInLane(5015 + 1)], 50), false, 1000, 'channel', 10, null] },
  ],
  flowSettle: [
    {
      what: 'alike',
      values: [
        ...settled([{ ...end, i: literal(odd(job.leased)), r: 2 }], odd(job.leased)),
        literal(numbers),
        literal(numbers.map(() => 1)),
      ],
    },
    {
      what: 'of keys that have changed',
      values: [
        ...settled([{ ...end, i: literal(odd(job.leased)), r: 2 }], odd(job.leased)),
        literal(numbers),
        literal(numbers.map(() => 7)),
      ],
    },
  ],
  flowMove: [
    {
      what: 'to their ends',
      values: [
        json(
          (
            JSON.parse(
              String(move(odd(job.leased), { q: 'l', r: 2, s: ended, z: STATE_CODES.succeeded, w: 'p' })[0]),
            ) as object[]
          ).map((item, i) => ({ ...item, ...limitedEnd(501 + 2 * i) })),
        ),
        true,
      ],
    },
    {
      what: 'held again, and one in vain',
      values: [
        json(
          (
            JSON.parse(
              String(
                move(odd(job.leased), { q: 'l', r: 2, s: packed(0, 1, RANK.queued), w: 'r', ra: FAR, d: '{}' })[0],
              ),
            ) as object[]
          ).map((item, i) => ({
            ...item,
            ...limitedEnd(501 + 2 * i, {
              m: i === 3 ? 'own' : 'hold',
              km: { t: 't', k: flowKey(501 + 2 * i), v: i === 0 ? 7 : 1, z: 'same' },
            }),
          })),
        ),
        false,
      ],
    },
  ],
  flowSet: [
    { what: 'next', values: [json({ t: 't', k: flowKey(500), v: 1, ...document })] },
    { what: 'new', values: [json({ t: 't', k: another, v: 0, ...document })] },
    { what: 'the same', values: [json({ t: 't', k: flowKey(500), v: 1, z: 'same' })] },
    { what: 'forgotten, in vain', values: [json({ t: 't', k: flowKey(500), v: 1, z: 'forgotten' })] },
  ],
  internFlows: [
    {
      what: 'known and new',
      values: [
        json(
          [...numbers, 0].map((n) => ({
            h: `f${n}`,
            l: laneOf(n),
            p: 5,
            t: 't',
            w: flowKey(n),
            ks: [{ k: flowKey(n), ...document }],
          })),
        ),
      ],
    },
  ],
  flowLook: [
    { what: 'at keys', values: look({ keys: numbers }) },
    { what: 'at a full one', values: look({ keys: [FULL] }) },
    { what: 'at flows', values: look({ flows: numbers }) },
    { what: 'at lanes and queues', values: look({ lanes: [lane], queues: numbers }) },
    { what: 'at what is due', values: look({}, true) },
  ],
  flowApply: [
    { what: 'letting in', values: plan({ ...applied, l: numbers.map((n) => ({ i: job.held(n), f: n })) }) },
    { what: 'taking back', values: plan({ ...applied, b: numbers.map((n) => ({ i: job.standing(n), f: n })) }) },
    { what: 'too late', values: plan({ ...applied, k: [{ i: 500, v: 7, s: 1, n: 1, c: [] }] }) },
  ],
  flowSweep: [{ what: 'freed', values: [20] }],
  flowViews: [
    { what: 'named', values: ['t', json(numbers.map(flowKey)), '', 20, true] },
    { what: 'a page', values: ['t', null, flowKey(500), 20, false] },
  ],
  flowWatch: [{ what: 'some', values: [literal(numbers)] }],
  flowMend: [
    {
      what: 'some',
      values: [
        't',
        json(numbers.map(flowKey)),
        json(numbers.map((n) => ({ i: job.standing(n), f: n }))),
        literal(numbers),
        json([{ k: flowKey(1), a: 1 }]),
        json([{ k: flowKey(1), c: 1 }]),
      ],
    },
  ],
  flowLobby: [
    {
      what: 'held and not',
      values: [
        literal([...numbers.map(job.held), ...numbers.map(job.standing)]),
        literal([...numbers, ...numbers]),
        literal([...numbers, ...numbers].map(laneOf)),
      ],
    },
  ],
  limitedOf: [{ what: 'twenty', values: [literal(numbers)] }],
  settleLeases: [
    { what: 'alike', values: settled([{ ...end, i: literal(odd(job.leased)), r: 2 }], odd(job.leased)) },
    {
      what: 'in many ways',
      values: settled(
        odd(job.leased).map((i) => ({ ...end, i: literal([i]), r: 2, o: `${i}`, d: '{}' })),
        odd(job.leased),
      ),
    },
    { what: 'in vain', values: settled([{ ...end, i: literal(some(job.resting)), r: 2 }], some(job.resting)) },
    { what: 'of a bundle', values: settled([{ ...end, i: literal(bundle.slice(0, 4)), r: 2 }], bundle.slice(0, 4)) },
  ],
  settleBundles: [
    {
      what: 'alike',
      values: [...settled([{ ...end, i: literal(bundle), r: 2, c: BUNDLE + 1 }], bundle), literal([BUNDLE + 1])],
    },
    {
      what: 'in many ways',
      values: [
        ...settled(
          bundle.map((i) => ({ ...end, i: literal([i]), r: 2, c: BUNDLE + 1, o: `${i}` })),
          bundle,
        ),
        literal([BUNDLE + 1]),
      ],
    },
  ],
  putBack: [
    { what: 'leased', values: putBack(odd(job.leased), []) },
    {
      what: 'of a bundle',
      values: putBack(
        bundle,
        bundle.map(() => BUNDLE + 1),
      ),
    },
    { what: 'in vain', values: putBack(some(job.resting), []) },
  ],
  missed: [
    { what: 'with a long log', values: [json([{ i: job.long, r: 3, v: 500, e: '[0]' }]), true] },
    { what: 'anywhere', values: [json(anywhere.map((i) => ({ i, r: 3, v: 4, e: '[0]' }))), true] },
  ],
  loosen: [{ what: 'of a bundle, and not', values: [literal([...some(job.bundled, 1, 20), ...some(job.leased)])] }],
  recount: [{ what: 'two', values: [literal([BUNDLE + 1, BUNDLE + 2])] }],
  move: [
    {
      what: 'ready to its end',
      values: move(odd(job.ready), { q: 'r', r: 1, ...cancelled, g: [{ p: 'dedupe', k: 'k500' }] }),
    },
    {
      what: 'ready to ready',
      values: move(odd(job.ready), { q: 'r', r: 1, s: RANK.queued, w: 'r', ra: FAR, d: '{}' }),
    },
    {
      what: 'leased, on',
      values: move(odd(job.leased), {
        q: 'l',
        r: 2,
        s: packed(0, 1, RANK.running),
        w: 'l',
        x: FAR,
        d: '{}',
        b: [{ k: 'step/1', t: '{}' }],
        u: [{ c: 'shared', r: 6 }],
      }),
    },
    {
      what: 'leased to rest',
      values: move(even(job.leased), { q: 'l', r: 2, s: packed(0, 1, RANK.waiting), w: 's', t: FAR, d: '{}' }),
    },
    {
      what: 'leased to ready',
      values: move(odd(job.leased), { q: 'l', r: 2, s: packed(0, 1, RANK.queued), w: 'r', ra: FAR, d: '{}' }),
    },
    {
      what: 'of a bundle',
      values: move(some(job.bundled, 1, 4), { q: 'l', r: 2, s: packed(0, 1, RANK.waiting), w: 's', t: FAR, d: '{}' }),
    },
    {
      what: 'resting to ready',
      values: move(even(job.resting), {
        q: 's',
        r: 4,
        s: packed(0, 1, RANK.queued),
        w: 'r',
        ra: FAR,
        d: '{}',
        kt: [{ p: 'dedupe', k: another }],
      }),
    },
    {
      what: 'resting to ready, with marks',
      values: move(even(job.resting), {
        q: 's',
        r: 4,
        s: packed(0, 1, RANK.queued),
        w: 'r',
        ra: FAR,
        d: '{}',
        mk: [another],
      }),
    },
    {
      what: 'resting to a lease',
      values: move(even(job.resting), {
        q: 's',
        r: 4,
        s: packed(0, 2, RANK.running),
        w: 'l',
        x: FAR,
        d: '{}',
        c: { w: 'w', a: 'a', n: '00000000000000bb', t: FAR },
      }),
    },
    {
      what: 'ended, again',
      values: move(even(job.ended), {
        q: 'p',
        r: 4,
        s: packed(1, 1, RANK.queued),
        w: 'r',
        ra: FAR,
        d: '{}',
        sp: newRow(1),
      }),
    },
    {
      what: 'ended, stripped',
      values: move(even(job.ended), {
        q: 'p',
        r: 4,
        s: packed(0, 1, RANK.succeeded),
        w: 'p',
        z: STATE_CODES.succeeded,
        d: '{}',
        st: true,
      }),
    },
    { what: 'what has moved', values: move(anywhere, { q: 's', r: 3, s: packed(0, 1, RANK.queued), w: 'r', ra: FAR }) },
    {
      what: 'keys that are held',
      values: move(even(job.resting), {
        q: 's',
        r: 4,
        s: packed(0, 1, RANK.queued),
        w: 'r',
        ra: FAR,
        d: '{}',
        kt: [{ p: 'dedupe', k: 'k501' }],
      }),
    },
  ],
  internKind: [
    { what: 'known', values: ['k500', 500, 'type', 30_000, '{}'] },
    { what: 'new', values: [another, 500, 'type', 30_000, '{}'] },
  ],
  internQueues: [
    { what: 'known and new', values: [json([...some((n) => n), 0].map((n) => ({ h: `q${n}`, t: 't', q: `q${n}` })))] },
  ],
  sides: [
    { what: 'unknown', values: [literal(some((n) => n)), literal(some(() => 0))] },
    { what: 'known', values: [literal(some((n) => n)), literal(some((n) => SIDES + n))] },
  ],
  kinds: [{ what: 'twenty', values: [literal(some((n) => n))] }],
  clock: [{ what: 'now', values: [] }],
  keepTime: [{ what: 'now', values: [] }],
  keptTime: [{ what: 'now', values: [] }],
  records: [
    { what: 'anywhere', values: [literal(anywhere)] },
    { what: 'of bundles', values: [literal(some(job.bundled, 1, 4))] },
    { what: 'with a long log', values: [literal([job.long])] },
    { what: 'nowhere', values: [literal(some((n) => fresh + n))] },
  ],
  bodies: [
    { what: 'inputs', values: [json(anywhere.map((i) => ({ i, b: ['input'], k: ['input'] })))] },
    { what: 'outputs', values: [json(some(job.ended).map((i) => ({ i, b: ['output'], k: ['output'] })))] },
    { what: 'steps of one', values: [json([{ i: job.resting(500), b: ['step/'], k: ['step/'] }])] },
    {
      what: 'steps of many',
      values: [json(some(job.resting).map((i) => ({ i, b: ['step/', 'checkpoint'], k: ['step/', 'checkpoint'] })))],
    },
    { what: 'one of many steps', values: [json([{ i: job.long, b: ['step/1', 'step/2'], k: ['step/1', 'step/2'] }])] },
  ],
  aliases: [
    { what: 'known and not', values: [json([...some((n) => n), 0].map((n) => ({ t: 't', p: 'dedupe', k: `k${n}` })))] },
  ],
  findIds: [
    { what: 'newest', values: search({}) },
    { what: 'oldest', values: search({ newest: false, after: job.ready(500) }) },
    { what: 'of a tenant', values: search({ tenant: 't50' }) },
    { what: 'of a queue and a type', values: search({ tenant: 't50', queues: ['q500'], types: ['type'] }) },
    { what: 'of a queue, whosever', values: search({ queues: ['q500'] }) },
    { what: 'of a correlation', values: search({ correlations: ['shared', 'c50'], own: job.ready(500) }) },
    { what: 'of a mark', values: search({ marks: ['shared', 'm50'], tenant: 't50' }) },
    ...Object.entries(STATE_CODES).map(([state, states]) => ({ what: state, values: search({ states }) })),
    {
      what: 'in every state, of a tenant',
      values: search({ states: Object.values(STATE_CODES).join(''), tenant: 't50' }),
    },
    { what: 'ended early', values: search({ newest: false, ended_before: BEGIN + 500, born_before: BEGIN + 500 }) },
    { what: 'born at a time', values: search({ created_from: BEGIN + 500, created_to: BEGIN + 510 }) },
  ],
  longEnded: [
    { what: 'from the beginning', values: [0, 0, FAR, 10] },
    { what: 'from a place on', values: [BEGIN + 500, job.ended(500), BEGIN + 600, 10] },
    { what: 'of a moment', values: [BEGIN + 500, 0, BEGIN + 502, 10] },
  ],
  tenants: [{ what: 'all', values: [] }],
  log: [
    { what: 'short', values: [job.ended(500), 0, 10] },
    { what: 'long, from its middle', values: [job.long, 500, 10] },
  ],
  logs: [{ what: 'short and long', values: [literal([...some(job.ended), job.long]), 10] }],
  altered: [{ what: 'anywhere', values: [literal(anywhere)] }],
  commitsAt: [
    { what: 'short and long', values: [literal([...some(job.ended), job.long]), literal([...some(() => 4), 500])] },
  ],
  caused: [{ what: 'by one word', values: [json([...some(job.ended), job.long].map((i) => ({ i, q: 'word' })))] }],
  correlated: [{ what: 'shared and not', values: [literal(['shared', 'c50']), job.ready(500), 0, 20] }],
  linked: [{ what: 'shared and not', values: [literal(['shared', 'l50']), job.ended(100), 0, 20] }],
  bornBetween: [
    { what: 'a span', values: between(500, 510) },
    { what: 'a moment', values: between(500, 501) },
  ],
  claimedBetween: [
    { what: 'a span', values: between(500, 510) },
    { what: 'a moment', values: between(500, 501) },
  ],
  ledBetween: [
    { what: 'a span', values: [...between(500, 510), literal(STATES.map(ledOf))] },
    { what: 'a moment', values: [...between(501, 502), literal(STATES.map(ledOf))] },
    { what: 'of one type', values: [...between(500, 510), literal(ledBy(['dead_lettered']))] },
  ],
  committedBetween: [
    { what: 'a span', values: between(500, 510) },
    { what: 'a moment', values: between(500, 501) },
  ],
  jobsOf: [{ what: 'anywhere', values: ['t50', literal(anywhere)] }],
  heartbeat: [
    { what: 'twenty', values: [json(odd(job.leased).map((i) => ({ i, f: 1, x: '00000000000000aa', q: 'beat' })))] },
    {
      what: 'of a bundle',
      values: [json(some(job.bundled, 1, 4).map((i) => ({ i, f: 1, x: '00000000000000aa', q: 'beat' })))],
    },
  ],
  due: [{ what: 'some', values: [20] }],
  unjudged: [{ what: 'some', values: [20] }],
  placeEntries: [{ what: 'a handful', values: [100, false] }],
  feedPage: [{ what: 'from the middle', values: [500, 20] }],
  feedEnd: [{ what: 'the end', values: [] }],
  tallies: [
    { what: 'of a tenant', values: ['t50'] },
    { what: 'of all', values: [null] },
  ],
  talliesIn: [
    { what: 'of a tenant', values: ['q50', 't50'] },
    { what: 'of all', values: ['q50', null] },
  ],
  backlog: [{ what: 'twenty lanes', values: [20] }],
  trimFeed: [{ what: 'twenty', values: [BEGIN + 500, 20] }],
  summarize: [{ what: 'what is new', values: [] }],
  settings: [
    { what: 'got', values: [json(some((n) => n).map((n) => ({ o: 'g', c: 'worker', k: setting(n) })))] },
    { what: 'listed', values: [json([{ o: 'l', c: 'worker', a: setting(500), m: 20 }])] },
    {
      what: 'put',
      values: [
        json(
          [undefined, 0, 1].map((r) => ({
            o: 'p',
            c: 'worker',
            k: setting(500),
            t: '{}',
            r,
            z: true,
            h: 'q500',
            tn: 't',
            q: 'q',
          })),
        ),
      ],
    },
    { what: 'removed', values: [json([{ o: 'r', c: 'worker', k: setting(500), h: 'q500' }])] },
  ],
  annotate: [{ what: 'one', values: [job.ended(500), 0, 1, 'fail', BEGIN, 'a', 'r', 'c', null] }],
  annotations: [{ what: 'of one', values: [job.ended(500)] }],
  compact: [{ what: 'one', values: [job.ended(500), 4, 1, '[]', '{}'] }],
  purge: [
    {
      what: 'twenty',
      values: [json(even(job.ended).map((i, n) => ({ i, r: 4, k: 500 + n, z: STATE_CODES.succeeded })))],
    },
  ],
  xactStatus: [{ what: 'an old one', values: ['{1000}'] }],
  notify: [{ what: 'somebody', values: ['channel', 'words'] }],
  hear: [{ what: 'a channel', values: ['channel'] }],
}
