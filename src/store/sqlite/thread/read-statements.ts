/**
 * Every statement that only reads, for both threads. Which index serves it stands beside it where it is not the primary
 * key. None walks further than its limit: what has none is about one job, one kind or one queue.
 */
import { LONG_LOG } from '../../../core/compact.ts'
import { JOB, type JobCells } from '../job-row.ts'
import { selected } from '../named.ts'
import { HALL_READS } from './hall/statements.ts'
import { ENDED, listed, READY } from './letters.ts'

/** The places exclude each other, so at most one of the four joins finds a row. */
const PLACES = `
  LEFT JOIN done d ON d.kind = j.kind AND d.state IN (${listed(ENDED)}) AND d.id = j.id
  LEFT JOIN lease l ON l.id = j.id
  LEFT JOIN ready r ON r.kind = j.kind AND r.state IN (${listed(READY)}) AND r.id = j.id
  LEFT JOIN rest s ON s.id = j.id`

const COLUMNS: Readonly<Record<keyof JobCells, string>> = {
  id: 'j.id',
  kind: 'j.kind',
  at: 'j.at',
  priority: 'j.priority',
  head: 'j.head',
  record: 'coalesce(e.record, l.record, r.record, s.record)',
  rev: 'coalesce(d.rev, l.rev, r.rev, s.rev)',
  opening: 'CASE WHEN e.record IS NULL THEN e.opening END',
  log: 'CASE WHEN e.record IS NULL THEN coalesce(d.log, e.log) END',
  fence: 'l.fence',
  state: 'l.state',
  expiresAt: 'l.expires_at',
  logged: 'l.logged',
  claimRev: 'l.claim_rev',
  claimSeq: 'l.claim_seq',
  claimFrom: 'l.claim_from',
  claimExpiresAt: 'l.claim_expires_at',
  attempt: 'l.attempt',
  generation: 'l.generation',
  beats: 'l.beats',
  beatsFrom: 'l.beats_from',
  beatsTo: 'l.beats_to',
  beatId: 'l.beat_id',
  before: 'l.before',
  claimAt: 'c.at',
  request: 'c.request',
  worker: 'coalesce(c.worker, l.worker)',
  actor: 'c.actor',
}

/** A job with whatever row it is in: a `JobRow`. */
export const WHOLE = `SELECT ${selected(JOB, COLUMNS)}
  FROM job j ${PLACES}
  LEFT JOIN ending e ON e.id = d.ending
  LEFT JOIN claim c ON c.id = l.claim`

/** The row of an ended job; its number is asked for twice. */
export const doneOf = (d = '') =>
  `${d}kind = (SELECT kind FROM job WHERE id = ?) AND ${d}state IN (${listed(ENDED)}) AND ${d}id = ?`

/** Numbers of jobs between two, exclusive, in their order, a limited number of them. */
const walk = (from: string, where: string, id: string, direction: 'ASC' | 'DESC') =>
  `SELECT ${from} WHERE ${where} ${id} > ? AND ${id} < ? ORDER BY ${id} ${direction} LIMIT ?`

const walks = (direction: 'ASC' | 'DESC') =>
  ({
    ready: walk('id FROM ready', 'kind = ? AND state = ? AND', 'id', direction), // ready_kind
    rest: walk('id FROM rest', 'kind = ? AND state = ? AND', 'id', direction), // rest_kind
    done: walk('id FROM done', 'kind = ? AND state = ? AND', 'id', direction),
    mark: walk('job FROM mark', 'mark = ? AND', 'job', direction),
    correlation: walk('id FROM job', 'correlation = ? AND', 'id', direction), // job_correlation
    doneCode: walk('id FROM done', 'code = ? AND', 'id', direction), // done_code
    readyCode: walk('id FROM ready', 'code = ? AND', 'id', direction), // ready_code
    restCode: walk('id FROM rest', 'code = ? AND', 'id', direction), // rest_code
    leaseCode: walk('id FROM lease', 'code = ? AND', 'id', direction), // lease_code
    leases: walk('id, kind FROM lease', '', 'id', direction),
    jobs: walk('id, kind FROM job', '', 'id', direction),
  }) as const

export const UPWARDS = walks('ASC')
export const DOWNWARDS = walks('DESC')

