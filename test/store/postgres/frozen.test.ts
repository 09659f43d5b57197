/** What tables know of core and codec is written in numbered files, which never change: core and codec may not, either. */
import { expect, it } from 'vitest'
import { LONG_LOG } from '../../../src/core/compact.ts'
import { LIVE_STATES, RANK, STATES, type State } from '../../../src/core/job.ts'
import { STATE_CODES } from '../../../src/store/codec/codes.ts'
import { LANE_WIDTH, laneNumber, priorityOf, queueOf } from '../../../src/store/codec/lane.ts'
import { ledOf } from '../../../src/store/postgres/names/led.ts'
import { heldLane, letInLane } from '../../../src/store/postgres/names/let-in-lane.ts'
import { STEP_BITS } from '../../../src/store/postgres/names/step.ts'
import { schemaFile } from '../../../src/store/postgres/schema/tables.ts'

const tables = schemaFile('0001_tables.sql').replaceAll(/--.*$/gm, '')

const table = (name: string): string =>
  new RegExp(`create table pawl\\.${name} \\(([\\s\\S]*?)\\n\\)`).exec(tables)?.[1] ?? ''

const ranks = (...states: readonly State[]): string =>
  [...new Set(states.map((state) => RANK[state]))].sort().join(', ')

it.each([
  ['ready', ranks('queued', 'retrying', 'stalled')],
  ['lease', ranks('claimed', 'running')],
  ['rest', ranks('pending', 'waiting', 'parked', 'stalled')],
])('the ranks that %s lets in are those of the states it is for', (name, expected) => {
  const mask = 2 ** STEP_BITS.attempt - 1
  expect(table(name)).toContain(`check (step & ${mask} in (${expected}))`)
})

/** In every row of a database that is there: another width would be other queues and priorities. */
it('the number of a lane is made as rows have it', () => {
  expect(LANE_WIDTH).toBe(10)
  expect(laneNumber(7, 3)).toBe(73)
  expect([queueOf(73), priorityOf(73)]).toEqual([7, 3])
  expect([letInLane(73), heldLane(73)]).toEqual([1_000_000_073, -73])
})

it('every live state has a table', () => {
  const listed = [...tables.matchAll(/check \(step & \d+ in \(([\d, ]+)\)/g)].flatMap(([, list]) => list?.split(', '))
  expect(new Set(listed)).toEqual(new Set(LIVE_STATES.map((state) => String(RANK[state]))))
})

it('history knows the end of a job, its attempt and its generation where core and step put them', () => {
  const past = table('past')
  const mask = 2 ** STEP_BITS.attempt - 1
  const attempts = 2 ** (STEP_BITS.generation - STEP_BITS.attempt) - 1
  expect(past).toContain(`from_step & ${mask} <> ${RANK.succeeded} or to_step >> ${STEP_BITS.generation} > from_step`)
  expect(past).toContain(`(to_step & ${mask} = ${RANK.succeeded}) = (state is not null)`)
  expect(past).toContain(`(to_step >> ${STEP_BITS.attempt}) & ${attempts} = `)
})

it('where a commit led is the letter of an end, or the digit of a rank', () => {
  const led = schemaFile('0003_past_led.sql')
  expect(led).toContain(`coalesce(state, chr(48 + (to_step & ${2 ** STEP_BITS.attempt - 1})::int)::"char")`)
  const keys = STATES.map(ledOf)
  expect(new Set(keys).size).toBe(STATES.length)
  for (const state of LIVE_STATES) expect(ledOf(state)).toBe(String.fromCharCode(48 + RANK[state]))
})

it('indexes know long logs, successes and jobs that are pending', () => {
  expect(tables).toContain(`past_long on pawl.past (at, job) where state is not null and rev >= ${LONG_LOG};`)
  expect(tables).toContain(`past_state on pawl.past (state, job) where state <> '${STATE_CODES.succeeded}';`)
  expect(tables).toContain(`coalesce(substr(doc, 7, 1), '${STATE_CODES.pending}')`)
})
