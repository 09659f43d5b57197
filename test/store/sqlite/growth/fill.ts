/**
 * A file that holds `to` of everything, written by a statement per table: what the rows say is of no consequence, but how many
 * there are, and how many share a word. Whatever a case asks for is among the first thousand, so that a file can be
 * measured, filled up and measured again.
 */
import type { DatabaseSync } from 'node:sqlite'
import { EVENT_CODES, STATE_CODES } from '../../../../src/store/codec/codes.ts'
import { BELOW_LET_IN } from '../../../../src/store/sqlite/thread/hall/lanes.ts'

/** When what is stored began, a millisecond after the other; and what is not due for as long as tests run. */
export const BEGIN = 1_700_000_000_000
export const FAR = 4_000_000_000_000

/** Of the n-th job of its kind: its number where it stands there. Eight to the n, so that numbers rise with time. */
export const job = {
  ready: (n: number) => 8 * n,
  leased: (n: number) => 8 * n + 1,
  resting: (n: number) => 8 * n + 2,
  ended: (n: number) => 8 * n + 3,
  held: (n: number) => 8 * n + 4,
  standing: (n: number) => 8 * n + 5,
  /** One, with a stretch and a body for each of many steps. */
  long: 7,
} as const

/** In this lane half of all that is ready, of which the first so many have come. */
export const FRONT = { lane: 25, jobs: 40 } as const
export const DUE = 5
/** Where all flows wait but the first, whose time has come. */
export const RING = 'key 1'

const S = STATE_CODES

export function fill(db: DatabaseSync, from: number, to: number): void {
  db.exec('BEGIN')
  for (const [into, columns, rest = ''] of rows()) {
    db.exec(`WITH RECURSIVE c(n) AS (VALUES (${from + 1}) UNION ALL SELECT n + 1 FROM c WHERE n < ${to})
      INSERT INTO ${into} SELECT ${columns} FROM c ${rest}`)
  }
  if (from === 0) {
    db.exec(`INSERT INTO job (id, kind, at, priority) VALUES (${job.long}, 1, ${BEGIN}, 5)`)
    db.exec(`INSERT INTO lease (id, kind, state, rev, fence, expires_at, tick, careful)
      VALUES (${job.long}, 1, '${S.running}', 1000000, 'f', ${FAR}, ${FAR}, 0)`)
  }
  db.exec('COMMIT')
}

