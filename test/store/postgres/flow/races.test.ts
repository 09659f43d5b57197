/**
 * Rounds that meet: two processes on two connections, each step of which is held up where it hurts. Every scenario holds with the
 * functions as they are, and fails with those of a mutant, whose text differs by a word in this database only.
 */
import type pg from 'pg'
import { describe, expect, it, vi } from 'vitest'
import { eventually } from '../../../support/eventually.ts'
import { atOnce, HallTables, type Mutant, statements } from './hall-tables.ts'

vi.setConfig({ testTimeout: 120_000 })

interface Scenario {
  readonly what: string
  /** Throws where it does not hold. */
  readonly run: (tables: HallTables) => Promise<void>
  /** By what they do wrong. */
  readonly mutants: Readonly<Record<string, Mutant>>
}

const FREED_TOLD = 'select -u.key from unnest(keys) as u(key)'
const KEYS_COMPARED = 'k.version <> key_versions[array_position(of_keys, k.id)]'

const SCENARIOS: readonly Scenario[] = [
  {
    what: 'two rounds that have seen the same free slot give it once',
    run: bothSawIt,
    mutants: {
      'counted before the lock': { of: 'flow_apply', from: KEYS_COMPARED, to: 'false' },
      'a round leaves no trace': {
        of: 'flow_apply',
        from: 'set version = k.version + 1, wake_at',
        to: 'set version = k.version, wake_at',
      },
    },
  },
  {
    what: 'a round that has waited for another counts anew',
    run: oneWaits,
    mutants: {
      'no lock': {
        of: 'flow_apply',
        from: 'where k.id = any(of_keys) order by k.id for no key update',
        to: 'where false',
      },
    },
  },
  {
    what: 'a key that is freed while somebody is put to wait there is looked at again',
    run: freedMeanwhile,
    mutants: {
      'the freer looks whether anybody waits': {
        of: 'flow_vacate',
        from: FREED_TOLD,
        to: `${FREED_TOLD} where exists (select from pawl.flow w where w.waits_at = 'key ' || u.key)`,
      },
    },
  },
  {
    what: 'a key that was freed and looked at is not one to wait at for who has seen it full',
    run: lookedAtMeanwhile,
    mutants: {
      'waits are not compared': { of: 'flow_apply', from: KEYS_COMPARED, to: 'false' },
    },
  },
  {
    what: 'a key that was freed, and forgotten because nobody waits there, is not one to wait at for who has seen it full',
    run: sweptMeanwhile,
    mutants: {
      'a sweep leaves no trace': {
        of: 'flow_sweep',
        from: 'set version = k.version + 1',
        to: 'set version = k.version',
      },
    },
  },
  {
    what: 'a key that is freed is not waited at, though its freer has seen nobody wait there',
    run: freedUnseen,
    mutants: {
      'who waits does not ask whether it was freed': {
        of: 'flow_apply',
        from: 'a.key = -u.key::int and a.id <> all(seen)',
        to: 'false',
      },
    },
  },
  {
    what: 'a job that somebody has locked is come back for',
    run: lockedRow,
    mutants: {
      'a skipped row is forgotten': {
        of: 'flow_move_in',
        from: 'set next_at = started',
        to: 'set next_at = f.next_at',
      },
    },
  },
  {
    what: 'nobody waits for a job that somebody has locked',
    run: othersGoOn,
    mutants: {
      'waits for a held row': { of: 'flow_move_in', from: 'limit 1 for update skip locked', to: 'limit 1 for update' },
    },
  },
  {
    what: 'who frees a slot and dies has told of it in the same commit',
    run: freedAndDied,
    mutants: {
      'freeing and letting in are two commits': {
        of: 'flow_vacate',
        from: FREED_TOLD,
        to: `${FREED_TOLD} where false`,
      },
    },
  },
  {
    what: 'a slot that somebody has claimed is not taken back',
    run: claimedMeanwhile,
    mutants: {
      'slots go although the job stays': {
        of: 'flow_take_back',
        from: 'delete from pawl.slot s where s.job = any(jobs)',
        to: 'delete from pawl.slot s where s.job = any(array(select x.i from json_to_recordset(items) as x(i bigint)))',
      },
    },
  },
  {
    what: 'nobody is let into a queue that was paused meanwhile',
    run: pausedMeanwhile,
    mutants: {
      'the pause is not compared': { of: 'flow_apply', from: 'q.id = x.i and q.paused <> x.z', to: 'false' },
    },
  },
]

for (const { what, run, mutants } of SCENARIOS) {
  describe(what, () => {
    it('holds', async () => {
      const tables = await HallTables.open()
      try {
        await run(tables)
        expect(tables.failures).toEqual([])
      } finally {
        await tables.close()
      }
    })

    it.each(Object.entries(mutants))('does not, where %s', async (_, mutant) => {
      const tables = await HallTables.open(mutant)
      try {
        await expect(run(tables)).rejects.toThrow()
      } finally {
        await tables.close()
      }
    })
  })
}

/** Runs once, between a round's first look and its application. */
function once(act: () => Promise<unknown>): () => Promise<void> {
  let isDone = false
  return async () => {
    if (isDone) return
    isDone = true
    await act()
  }
}

async function bothSawIt(tables: HallTables): Promise<void> {
  const one = await tables.flow('one', { key: atOnce(1) })
  const two = await tables.flow('two', { key: atOnce(1) })
  await tables.hold(one.flow, 2)
  await tables.hold(two.flow, 2)
  const other = tables.rounds(await tables.another())
  const first = tables.rounds(
    tables.client,
    once(() => other.look({ flows: [two.flow] })),
  )
  await first.look({ flows: [one.flow] })
  expect(await tables.slots(one.keys[0] as number)).toBe(1)
}

