/** The statements of the hall. Which index serves one stands beside it where it is not the primary key. */
import { PATIENCE_MS } from '../../../../core/flow/hall.ts'
import { listed, READY } from '../letters.ts'
import { FLOW_COLUMNS } from './flow-cells.ts'

export const HALL_READS = {
  flow: `SELECT ${FLOW_COLUMNS} FROM flow f WHERE f.id = ?`,
  flowByName: 'SELECT id, lane FROM flow WHERE name = ?', // UNIQUE (name)
  flowsWaiting: `SELECT ${FLOW_COLUMNS} FROM flow f WHERE f.waits_at = ? AND f.priority = ? AND (f.pass, f.id) > (?, ?)
    ORDER BY f.pass, f.id LIMIT ?`, // flow_ring; of those with the same pass it steps over whoever one look has drawn before
  priorityWaiting: 'SELECT priority FROM flow WHERE waits_at = ? AND priority > ? ORDER BY priority LIMIT 1', // flow_ring
  lastWaiting: `SELECT pass FROM flow WHERE waits_at = ? AND priority = ? AND weighed_by = ?
    ORDER BY pass DESC LIMIT 1`, // flow_account
  hungrySince: 'SELECT since FROM hunger WHERE place = ? AND priority = ?',
  heldIn: 'SELECT ready_at, id FROM ready WHERE lane = ? AND (ready_at, id) > (?, ?) ORDER BY ready_at, id LIMIT ?',
  waitingAt: 'SELECT id FROM flow WHERE waits_at = ? AND id <> ? LIMIT ?', // flow_ring
  laneOfJob: `SELECT r.lane FROM job j CROSS JOIN ready r
    ON r.kind = j.kind AND r.state IN (${listed(READY)}) AND r.id = j.id WHERE j.id = ?`, // ready_kind
  leasesFrom: 'SELECT id FROM lease WHERE id > ? ORDER BY id LIMIT ?',
  standingFrom: `SELECT id, lane, ready_at FROM ready WHERE (lane, ready_at, id) > (?, ?, ?)
    ORDER BY lane, ready_at, id LIMIT ?`,
  standingIn: 'SELECT id FROM ready WHERE lane = ? LIMIT ?',

  flowKey: 'SELECT gate, spent, spent_in FROM flow_key WHERE id = ?',
  keyByName: 'SELECT id, rev, text FROM flow_key WHERE tenant = ? AND name = ?', // UNIQUE (tenant, name)
  keysFrom: 'SELECT id FROM flow_key WHERE tenant = ? AND name > ? AND rev > 0 ORDER BY name LIMIT ?', // UNIQUE (tenant, name)
  keyDocument: 'SELECT name, rev, gate, text, log FROM flow_key WHERE id = ?',
  keyText: 'SELECT tenant, name, rev, text FROM flow_key WHERE id = ?',
  wakeOf: 'SELECT name, wake_at FROM flow_key WHERE id = ?',
  slotsOf: 'SELECT job, let_in, claimed FROM slot WHERE key = ? ORDER BY job',
  pacesOf: 'SELECT claimed, starts FROM pace WHERE key = ? ORDER BY claimed',
} as const

/** Between the two texts of each are the places that are lanes, and queues. */
export const LANES = ['lane ', 'lane!'] as const
export const QUEUES = ['queue ', 'queue!'] as const

const waitsAmong = ([from, to]: readonly [string, string]) =>
  `EXISTS (SELECT 1 FROM flow WHERE waits_at > '${from}' AND waits_at < '${to}')`

/** Another flow waits for the slot of a job that nobody has claimed. */
const STOOD = `s.claimed IS NULL AND EXISTS (SELECT 1 FROM flow WHERE waits_at = 'key ' || s.key AND id <> s.flow)` // flow_ring

/** Whether anybody's time has come at `p.now`: flow_next, flow_key_wake, flow_ring, slot_standing. */
export const HALL_DUE = `EXISTS (SELECT 1 FROM flow WHERE next_at <= p.now)
    OR EXISTS (SELECT 1 FROM flow_key WHERE wake_at <= p.now)
    OR ${waitsAmong(LANES)} OR ${waitsAmong(QUEUES)}
    OR EXISTS (SELECT 1 FROM slot s WHERE s.let_in <= p.now - ${PATIENCE_MS} AND ${STOOD})`

