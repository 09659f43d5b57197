/** Jobs whose last attempt ended without a word, where no process of its own is to be had: each runs alone. */
import { describe, expect, it } from 'vitest'
import type { JobDefinition } from '../../src/worker/definition.ts'
import { definition, openWorkerFixture, type WorkerFixture } from './worker-fixture.ts'

const retry = { base: 1_000, factor: 1, max: 1_000, jitter: 'none' } as const

/** Claimed by a worker that is never heard of again. */
async function lost(fixture: WorkerFixture, job: JobDefinition, count: number): Promise<readonly string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n += 1) ids.push(await fixture.enqueue(job))
  const lanes = [{ tenant: job.tenant ?? 'default', queue: job.queue, priority: 5 }]
  await fixture.engine.claim({ requestId: `lost/${ids[0]}`, workerId: 'gone', lanes, limit: count })
  await fixture.time.advance(3_000)
  return ids
}

/** One of them, which may be claimed only later. */
async function lostUntil(fixture: WorkerFixture, job: JobDefinition, delayMs: number): Promise<string> {
  const [id = ''] = await lost(fixture, job, 1)
  await fixture.settle(id, { type: 'reschedule', runAt: fixture.time.now() + delayMs })
  return id
}

/** What ran, and beside how many others. */
function watched(fixture: WorkerFixture, ms = 500) {
  const company = new Map<string, number>()
  const now = new Set<string>()
  const run = async (_: never, ctx: { readonly job: { readonly id: string } }) => {
    const { id } = ctx.job
    now.add(id)
    for (const each of now) company.set(each, Math.max(company.get(each) ?? 0, now.size - 1))
    await fixture.time.sleep(ms)
    now.delete(id)
  }
  return { company, now, run }
}

describe('a job that must run alone', () => {
  it('does, one after the other, and then there is company again', async () => {
    await using fixture = openWorkerFixture()
    const { company, run } = watched(fixture)
    const job = definition(run, { retry })
    const suspects = await lost(fixture, job, 6)
    const others: string[] = []
    for (let n = 0; n < 6; n += 1) others.push(await fixture.enqueue(job))
    fixture.work([job])
    await fixture.time.advance(20_000)
    for (const id of [...suspects, ...others]) expect((await fixture.load(id)).state).toBe('succeeded')
    for (const id of suspects) expect(company.get(id)).toBe(0)
    expect(Math.max(...others.map((id) => company.get(id) ?? 0))).toBeGreaterThan(0)
  })

  it('waits until everything else has ended and is written, and nothing else begins meanwhile', async () => {
    await using fixture = openWorkerFixture()
    const { company, now, run } = watched(fixture, 5_000)
    const long = definition(run, { retry }, { type: 'long' })
    const suspicious = definition(run, { retry }, { type: 'suspicious' })
    const suspect = await lostUntil(fixture, suspicious, 1_000)
    const running = [await fixture.enqueue(long), await fixture.enqueue(long)]
    const { worker } = fixture.work([long, suspicious])
    await fixture.time.advance(2_500)
    const late = await fixture.enqueue(long)
    await fixture.time.advance(500)
    expect([...now].sort()).toEqual([...running].sort())
    expect((await fixture.load(suspect)).state).toBe('claimed')
    await fixture.time.advance(3_500)
    expect([...now]).toEqual([suspect])
    expect(worker.running).toBe(1)
    for (const id of running) expect((await fixture.load(id)).state).toBe('succeeded')
    expect((await fixture.load(late)).state).toBe('queued')
    await fixture.time.advance(12_000)
    expect((await fixture.load(late)).state).toBe('succeeded')
    expect(company.get(suspect)).toBe(0)
  })

  it('is not hoarded with others of its kind: many are asked for one by one', async () => {
    await using fixture = openWorkerFixture()
    const { company, run } = watched(fixture, 10)
    const job = definition(run, { retry })
    const suspects = await lost(fixture, job, 60)
    fixture.work([job])
    await fixture.time.advance(20_000)
    let claims = 0
    for (const id of suspects) {
      const record = await fixture.load(id)
      expect(record.state).toBe('succeeded')
      expect(company.get(id)).toBe(0)
      claims += record.attempt
    }
    // One that was lost and one that was not, each; and those of the first claim that came together.
    expect(claims).toBeLessThanOrEqual(60 * 2 + 20)
  })

  it('is alone among all workers of its process, and of two that must be, one is the first', async () => {
    await using fixture = openWorkerFixture()
    const { company, run } = watched(fixture)
    const first = definition(run, { retry }, { type: 'first', queue: 'first' })
    const second = definition(run, { retry }, { type: 'second', queue: 'second' })
    const suspects = [...(await lost(fixture, first, 2)), ...(await lost(fixture, second, 2))]
    const { crew } = fixture
    fixture.work([first], { crew })
    fixture.work([second], { crew })
    const others = [await fixture.enqueue(first), await fixture.enqueue(second)]
    await fixture.time.advance(20_000)
    for (const id of [...suspects, ...others]) expect((await fixture.load(id)).state).toBe('succeeded')
    for (const id of suspects) expect(company.get(id)).toBe(0)
  })

  it('that crashes again and again takes nobody along, and ends by it', async () => {
    await using fixture = openWorkerFixture()
    const { run } = watched(fixture, 300)
    const good = definition(run, { retry }, { type: 'good' })
    let current: ReturnType<WorkerFixture['work']> | undefined
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
    const poison = await fixture.enqueue(bad)
    const neighbours: string[] = []
    for (let n = 0; n < 5; n += 1) neighbours.push(await fixture.enqueue(good))
    for (let n = 0; n < 5; n += 1) {
      current = fixture.work([bad, good])
      await fixture.time.advance(8_000)
    }
    expect(runs).toBe(3)
    expect(await fixture.load(poison)).toMatchObject({ state: 'dead_lettered', stalls: 3, error: { code: 'E_CRASH' } })
    for (const id of neighbours) expect(await fixture.load(id)).toMatchObject({ state: 'succeeded', stalls: 1 })
  })

  it('goes back when its worker stops before its turn has come', async () => {
    await using fixture = openWorkerFixture()
    const long = definition(() => fixture.time.sleep(60_000), { retry }, { type: 'long' })
    const suspicious = definition(() => 1, { retry }, { type: 'suspicious' })
    const suspect = await lostUntil(fixture, suspicious, 1_000)
    await fixture.enqueue(long)
    const { worker } = fixture.work([long, suspicious], { drain: 1_000 })
    await fixture.time.advance(3_000)
    expect((await fixture.load(suspect)).state).toBe('claimed')
    const stopped = worker.stop()
    await fixture.time.advance(5_000)
    await stopped
    expect(await fixture.load(suspect)).toMatchObject({ state: 'queued', attempt: 2, stalls: 1 })
    fixture.work([suspicious])
    await fixture.time.advance(2_000)
    expect((await fixture.load(suspect)).state).toBe('succeeded')
  })
})
