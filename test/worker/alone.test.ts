/** Jobs whose last attempt ended without a word, where no process of its own is to be had: each runs alone. */
import { describe, expect, it } from 'vitest'
import type { JobDefinition } from '../../src/worker/definition.ts'
import { definition, openStage, type Stage } from './stage.ts'

const retry = { base: 1_000, factor: 1, max: 1_000, jitter: 'none' } as const

/** Claimed by a worker that is never heard of again. */
async function lost(stage: Stage, job: JobDefinition, count: number): Promise<readonly string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n += 1) ids.push(await stage.enqueue(job))
  const lanes = [{ tenant: job.tenant ?? 'default', queue: job.queue, priority: 5 }]
  await stage.engine.claim({ requestId: `lost/${ids[0]}`, workerId: 'gone', lanes, limit: count })
  await stage.time.advance(3_000)
  return ids
}

/** One of them, which may be claimed only later. */
async function lostUntil(stage: Stage, job: JobDefinition, delayMs: number): Promise<string> {
  const [id = ''] = await lost(stage, job, 1)
  await stage.settle(id, { type: 'reschedule', runAt: stage.time.now() + delayMs })
  return id
}

/** What ran, and beside how many others. */
function watched(stage: Stage, ms = 500) {
  const company = new Map<string, number>()
  const now = new Set<string>()
  const run = async (_: never, ctx: { readonly job: { readonly id: string } }) => {
    const { id } = ctx.job
    now.add(id)
    for (const each of now) company.set(each, Math.max(company.get(each) ?? 0, now.size - 1))
    await stage.time.sleep(ms)
    now.delete(id)
  }
  return { company, now, run }
}

describe('a job that must run alone', () => {
  it('does, one after the other, and then there is company again', async () => {
    await using stage = openStage()
    const { company, run } = watched(stage)
    const job = definition(run, { retry })
    const suspects = await lost(stage, job, 6)
    const others: string[] = []
    for (let n = 0; n < 6; n += 1) others.push(await stage.enqueue(job))
    stage.work([job])
    await stage.time.advance(20_000)
    for (const id of [...suspects, ...others]) expect((await stage.load(id)).state).toBe('succeeded')
    for (const id of suspects) expect(company.get(id)).toBe(0)
    expect(Math.max(...others.map((id) => company.get(id) ?? 0))).toBeGreaterThan(0)
  })

  it('waits until everything else has ended and is written, and nothing else begins meanwhile', async () => {
    await using stage = openStage()
    const { company, now, run } = watched(stage, 5_000)
    const long = definition(run, { retry }, { type: 'long' })
    const suspicious = definition(run, { retry }, { type: 'suspicious' })
    const suspect = await lostUntil(stage, suspicious, 1_000)
    const running = [await stage.enqueue(long), await stage.enqueue(long)]
    const { worker } = stage.work([long, suspicious])
    await stage.time.advance(2_500)
    const late = await stage.enqueue(long)
    await stage.time.advance(500)
    expect([...now].sort()).toEqual([...running].sort())
    expect((await stage.load(suspect)).state).toBe('claimed')
    await stage.time.advance(3_500)
    expect([...now]).toEqual([suspect])
    expect(worker.running).toBe(1)
    for (const id of running) expect((await stage.load(id)).state).toBe('succeeded')
    expect((await stage.load(late)).state).toBe('queued')
    await stage.time.advance(12_000)
    expect((await stage.load(late)).state).toBe('succeeded')
    expect(company.get(suspect)).toBe(0)
  })

  it('is not hoarded with others of its kind: many are asked for one by one', async () => {
    await using stage = openStage()
    const { company, run } = watched(stage, 10)
    const job = definition(run, { retry })
    const suspects = await lost(stage, job, 60)
    stage.work([job])
    await stage.time.advance(20_000)
    let claims = 0
    for (const id of suspects) {
      const record = await stage.load(id)
      expect(record.state).toBe('succeeded')
      expect(company.get(id)).toBe(0)
      claims += record.attempt
    }
    // One that was lost and one that was not, each; and those of the first claim that came together.
    expect(claims).toBeLessThanOrEqual(60 * 2 + 20)
  })

  it('is alone among all workers of its process, and of two that must be, one is the first', async () => {
    await using stage = openStage()
    const { company, run } = watched(stage)
    const first = definition(run, { retry }, { type: 'first', queue: 'first' })
    const second = definition(run, { retry }, { type: 'second', queue: 'second' })
    const suspects = [...(await lost(stage, first, 2)), ...(await lost(stage, second, 2))]
    const { crew } = stage
    stage.work([first], { crew })
    stage.work([second], { crew })
    const others = [await stage.enqueue(first), await stage.enqueue(second)]
    await stage.time.advance(20_000)
    for (const id of [...suspects, ...others]) expect((await stage.load(id)).state).toBe('succeeded')
    for (const id of suspects) expect(company.get(id)).toBe(0)
  })

  it('that crashes again and again takes nobody along, and ends by it', async () => {
    await using stage = openStage()
    const { run } = watched(stage, 300)
    const good = definition(run, { retry }, { type: 'good' })
    let current: ReturnType<Stage['work']> | undefined
    let runs = 0
    const bad = definition(
      () => {
        runs += 1
        current?.mortal.kill()
        return new Promise(() => {})
      },
      { retry: { ...retry, stalls: 2 } },
      { type: 'bad' },
    )
    const poison = await stage.enqueue(bad)
    const neighbours: string[] = []
    for (let n = 0; n < 5; n += 1) neighbours.push(await stage.enqueue(good))
    for (let n = 0; n < 5; n += 1) {
      current = stage.work([bad, good])
      await stage.time.advance(8_000)
    }
    expect(runs).toBe(3)
    expect(await stage.load(poison)).toMatchObject({ state: 'dead_lettered', stalls: 3, error: { code: 'E_CRASH' } })
    for (const id of neighbours) expect(await stage.load(id)).toMatchObject({ state: 'succeeded', stalls: 1 })
  })

  it('goes back when its worker stops before its turn has come', async () => {
    await using stage = openStage()
    const long = definition(() => stage.time.sleep(60_000), { retry }, { type: 'long' })
    const suspicious = definition(() => 1, { retry }, { type: 'suspicious' })
    const suspect = await lostUntil(stage, suspicious, 1_000)
    await stage.enqueue(long)
    const { worker } = stage.work([long, suspicious], { drain: 1_000 })
    await stage.time.advance(3_000)
    expect((await stage.load(suspect)).state).toBe('claimed')
    const stopped = worker.stop()
    await stage.time.advance(5_000)
    await stopped
    expect(await stage.load(suspect)).toMatchObject({ state: 'queued', attempt: 2, stalls: 1 })
    stage.work([suspicious])
    await stage.time.advance(2_000)
    expect((await stage.load(suspect)).state).toBe('succeeded')
  })
})