async function oneWaits(tables: HallTables): Promise<void> {
  const one = await tables.flow('one', { key: atOnce(1) })
  const two = await tables.flow('two', { key: atOnce(1) })
  await tables.hold(one.flow, 1)
  await tables.hold(two.flow, 1)
  const slow = await tables.another()
  const late = await tables.another()
  await slow.query('begin')
  await tables.rounds(slow).look({ flows: [one.flow] })
  const waiting = tables.rounds(late).look({ flows: [two.flow] })
  await eventually('the second to wait for the first', () => waitsForLock(tables.client, late))
  await slow.query('commit')
  await waiting
  expect(await tables.slots(one.keys[0] as number)).toBe(1)
}

async function waitsForLock(client: pg.Client, other: pg.Client): Promise<boolean> {
  const { processID } = other as pg.Client & { readonly processID: number }
  const { rows } = await client.query('select from pg_locks where pid = $1 and not granted', [processID])
  return rows.length > 0
}

/** A job of the flow has the one slot there is; another is held, and somebody is just about to put its flow to wait. */
async function full(tables: HallTables) {
  const flow = await tables.flow('one', { key: atOnce(1) })
  const [job] = await tables.hold(flow.flow, 1)
  await tables.rounds(tables.client).tick()
  await tables.claim(flow.lane)
  await tables.hold(flow.flow, 1)
  return { ...flow, job: job as number }
}

async function freedMeanwhile(tables: HallTables): Promise<void> {
  const { flow, lane, job } = await full(tables)
  await tables
    .rounds(
      tables.client,
      once(() => tables.free([job])),
    )
    .look({ flows: [flow] })
  await tables.rounds(await tables.another()).tick()
  expect(await tables.standing(lane)).toHaveLength(1)
}

async function sweptMeanwhile(tables: HallTables): Promise<void> {
  const { flow, lane, job } = await full(tables)
  const other = await tables.another()
  const freed = async () => {
    await tables.free([job])
    await other.query(statements.flowSweep, [100])
  }
  await tables.rounds(tables.client, once(freed)).look({ flows: [flow] })
  await tables.rounds(other).tick()
  expect(await tables.standing(lane)).toHaveLength(1)
}

async function freedUnseen(tables: HallTables): Promise<void> {
  const { flow, lane, job } = await full(tables)
  const freed = once(() => tables.free([job]))
  await tables.rounds(tables.client, freed).look({ flows: [flow] })
  expect(await tables.standing(lane)).toHaveLength(1)
}

async function lookedAtMeanwhile(tables: HallTables): Promise<void> {
  const { flow, keys, lane, job } = await full(tables)
  const other = tables.rounds(await tables.another())
  const freed = async () => {
    await tables.free([job])
    // Who looks at the key alone finds nobody there: the job has arrived, and its flow waits nowhere yet.
    await other.look({ keys })
  }
  await tables.rounds(tables.client, once(freed)).look({ flows: [flow] })
  await other.tick()
  expect(await tables.standing(lane)).toHaveLength(1)
}

async function lockedRow(tables: HallTables): Promise<void> {
  const { flow, lane } = await tables.flow('one', { key: atOnce(1) })
  const [job] = await tables.hold(flow, 1)
  const stranger = await tables.another()
  await stranger.query('begin')
  await stranger.query('select from pawl.ready where id = $1 for update', [job])
  await tables.rounds(tables.client).tick()
  expect(await tables.standing(lane)).toHaveLength(0)
  await stranger.query('rollback')
  await tables.rounds(tables.client).tick()
  expect(await tables.standing(lane)).toHaveLength(1)
}

async function othersGoOn(tables: HallTables): Promise<void> {
  const one = await tables.flow('one', { key: atOnce(2) })
  const two = await tables.flow('two', { key: atOnce(2) })
  const [job] = await tables.hold(one.flow, 1)
  await tables.hold(two.flow, 1)
  const stranger = await tables.another()
  await stranger.query('begin')
  await stranger.query('select from pawl.ready where id = $1 for update', [job])
  await tables.rounds(tables.client).tick()
  expect(await tables.standing(two.lane)).toHaveLength(1)
  await stranger.query('rollback')
}

async function freedAndDied(tables: HallTables): Promise<void> {
  const { lane, job } = await full(tables)
  await tables.rounds(tables.client).tick()
  const dying = await tables.another()
  await tables.free([job], dying)
  await tables.rounds(tables.client).tick()
  expect(await tables.standing(lane)).toHaveLength(1)
}

async function claimedMeanwhile(tables: HallTables): Promise<void> {
  const { flow, keys, lane } = await tables.flow('one', { key: atOnce(2) })
  await tables.hold(flow, 2)
  await tables.rounds(tables.client).tick()
  await tables.set('key', atOnce(1))
  await tables
    .rounds(
      tables.client,
      once(() => tables.claim(lane, 2)),
    )
    .tick()
  expect(await tables.slots(keys[0] as number)).toBe(2)
}

async function pausedMeanwhile(tables: HallTables): Promise<void> {
  const { flow, lane } = await tables.flow('one', { key: atOnce(1) })
  await tables.hold(flow, 1)
  const pause = () => tables.client.query(`update pawl.queue set paused = true where name = 'one'`)
  await tables.rounds(tables.client, once(pause)).tick()
  expect(await tables.standing(lane)).toHaveLength(0)
}