export const READS = {
  snapshot: 'BEGIN',
  leave: 'ROLLBACK',
  lastEntry: 'SELECT position, at FROM entry ORDER BY position DESC LIMIT 1',

  kind: 'SELECT k.queue, q.tenant, q.name, k.type FROM kind k CROSS JOIN queue q ON q.id = k.queue WHERE k.id = ?',
  kindText: 'SELECT text FROM kind WHERE id = ?',
  queueByName: 'SELECT id FROM queue WHERE tenant = ? AND name = ? AND main IS NULL', // queue_name
  sidesOf: 'SELECT needs, id FROM queue WHERE main = ?', // queue_side
  sideOf: 'SELECT id FROM queue WHERE main = ? AND needs = ?', // queue_side
  queues: 'SELECT id, name FROM queue WHERE main IS NULL LIMIT ?',
  queuesOf: 'SELECT id, name FROM queue WHERE tenant = ? AND main IS NULL LIMIT ?', // queue_name
  tenantAfter: 'SELECT tenant FROM queue WHERE tenant > ? AND main IS NULL ORDER BY tenant LIMIT 1', // queue_name
  kindsOf: 'SELECT id FROM kind WHERE queue = ? LIMIT ?', // kind_queue
  kindsOfType: 'SELECT id FROM kind WHERE queue = ? AND type = ? LIMIT ?', // kind_queue
  statesOf: 'SELECT state FROM tally WHERE kind = ? AND count > 0',

  whole: `${WHOLE} WHERE j.id = ?`,
  /** The columns that `judge` of find.ts looks at. */
  heads: `SELECT j.kind, j.at, j.correlation, coalesce(d.state, l.state, r.state, s.state),
      coalesce(d.code, l.code, r.code, s.code), d.ended_at
    FROM job j ${PLACES} WHERE j.id = ?`,
  marked: 'SELECT 1 FROM mark WHERE mark = ? AND job = ?',
  anyEnded: 'SELECT 1 FROM ending WHERE state = ? AND ended_at < ? LIMIT 1', // ending_ended
  longEnded: `SELECT ended_at, id FROM done WHERE rev >= ${LONG_LOG} AND (ended_at, id) > (?, ?) AND ended_at < ?
    ORDER BY ended_at, id LIMIT ?`, // done_long
  bornAfter: 'SELECT id, at FROM job WHERE id > ? ORDER BY id LIMIT 1',
  lastJob: 'SELECT id FROM job ORDER BY id DESC LIMIT 1',
  named: 'SELECT job FROM key WHERE tenant = ? AND purpose = ? AND key = ?',

  input: 'SELECT input FROM job WHERE id = ?',
  inputBytes: 'SELECT octet_length(input) FROM job WHERE id = ?',
  summed: 'SELECT input, sum FROM job WHERE id = ?',
  body: 'SELECT name, text FROM body WHERE job = ? AND name = ?',
  bodiesFrom: 'SELECT name, text FROM body WHERE job = ? AND name >= ? AND name < ? ORDER BY name',
  output: `SELECT output FROM done WHERE ${doneOf()} AND output IS NOT NULL`,

  pastFrom: 'SELECT rev, opening, log FROM past WHERE job = ? AND rev > ? ORDER BY rev LIMIT ?',
  /** The stretch that has this revision. */
  pastAt: 'SELECT rev, opening, log FROM past WHERE job = ? AND rev >= ? ORDER BY rev LIMIT 1',
  doneLog: `SELECT d.rev, e.opening, coalesce(d.log, e.log) FROM done d CROSS JOIN ending e ON e.id = d.ending
    WHERE ${doneOf('d.')}`,
  askedIn: 'SELECT rev FROM asked WHERE job = ? AND request IN (?, 0)',
  annotations: 'SELECT text FROM annotation WHERE job = ? ORDER BY generation, attempt, command',

  lastPosition: `SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'entry'), 0)`,
  entriesFrom: 'SELECT position, items FROM entry WHERE position >= ? ORDER BY position LIMIT ?',
  entryAt: 'SELECT items FROM entry WHERE position = ?',
  moments: `SELECT at, position FROM moment WHERE type = ? AND (at, position) >= (?, ?) AND at < ?
    ORDER BY at, position LIMIT ?`,
  echoedBy: 'SELECT DISTINCT job FROM echo WHERE correlation = ? AND job > ? AND job < ? ORDER BY job LIMIT ?',
  echoes: 'SELECT rev FROM echo WHERE correlation = ? AND job = ? AND rev > ? ORDER BY rev LIMIT ?',

  tally: 'SELECT kind, state, count FROM tally WHERE count <> 0',
  tallyOf: `SELECT t.kind, t.state, t.count FROM queue q CROSS JOIN kind k ON k.queue = q.id CROSS JOIN tally t ON t.kind = k.id
    WHERE q.tenant = ? AND t.count <> 0 AND q.main IS NULL`,
  nextLane: 'SELECT lane, ready_at FROM ready WHERE lane > ? ORDER BY lane, ready_at LIMIT 1',
  queueNames: 'SELECT tenant, name, needs FROM queue WHERE id = ?',
  purged: `SELECT value FROM counter WHERE name = 'purged'`,

  setting: 'SELECT key, rev, updated_at, text FROM setting WHERE collection = ? AND key = ?',
  settings: 'SELECT key, rev, updated_at, text FROM setting WHERE collection = ? AND key > ? ORDER BY key LIMIT ?',

  ...HALL_READS,
} as const