export const HALL_WRITES = {
  insertFlow: `INSERT INTO flow (name, tenant, queue, lane, priority, keys, weighed_by) VALUES (?, ?, ?, ?, ?, ?, ?)
    RETURNING id`,
  insertCrossing: 'INSERT INTO crossing (key, flow) VALUES (?, ?)',
  flowsOf: 'SELECT flow FROM crossing WHERE key = ?',
  deleteCrossings: 'DELETE FROM crossing WHERE flow = ?', // crossing_flow
  deleteFlow: 'DELETE FROM flow WHERE id = ?',
  moveFlow: 'UPDATE flow SET pass = ?, waits_at = ?, next_at = ? WHERE id = ?',
  flowsDue: 'SELECT id FROM flow WHERE next_at <= ? ORDER BY next_at LIMIT ?', // flow_next
  placeWaiting: 'SELECT waits_at FROM flow WHERE waits_at > ? AND waits_at < ? ORDER BY waits_at LIMIT 1', // flow_ring
  hunger:
    'INSERT INTO hunger (place, priority, since) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET since = excluded.since',
  deleteHunger: 'DELETE FROM hunger WHERE place = ?',
  sate: 'DELETE FROM hunger WHERE place = ? AND priority = ?',

  insertKey:
    'INSERT INTO flow_key (tenant, name, rev, gate, weight, text, log) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id',
  deleteKey: 'DELETE FROM flow_key WHERE id = ?',
  moveKey: 'UPDATE flow_key SET rev = rev + 1, gate = ?, weight = ?, text = ?, log = coalesce(?, log) WHERE id = ?',
  setSpent: 'UPDATE flow_key SET spent = ?, spent_in = ? WHERE id = ?',
  keysAwake: 'SELECT id FROM flow_key WHERE wake_at <= ? ORDER BY wake_at LIMIT ?', // flow_key_wake
  wake: `UPDATE flow_key SET wake_at = p.at FROM (SELECT ? AS at, ? AS id) AS p
    WHERE flow_key.id = p.id AND (wake_at IS NULL OR wake_at > p.at)`,
  unwake: 'UPDATE flow_key SET wake_at = NULL WHERE id = ?',

  takeSlot: 'INSERT INTO slot (key, job, flow, let_in, claimed) VALUES (?, ?, ?, ?, ?)',
  dropSlot: 'DELETE FROM slot WHERE key = ? AND job = ?',
  mendSlot: `INSERT INTO slot (key, job, flow, let_in, claimed) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET claimed = excluded.claimed`,
  freeSlots: 'DELETE FROM slot WHERE job = ? RETURNING key, job, let_in, claimed', // slot_job
  stampSlots: 'UPDATE slot SET claimed = ? WHERE job = ?', // slot_job
  keysOf: 'SELECT key FROM slot WHERE job = ?', // slot_job
  stoodSince: `SELECT s.job, s.let_in FROM slot s WHERE s.let_in <= ? AND ${STOOD} ORDER BY s.let_in LIMIT ?`, // slot_standing
  isInTheWay: `SELECT s.job FROM slot s WHERE s.job = ? AND ${STOOD} LIMIT 1`, // slot_job
  addPace: 'INSERT INTO pace (key, claimed, starts) VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET starts = starts + 1',
  deletePaces: 'DELETE FROM pace WHERE key = ?',
  forgetPaces: 'DELETE FROM pace WHERE key = ? AND claimed <= ?',

  letIn: 'UPDATE ready SET lane = ?, ready_at = ?, flow = ?, held_at = ? WHERE lane = ? AND ready_at = ? AND id = ?',
  standing: `SELECT r.flow, r.lane, r.ready_at, r.held_at FROM job j CROSS JOIN ready r
    ON r.kind = j.kind AND r.state IN (${listed(READY)}) AND r.id = j.id WHERE j.id = ? AND r.flow IS NOT NULL`, // ready_kind
  sendBack:
    'UPDATE ready SET lane = ?, ready_at = held_at, flow = NULL, held_at = NULL WHERE lane = ? AND ready_at = ? AND id = ?',
} as const
