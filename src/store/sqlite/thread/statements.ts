/**
 * Every statement: a closed list, each prepared once (`open-file.ts`). Which index serves one stands beside it where it
 * is not the primary key; the only lock there is, the file's, is taken by `begin`.
 */
import type { StatementSync } from 'node:sqlite'
import { STATE_CODES } from '../../codec/codes.ts'
import { leaseEndText } from '../../lease-text.ts'
import { FRONT_COLUMNS } from './front.ts'
import { HALL_DUE, HALL_WRITES } from './hall/statements.ts'
import { LEASE_COLUMNS } from './lease.ts'
import type { OpenFile } from './open-file.ts'
import { DOWNWARDS, doneOf, READS, UPWARDS, WHOLE } from './read-statements.ts'

const DONE = doneOf()

const WRITES = {
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',
  savepoint: 'SAVEPOINT item',
  release: 'RELEASE item',
  undo: 'ROLLBACK TO item',
  dataVersion: 'PRAGMA data_version',

  kindByText: 'SELECT id, queue FROM kind WHERE text = ?',
  insertKind: 'INSERT INTO kind (queue, type, lease_ms, text) VALUES (?, ?, ?, ?) RETURNING id',
  insertQueue: 'INSERT INTO queue (tenant, name) VALUES (?, ?) RETURNING id',
  insertSide: `INSERT INTO queue (tenant, name, main, needs) SELECT tenant, name, id, p.needs
    FROM (SELECT ? AS main, ? AS needs) AS p CROSS JOIN queue ON id = p.main RETURNING id`,

  wholeOfClaim: `${WHOLE} WHERE j.id IN (SELECT id FROM lease WHERE claim = ? AND expires_at > ?) ORDER BY j.id`,

  insertJob: `INSERT INTO job (id, kind, at, priority, correlation, head, sum, input)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  insertFresh: `INSERT INTO ready
    (lane, ready_at, kind, state, tick, careful, id, rev, seq, generation, attempt)
    VALUES (?, ?, ?, ?, ?, ?, ?, 1, 1, 0, 0)`,
  insertFreshAlike: `INSERT INTO ready
    (lane, ready_at, kind, state, tick, careful, id, rev, seq, generation, attempt)
    SELECT p.lane, p.ready_at, p.kind, p.state, p.tick, p.careful, e.value, 1, 1, 0, 0
    FROM (SELECT ? AS lane, ? AS ready_at, ? AS kind, ? AS state, ? AS tick, ? AS careful, ? AS ids) AS p
      CROSS JOIN json_each(p.ids) AS e`,
  jobExists: 'SELECT 1 FROM job WHERE id = ?',
  insertMark: 'INSERT INTO mark (mark, job) VALUES (?, ?) ON CONFLICT DO NOTHING',
  insertReady: `INSERT INTO ready
    (lane, ready_at, id, kind, state, rev, seq, generation, attempt, careful, tick, code, record)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  insertRest: 'INSERT INTO rest (id, kind, state, rev, tick, judge, code, record) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  insertDone: `INSERT INTO done (kind, state, id, rev, ended_at, ending, code, output, log)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  insertDoneAlike: `INSERT INTO done (kind, state, id, rev, ended_at, ending, output)
    SELECT p.kind, p.state, e.value, p.rev, p.ended_at, p.ending, p.output
    FROM (SELECT ? AS kind, ? AS state, ? AS rev, ? AS ended_at, ? AS ending, ? AS output, ? AS ids) AS p
      CROSS JOIN json_each(p.ids) AS e`,
  // How many of these leases are of one claim and unchanged since.
  leasesAlike: `SELECT count(*) FROM json_each(?) AS e CROSS JOIN lease AS l ON l.id = e.value
    WHERE l.rev = ? AND l.fence = ? AND l.kind = ? AND l.state = ? AND l.claim = ? AND l.claim_seq = ? AND l.claim_from = ?
      AND l.logged = 0 AND l.beats = 0`,
  insertEnding: 'INSERT INTO ending (state, ended_at, jobs, opening, log, record) VALUES (?, ?, ?, ?, ?, ?)',
  ending: 'SELECT opening, log FROM ending WHERE id = ?',
  leaveEnding: 'UPDATE ending SET jobs = jobs - 1 WHERE id = ? AND jobs > 1',
  deleteEnding: 'DELETE FROM ending WHERE id = ?',
  insertLease: `INSERT INTO lease
    (id, kind, state, rev, fence, expires_at, tick, careful, logged, beats_all, beat_id, code, worker, attempt, generation, record)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?)`,

  holder: 'SELECT job FROM key WHERE tenant = ? AND purpose = ? AND key = ? AND (until IS NULL OR until > ?)',
  takeKey: `INSERT INTO key (tenant, purpose, key, job, until) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET job = excluded.job, until = excluded.until`,
  giveKey: 'DELETE FROM key WHERE tenant = ? AND purpose = ? AND key = ? AND job = ?',

  // The front of a lane: an ordered walk of the primary key that stops after the limit.
  // A job whose own tick has come is the ticker's (`isClaimable`, core/timers.ts), and is passed by.
  front: 'SELECT 1 FROM ready WHERE lane = ? AND ready_at <= ? AND (tick IS NULL OR tick > ?) LIMIT 1',
  // Long texts are not selected, only their lengths, by which it is decided how many jobs one turn can take.
  claimable: `SELECT ${FRONT_COLUMNS}
    FROM ready r CROSS JOIN job j ON j.id = r.id CROSS JOIN kind k ON k.id = r.kind
    WHERE r.lane = ? AND r.ready_at <= ? AND (r.tick IS NULL OR r.tick > ?) ORDER BY r.ready_at, r.id LIMIT ?`,
  readyTexts: `SELECT j.head, r.record FROM ready r CROSS JOIN job j ON j.id = r.id
    WHERE r.lane = ? AND r.ready_at = ? AND r.id = ?`,
  // Leases for exactly the rows that were just read: the front of the lane up to the last row. The fence is
  // written as by `fenceOf` (core/fence.ts).
  leaseFront: `INSERT INTO lease (id, kind, state, rev, fence, expires_at, tick, careful,
      claim, claim_rev, claim_seq, claim_from, claim_expires_at, attempt, generation, code, before)
    SELECT r.id, r.kind, '${STATE_CODES.claimed}', r.rev + 1, r.generation || '.' || (r.attempt + 1) || '.' || p.nonce, ${leaseEndText('p.now', 'k.lease_ms')},
      CASE WHEN r.tick < ${leaseEndText('p.now', 'k.lease_ms')} THEN r.tick END, r.careful,
      p.claim, r.rev + 1, r.seq + 1, r.state, ${leaseEndText('p.now', 'k.lease_ms')}, r.attempt + 1, r.generation, r.code, r.record
    FROM (SELECT ? AS nonce, ? AS now, ? AS claim, ? AS lane, ? AS ready_at, ? AS id) AS p
      CROSS JOIN ready r CROSS JOIN kind k ON k.id = r.kind
    WHERE r.lane = p.lane AND (r.ready_at, r.id) <= (p.ready_at, p.id) AND (r.tick IS NULL OR r.tick > p.now)`,
  deleteFront: 'DELETE FROM ready WHERE lane = ? AND (ready_at, id) <= (?, ?) AND (tick IS NULL OR tick > ?)',
  insertClaim: 'INSERT INTO claim (at, request, worker, actor) VALUES (?, ?, ?, ?) RETURNING id',
  tickClaim: 'UPDATE claim SET tick = ? WHERE id = ?',
  claimByRequest: 'SELECT id FROM claim WHERE request = ? ORDER BY id DESC', // claim_request
  claimStamp: 'SELECT at, request, worker, actor FROM claim WHERE id = ?',
  // A walk of the leases, which are few; an index for it would cost every claim and every end.
  forgetClaims: `DELETE FROM claim WHERE id < ? AND id NOT IN (SELECT claim FROM lease WHERE claim IS NOT NULL)`,

  leaseRev: 'SELECT rev FROM lease WHERE id = ?',
  doneRev: `SELECT rev FROM done WHERE ${DONE}`,
  restRev: 'SELECT rev FROM rest WHERE id = ?',
  readyRev: 'SELECT rev FROM ready WHERE lane = ? AND ready_at = ? AND id = ?',
  leaseAt: `SELECT ${LEASE_COLUMNS} FROM lease WHERE id = ? AND rev = ?`,
  deleteLease: 'DELETE FROM lease WHERE id = ?',
  deleteLeases: 'DELETE FROM lease WHERE id IN (SELECT value FROM json_each(?))',
  updateLease: `UPDATE lease SET state = ?, rev = ?, expires_at = ?, tick = ?, careful = ?, beats_all = ?, beat_id = ?,
      code = ?, record = ?, logged = 1, beats = 0, beats_from = NULL, beats_to = NULL WHERE id = ?`,
  takeReady: 'DELETE FROM ready WHERE lane = ? AND ready_at = ? AND id = ? AND rev = ?',
  takeRest: 'DELETE FROM rest WHERE id = ? AND rev = ?',
  takeDone: `DELETE FROM done WHERE ${DONE} AND rev = ? RETURNING ending, output, log, kind, state`,
  insertPast: 'INSERT INTO past (job, rev, opening, log) VALUES (?, ?, ?, ?)',
  insertAsked: 'INSERT INTO asked (job, request, rev) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  putBody: 'INSERT INTO body (job, name, text) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET text = excluded.text',
  insertEcho: 'INSERT INTO echo (correlation, job, rev) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  annotate: `INSERT INTO annotation (job, generation, attempt, command, text) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING`,
  endingOfDone: `SELECT e.id, e.state, e.ended_at FROM done d CROSS JOIN ending e ON e.id = d.ending
    WHERE ${doneOf('d.')} AND d.rev = ? AND coalesce(d.log, e.log) = ?`,
  moveEnding: `UPDATE done SET ending = ?, log = NULL WHERE ${DONE}`,
  deletePast: 'DELETE FROM past WHERE job = ?',
  deleteAsked: 'DELETE FROM asked WHERE job = ?',
  deleteJob: 'DELETE FROM job WHERE id = ?',
  deleteBodies: 'DELETE FROM body WHERE job = ?',
  stripJob: 'UPDATE job SET input = NULL, sum = NULL WHERE id = ?',
  deleteKeys: 'DELETE FROM key WHERE job = ?', // key_job
  deleteMarks: 'DELETE FROM mark WHERE job = ?', // mark_job
  deleteEchoes: 'DELETE FROM echo WHERE job = ?', // echo_job
  deleteAnnotations: 'DELETE FROM annotation WHERE job = ?',
  tellTime: `INSERT INTO counter VALUES ('time', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  toldTime: `SELECT value FROM counter WHERE name = 'time'`,
  countPurged: `UPDATE counter SET value = value + 1 WHERE name = 'purged'`,

  beatable: 'SELECT fence, expires_at, beat_id, careful, rev, beats_all, kind FROM lease WHERE id = ?',
  beat: `UPDATE lease SET rev = rev + 1, expires_at = ${leaseEndText('p.now', '(SELECT lease_ms FROM kind WHERE id = lease.kind)')},
      beats_all = beats_all + 1, beats = beats + 1, beats_from = coalesce(beats_from, p.now), beats_to = p.now,
      beat_id = p.request
    FROM (SELECT ? AS now, ? AS request, ? AS id) AS p
    WHERE lease.id = p.id RETURNING rev, beats_all, expires_at`,

  // claim_tick, ready_tick, lease_tick, rest_tick
  dueReady: `SELECT id, tick, lane, ready_at FROM ready WHERE tick <= ? AND (again IS NULL OR again <= ?)
    ORDER BY tick LIMIT ?`,
  dueLease: 'SELECT id, tick FROM lease WHERE tick <= ? ORDER BY tick LIMIT ?',
  dueRest: 'SELECT id, tick FROM rest WHERE tick <= ? ORDER BY tick LIMIT ?',
  anyDue: `SELECT EXISTS (SELECT 1 FROM lease WHERE tick <= p.now) OR EXISTS (SELECT 1 FROM ready WHERE tick <= p.now
      AND (again IS NULL OR again <= p.now))
    OR EXISTS (SELECT 1 FROM rest WHERE tick <= p.now) OR EXISTS (SELECT 1 FROM claim WHERE tick <= p.now)
    OR ${HALL_DUE} FROM (SELECT ? AS now) AS p`,
  // rest_judge
  unjudged: 'SELECT id FROM rest WHERE judge <= ? ORDER BY judge LIMIT ?',
  anyUnjudged: 'SELECT EXISTS (SELECT 1 FROM rest WHERE judge <= ?)',
  judgeRest: 'UPDATE rest SET judge = ? WHERE id = ?',
  claimDue: 'SELECT 1 FROM claim WHERE tick <= ? LIMIT 1',
  // A walk of the leases, once for each claim that is not over in a lease's time.
  tickClaimed: `UPDATE lease SET tick = (SELECT tick FROM claim WHERE id = lease.claim)
    WHERE tick IS NULL AND claim IN (SELECT id FROM claim WHERE tick <= ?)`,
  untickClaims: 'UPDATE claim SET tick = NULL WHERE tick <= ?',
  tickReady: 'UPDATE ready SET again = ? WHERE lane = ? AND ready_at = ? AND id = ?',
  tickLease: 'UPDATE lease SET tick = ? WHERE id = ?',
  tickRest: 'UPDATE rest SET tick = ? WHERE id = ?',
  retickLease: 'UPDATE lease SET tick = ? WHERE id = ? AND rev = ?',

  insertEntry: 'INSERT INTO entry (at, items) VALUES (?, ?) RETURNING position',
  insertMoment: 'INSERT INTO moment (type, at, position) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  oldEntries:
    'SELECT max(position), max(at) FROM (SELECT position, at FROM entry ORDER BY position LIMIT 500) WHERE at < ?',
  deleteEntries: 'DELETE FROM entry WHERE position <= ?',
  deleteMoments: 'DELETE FROM moment WHERE type = ? AND at <= ? AND position <= ?',

  count: `INSERT INTO tally (kind, state, count) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET count = count + excluded.count`,
  putSetting: `INSERT INTO setting (collection, key, rev, updated_at, text) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET rev = excluded.rev, updated_at = excluded.updated_at, text = excluded.text`,
  removeSetting: 'DELETE FROM setting WHERE collection = ? AND key = ?',
} as const

type Prepared<Texts> = Readonly<Record<keyof Texts, StatementSync>>

export type Walks = Prepared<typeof UPWARDS>
export type ReadStatements = Prepared<typeof READS>
export type Statements = ReadStatements & Prepared<typeof WRITES> & Prepared<typeof HALL_WRITES>

export const STATEMENTS = { ...READS, ...WRITES, ...HALL_WRITES } as const

export const readStatements = (file: OpenFile): ReadStatements => prepared(file, READS)
export const statements = (file: OpenFile): Statements => prepared(file, STATEMENTS)
export const upwards = (file: OpenFile): Walks => prepared(file, UPWARDS)
export const downwards = (file: OpenFile): Walks => prepared(file, DOWNWARDS)

function prepared<Texts extends Readonly<Record<string, string>>>(file: OpenFile, texts: Texts): Prepared<Texts> {
  const found: Partial<Record<keyof Texts, StatementSync>> = {}
  for (const name of Object.keys(texts) as (keyof Texts & string)[]) found[name] = file.prepare(texts[name] as string)
  return found as Prepared<Texts>
}
