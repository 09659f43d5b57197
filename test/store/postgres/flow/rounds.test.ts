/** Rounds of letting in on a real server: who is let in, by one process and by two at once. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PATIENCE_MS } from '../../../../src/core/flow/hall.ts'
import { atOnce, HallTables, OPEN } from './hall-tables.ts'

let tables: HallTables

beforeAll(async () => {
  tables = await HallTables.open()
})

afterAll(async () => {
  await tables.close()
  expect(tables.failures).toEqual([])
})

describe('one process', () => {
  it('lets in as many as there are slots, first come first, and waits at the key', async () => {
    const { flow, keys, lane } = await tables.flow('one', { one: atOnce(2) })
    const jobs = await tables.hold(flow, 5)
    const rounds = tables.rounds(tables.client)
    await rounds.look({ flows: [flow] })
    expect(await tables.standing(lane)).toHaveLength(2)
    expect(await tables.waiting(flow)).toEqual({ waitsAt: `key ${keys[0]}`, nextAt: null })
    expect(await tables.claim(lane, 5)).toEqual(jobs.slice(0, 2))
    await tables.free(jobs.slice(0, 1))
    await rounds.look({ keys })
    expect(await tables.slots(keys[0] as number)).toBe(2)
    expect(await tables.claim(lane, 5)).toEqual(jobs.slice(2, 3))
  })

  it('gives slots of all keys or of none, and a full one holds up nobody who does not name it', async () => {
    const both = await tables.flow('two', { 'two a': atOnce(5), 'two b': atOnce(1) })
    const alone = await tables.flow('two', { 'two a': atOnce(5) })
    const rounds = tables.rounds(tables.client)
    await tables.hold(both.flow, 3)
    await rounds.tick()
    for (const key of both.keys) expect(await tables.slots(key)).toBe(1)
    await tables.hold(alone.flow, 3)
    await rounds.tick()
    const [a = 0, b = 0] = both.keys
    expect([await tables.slots(a), await tables.slots(b)]).toEqual([4, 1])
    expect((await tables.waiting(both.flow)).waitsAt).toBe(`key ${both.keys[1]}`)
  })

  it('counts claims of a rate for a window, also of jobs that have ended', async () => {
    const { flow, keys, lane } = await tables.flow('rate', { rate: { ...OPEN, rate: 2, rateMs: 3_600_000 } })
    const [first] = await tables.hold(flow, 3)
    const rounds = tables.rounds(tables.client)
    await rounds.tick()
    expect(await tables.claim(lane, 3)).toHaveLength(2)
    await tables.free([first as number])
    await rounds.look({ keys })
    expect(await tables.standing(lane)).toEqual([])
    expect((await tables.waiting(flow)).waitsAt).toBe(`key ${keys[0]}`)
    await tables.client.query('update pawl.pace set claimed = claimed - 3600000')
    await tables.client.query('update pawl.flow_key set wake_at = 0 where id = $1', [keys[0]])
    await rounds.tick()
    expect(await tables.standing(lane)).toHaveLength(1)
    const { rows } = await tables.client.query('select from pawl.pace')
    expect(rows).toEqual([])
  })

  it('takes back what stands above a lowered gate, the newest first, and keeps its place', async () => {
    const { flow, keys, lane } = await tables.flow('lower', { lower: atOnce(3) })
    const jobs = await tables.hold(flow, 4)
    const rounds = tables.rounds(tables.client)
    await rounds.tick()
    await tables.set('lower', atOnce(1))
    await rounds.tick()
    expect(await tables.slots(keys[0] as number)).toBe(1)
    expect(await tables.claim(lane, 4)).toEqual(jobs.slice(0, 1))
    await tables.set('lower', atOnce(4))
    await rounds.tick()
    expect(await tables.claim(lane, 4)).toEqual(jobs.slice(1))
  })

  it('lets no more stand in a lane than its window, and more once it has room', async () => {
    const { flow, lane } = await tables.flow('window', {}, { fair: 'customer' })
    await tables.hold(flow, 70)
    const rounds = tables.rounds(tables.client)
    await rounds.tick()
    expect(await tables.standing(lane)).toHaveLength(32)
    expect((await tables.waiting(flow)).waitsAt).toBe(`lane ${lane}`)
    await tables.claim(lane, 10)
    await rounds.look({ lanes: [lane] })
    expect(await tables.standing(lane)).toHaveLength(32)
    await tables.claim(lane, 40)
    await rounds.tick()
    expect(await tables.standing(lane)).toHaveLength(28)
  })

  it('makes room for others where nobody claims what stands', async () => {
    const { flow, keys, lane } = await tables.flow('unserved', { patience: atOnce(1) })
    const other = await tables.flow('served', { patience: atOnce(1) })
    await tables.hold(flow, 1)
    const rounds = tables.rounds(tables.client)
    await rounds.tick()
    await tables.hold(other.flow, 1)
    await rounds.tick()
    expect(await tables.standing(lane)).toHaveLength(1)
    await tables.client.query('update pawl.slot set let_in = let_in - $1 where key = $2', [PATIENCE_MS, keys[0]])
    await rounds.tick()
    expect(await tables.standing(other.lane)).toHaveLength(1)
    expect(await tables.slots(keys[0] as number)).toBe(1)
  })

  it('lets in what came together, in however many flows, and waits for no ticker', async () => {
    const flows = []
    for (let n = 0; n < 150; n += 1)
      flows.push(await tables.flow(`together ${n % 5}`, { [`together ${n}`]: atOnce(1) }))
    for (const { flow } of flows) await tables.hold(flow, 2)
    await tables.rounds(tables.client).look({ flows: flows.map(({ flow }) => flow) })
    const lanes = [...new Set(flows.map(({ lane }) => lane))]
    for (const lane of lanes) expect(await tables.standing(lane)).toHaveLength(30)
  })

  it('lets in all that wait at a key, however many flows they are', async () => {
    const flows = []
    for (let n = 0; n < 80; n += 1)
      flows.push(await tables.flow(`many ${n % 4}`, { many: atOnce(0.5) }, { fair: `f${n}` }))
    for (const { flow } of flows) await tables.hold(flow, 1)
    const rounds = tables.rounds(tables.client)
    await rounds.tick()
    await tables.set('many', atOnce(60))
    await rounds.tick()
    expect(await tables.slots(flows[0]?.keys[0] as number)).toBe(60)
  })
})

describe('a look of the ticker', () => {
  const old = 'update pawl.slot set let_in = 0 where key = $1'

  it('comes to the lane with room, whichever of very many flows wait at full ones', async () => {
    const flows = []
    for (let n = 0; n < 102; n += 1) flows.push(await tables.flow(`full ${n}`, {}, { fair: 'full' }))
    const last = flows.sort((a, b) => (String(a.lane) < String(b.lane) ? -1 : 1)).at(-1) ?? { flow: 0, lane: 0 }
    for (const { flow, lane } of flows) {
      if (flow !== last.flow) await tables.stand(lane, 32)
      await tables.hold(flow, 1)
    }
    await tables.client.query('delete from pawl.arrival')
    await tables.client.query(`update pawl.flow set waits_at = 'lane ' || lane where id = any($1)`, [
      flows.map(({ flow }) => flow),
    ])
    await tables.rounds(tables.client).tick()
    expect(await tables.standing(last.lane)).toHaveLength(1)
  })

  it('comes to who is in the way of others, whoever else has stood for long', async () => {
    const idle = await tables.flow('idle', { idle: atOnce(2_000) })
    await tables.client.query(
      'insert into pawl.slot (key, job, flow, let_in) select $1, 900000 + n, $2, -1 from generate_series(1, 1001) as n',
      [idle.keys[0], idle.flow],
    )
    const { flow, keys, lane } = await tables.flow('in the way', { 'in the way': atOnce(1) })
    const other = await tables.flow('behind', { 'in the way': atOnce(1) })
    const rounds = tables.rounds(tables.client)
    await tables.hold(flow, 2)
    await rounds.tick()
    await tables.hold(other.flow, 1)
    await rounds.tick()
    await tables.client.query(old, [...keys])
    await rounds.tick()
    expect(await tables.standing(lane)).toEqual([])
    expect(await tables.standing(other.lane)).toHaveLength(1)
    await tables.client.query('delete from pawl.slot where key = $1', [...idle.keys])
  })

  it('takes back all that must go, and the oldest where they are in the way, of however many stand at one key', async () => {
    const wide = { wide: atOnce(160) }
    const flows = []
    for (let n = 0; n < 5; n += 1) flows.push(await tables.flow(`wide ${n}`, wide))
    const rounds = tables.rounds(tables.client)
    for (const { flow } of flows) {
      await tables.hold(flow, 32)
      await rounds.look({ flows: [flow] })
    }
    const [first = { flow: 0, lane: 0, keys: [] }] = flows
    const key = first.keys[0] as number
    const other = await tables.flow('narrow', wide)
    await tables.hold(other.flow, 1)
    await rounds.tick()
    expect((await tables.waiting(other.flow)).waitsAt).toBe(`key ${key}`)
    await tables.client.query('update pawl.slot set let_in = 0 where flow = $1', [first.flow])
    await rounds.tick()
    expect(await tables.standing(first.lane)).toEqual([])
    expect(await tables.standing(other.lane)).toHaveLength(1)
    await tables.set('wide', atOnce(1))
    await rounds.tick()
    expect(await tables.slots(key)).toBe(1)
  })

  it('sees all that one flow has brought at once, so that another’s turn comes', async () => {
    const busy = await tables.flow('busy', { busy: atOnce(1) })
    const other = await tables.flow('calm', { calm: atOnce(1) })
    await tables.hold(busy.flow, 1)
    await tables.client.query('insert into pawl.arrival (flow) select $1 from generate_series(1, 3000)', [busy.flow])
    await tables.hold(other.flow, 1)
    await tables.rounds(tables.client).tick()
    expect(await tables.standing(other.lane)).toHaveLength(1)
  })
})