function rows(): readonly (readonly [into: string, columns: string, rest?: string])[] {
  const places = 'CROSS JOIN (VALUES (0), (1), (2), (3), (4), (5)) AS s'
  const early = (due: string) => `CASE WHEN n <= ${DUE} THEN ${BEGIN} ELSE ${due} END`
  return [
    ['queue (id, tenant, name)', `n, 't' || (n / 10), 'q' || n`],
    ['queue (id, tenant, name, main, needs)', `1000000000 + n, 't', 'q', n, 'gpu'`],
    ['kind (id, queue, type, lease_ms, text)', `n, n, 'type', 30000, 'k' || n`],
    [
      'job (id, kind, at, priority, correlation, sum, input)',
      `8 * n + column1, n, ${BEGIN} + n, 5, n % 2, 0, '{}'`,
      places,
    ],
    ['mark (mark, job)', '7, 8 * n + 3'],
    [
      'ready (lane, ready_at, id, kind, state, rev, seq, generation, attempt, careful, tick, code)',
      `CASE WHEN n <= ${FRONT.jobs} OR n % 2 = 0 THEN ${FRONT.lane} ELSE 10 * n + 5 END,
       CASE WHEN n <= ${FRONT.jobs} THEN ${BEGIN} + n ELSE ${FAR} + n END, 8 * n, n, '${S.queued}', 1, 1, 0, 0, 0, ${early(`${FAR} + n`)}, 7`,
    ],
    ['claim (id, at, tick, request, worker, actor)', `n, ${BEGIN} + n, ${early(`${FAR} + n`)}, 'r' || n, 'w', 'a'`],
    [
      'lease (id, kind, state, rev, fence, expires_at, tick, careful, claim, claim_rev, claim_seq, claim_from, claim_expires_at, attempt, generation, code)',
      `8 * n + 1, n, '${S.claimed}', 2, '0.1.aa', ${FAR}, ${early(`CASE WHEN n % 2 = 0 THEN ${FAR} + n END`)}, 0, n, 2, 2, '${S.queued}', ${FAR}, 1, 0, 7`,
    ],
    [
      'rest (id, kind, state, rev, tick, judge, code, record)',
      `8 * n + 2, n, '${S.waiting}', 4, ${early(`${FAR} + n`)}, ${early(`${FAR} + n`)}, 7, '{}'`,
    ],
    ['ending (id, state, ended_at, jobs, log)', `n, '${S.failed}', ${BEGIN} + n, 1, '[]'`],
    [
      'done (kind, state, id, rev, ended_at, ending, code, output)',
      `n, '${S.failed}', 8 * n + 3, CASE WHEN n % 2 = 0 THEN 25 ELSE 4 END, ${BEGIN} + n, n, 7, '{}'`,
    ],
    ['past (job, rev, log)', `${job.long}, n + 1, '[]'`],
    ['past (job, rev, log)', `8 * n + 3, 3, '[]'`],
    ['asked (job, request, rev)', `${job.long}, n, n + 1`],
    ['body (job, name, text)', `8 * n + 2, 'step/1', '{}'`],
    ['body (job, name, text)', `${job.long}, 'step/' || n, '{}'`],
    ['key (tenant, purpose, key, job, until)', `'t', 'dedupe', 'k' || n, 8 * n + 2, NULL`],
    ['annotation (job, generation, attempt, command, text)', `8 * n + 3, 0, 1, 'complete', '{}'`],
    ['entry (position, at, items)', `n, ${BEGIN} + n, '[]'`],
    ['moment (type, at, position)', `'${EVENT_CODES.succeeded}', ${BEGIN} + n, n`],
    ['echo (correlation, job, rev)', '7, 8 * n + 3, 3'],
    // All that is held waits in one flow, and the others have one each; of each flow one stands.
    [
      'ready (lane, ready_at, id, kind, state, rev, seq, generation, attempt, careful)',
      `-1, ${FAR} + n, 8 * n + 4, n, '${S.queued}', 1, 1, 0, 0, 0`,
    ],
    [
      'ready (lane, ready_at, id, kind, state, rev, seq, generation, attempt, careful, flow, held_at)',
      `${BELOW_LET_IN} + 10 * n, ${BEGIN}, 8 * n + 5, n, '${S.queued}', 1, 1, 0, 0, 0, n, ${BEGIN}`,
    ],
    [
      'flow (id, name, tenant, queue, lane, priority, keys, weighed_by, pass, waits_at, next_at)',
      `n, 'f' || n, 't', n, ${BELOW_LET_IN} + 10 * n, 5, '[' || n || ']', 'k' || n, n, CASE WHEN n > 1 THEN '${RING}' END, ${early(`${FAR} + n`)}`,
    ],
    [
      'flow_key (id, tenant, name, rev, gate, weight, text, wake_at)',
      `n, 't', 'k' || n, 1, '{}', 1, '{}', ${early(`${FAR} + n`)}`,
    ],
    ['crossing (key, flow)', 'n, n'],
    ['slot (key, job, flow, let_in)', `n, 8 * n + 5, n, ${BEGIN} + n`],
    ['pace (key, claimed, starts)', `n, ${BEGIN} + n, 1`],
    ['hunger (place, priority, since)', `'key ' || n, 5, ${BEGIN}`],
    ['tally (kind, state, count)', `n, '${S.queued}', 1`],
    ['setting (collection, key, rev, updated_at, text)', `'worker', 'w' || printf('%08d', n), 1, ${BEGIN}, '{}'`],
  ]
}
