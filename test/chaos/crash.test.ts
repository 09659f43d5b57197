import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { soaking } from '../support/scale.ts'
import { block, endless, fatal, hold, LEASE_MS, relay } from './jobs.ts'
import { openProcessesFixture, STORES } from './processes.ts'

const runs = (lines: readonly { what: string }[]) => lines.filter(({ what }) => what === 'run').length

describe.each(STORES)('on %s', (store) => {
  it('a worker killed with -9 mid-job: the job is running again within lease + 6 s, once', async () => {
    await using fixture = await openProcessesFixture(store)
    const first = await fixture.start()
    const job = await fixture.pawl.enqueue(hold)
    await first.said({ what: 'run', id: job.id, attempt: 1 })
    const second = await fixture.start()
    first.kill('SIGKILL')
    await second.said({ what: 'run', id: job.id, attempt: 2 }, LEASE_MS + 6_000)
    const record = await eventually('the job to be seen running', async () => {
      const found = await job.job()
      return found?.state === 'running' ? found : undefined
    })
    expect(record).toMatchObject({ attempt: 2, stalls: 1, failures: 0 })
    expect(runs(second.lines)).toBe(1)
  })

  it('a worker stopped past its lease: another finishes, and nothing the zombie says is accepted', async () => {
    await using fixture = await openProcessesFixture(store)
    const zombie = await fixture.start()
    const job = await fixture.pawl.enqueue(relay)
    await zombie.said({ what: 'run', attempt: 1 })
    await eventually('a start', async () => (await job.job())?.state === 'running')
    zombie.kill('SIGSTOP')
    await fixture.start()
    expect(await job.result({ timeout: '20s' })).toBe('attempt 2')
    const before = await job.job()
    const events = await job.events()
    zombie.kill('SIGCONT')
    await zombie.said({ what: 'aborted', reason: 'LeaseConflictError' })
    await zombie.said({ what: 'write', reason: 'LeaseConflictError' })
    expect(await job.job()).toEqual(before)
    expect(await job.events()).toEqual(events)
    expect(before).toMatchObject({ state: 'succeeded', attempt: 2, stalls: 1, checkpoint: undefined })
    expect((await fixture.pawl.verify()).discrepancies).toEqual([])
  })

  it('a handler that kills its process runs maxStalls + 1 times, then is a dead letter', async () => {
    await using fixture = await openProcessesFixture(store)
    const job = await fixture.pawl.enqueue(fatal)
    for (let n = 1; n <= 2; n += 1) {
      const victim = fixture.launch()
      await victim.said({ what: 'run', attempt: n })
      expect((await victim.exit).signal).toBe('SIGKILL')
    }
    const survivor = await fixture.start()
    await expect(job.result({ timeout: '20s' })).rejects.toMatchObject({ name: 'JobDeadLettered' })
    expect((await job.job())?.deadLetter).toMatchObject({ reason: 'infrastructure_failure', attempts: 2 })
    expect(runs(survivor.lines)).toBe(0)
  })

  it('a handler that blocks the event loop for several leases keeps its lease', async () => {
    await using fixture = await openProcessesFixture(store)
    const blocked = await fixture.start()
    const idle = await fixture.start()
    const job = await fixture.pawl.enqueue(block, { ms: 2.5 * LEASE_MS })
    expect(await job.result({ timeout: '20s' })).toBe(1)
    expect(await job.job()).toMatchObject({ attempt: 1, stalls: 0 })
    expect(runs(blocked.lines) + runs(idle.lines)).toBe(1)
  })

  it('a handler that blocks the event loop loses its lease and is fenced, where that is wished', async () => {
    await using fixture = await openProcessesFixture(store)
    const blocked = await fixture.start({ onBlocked: 'lose' })
    const untilFile = join(fixture.folder, 'enough')
    const job = await fixture.pawl.enqueue(block, { ms: 60_000, untilFile })
    await blocked.said({ what: 'run', attempt: 1 })
    const other = await fixture.start()
    await other.said({ what: 'run', attempt: 2 })
    writeFileSync(untilFile, '')
    await blocked.said({ what: 'done', attempt: 1 })
    expect(await job.result({ timeout: '20s' })).toBe(2)
    expect(await job.job()).toMatchObject({ attempt: 2, stalls: 1 })
  })
})

it.each(soaking ? STORES : (['sqlite'] as const))(
  'a handler that blocks the event loop for good keeps neither its own lease nor its neighbours’ for longer than an attempt may take: %s',
  async (store) => {
    await using fixture = await openProcessesFixture(store)
    const stuck = await fixture.start()
    const untilFile = join(fixture.folder, 'enough')
    const [job, neighbour] = [
      await fixture.pawl.enqueue(endless, { ms: 60_000, untilFile }),
      await fixture.pawl.enqueue(endless, { ms: 0 }),
    ]
    await stuck.said({ what: 'run', attempt: 1 })
    const other = await fixture.start()
    for (const { id } of [job, neighbour]) await other.said({ what: 'done', id }, 60_000)
    expect(stuck.complaints()).toMatch(/"level":"error".*the event loop stands still/)
    expect(stuck.complaints()).toContain(job.id)
    writeFileSync(untilFile, '')
    expect(await job.result({ timeout: '20s' })).toBe(2)
    expect(await job.job()).toMatchObject({ attempt: 2, stalls: 1, failures: 0 })
  },
)
