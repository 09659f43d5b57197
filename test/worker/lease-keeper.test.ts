/** The keeper of leases, round by round, beside an event loop that turns or stands still as the test says. */
import { describe, expect, it } from 'vitest'
import { idText } from '../../src/core/id.ts'
import type { HeartbeatRequest } from '../../src/engine/engine.ts'
import { LeaseKeeper } from '../../src/worker/lease-keeper.ts'
import { type LeaseRow, LeaseTable } from '../../src/worker/lease-table.ts'

const MINUTE = 60_000

function leaseKeeperFixture(onBlocked: 'keep' | 'lose') {
  let nowMs = 1_000_000
  const table = new LeaseTable(new SharedArrayBuffer(LeaseTable.bytes(10)))
  table.scanEveryMs = 1_000
  const beaten: string[] = []
  const lines: Record<string, unknown>[] = []
  const keeper = new LeaseKeeper({
    table,
    onBlocked,
    nowMs: () => nowMs,
    tell: () => {},
    log: { info: () => {}, warn: () => {}, error: (message, fields) => void lines.push({ message, ...fields }) },
    engine: {
      heartbeat: async (beats: readonly HeartbeatRequest[]) => {
        beaten.push(...beats.map(({ id }) => id))
        return beats.map(() => ({ ok: true, rev: 1, leaseExpiresAt: 0, cancel: undefined }) as const)
      },
    },
  })
  return {
    table,
    lines,
    hold(number: number, limitMs: number): LeaseRow {
      const lease = { windowMs: 30_000, beatEveryMs: 10_000, expiresMs: nowMs + 30_000, limitMs }
      const row = { ...lease, id: idText(number), generation: 0, attempt: 1, fence: `0.1.${'0'.repeat(16)}` }
      table.add(row)
      return row
    },
    /** Time passes round by round; answers with what was renewed meanwhile. */
    async pass(ms: number, loop: 'turns' | 'stands still'): Promise<ReadonlySet<string>> {
      beaten.length = 0
      for (const untilMs = nowMs + ms; nowMs < untilMs; nowMs += 1_000) {
        if (loop === 'turns') table.pulse()
        await keeper.runOnce()
      }
      return new Set(beaten)
    },
    suspend: (ms: number) => void (nowMs += ms),
  }
}

describe('while the event loop stands still', () => {
  it('each lease is kept for as long as its attempt may take, and no longer', async () => {
    const { hold, pass, lines } = leaseKeeperFixture('keep')
    const [short, long] = [hold(1, 5 * MINUTE), hold(2, 60 * MINUTE)]
    expect(await pass(10 * MINUTE, 'turns')).toEqual(new Set([short.id, long.id]))
    expect(await pass(4 * MINUTE, 'stands still')).toEqual(new Set([short.id, long.id]))
    expect(lines).toEqual([])
    await pass(MINUTE + 20_000, 'stands still')
    expect(await pass(10 * MINUTE, 'stands still')).toEqual(new Set([long.id]))
    expect(lines).toMatchObject([
      { message: 'the event loop stands still: leases are not renewed any more', jobs: 1, job_ids: short.id },
    ])
    expect(Number(lines[0]?.['still_ms'])).toBeGreaterThan(5 * MINUTE)
    await pass(50 * MINUTE, 'stands still')
    expect(await pass(MINUTE, 'stands still')).toEqual(new Set())
    expect(lines).toMatchObject([{ job_ids: short.id }, { job_ids: long.id }])
  })

  it('none is, where that is wished', async () => {
    const { hold, pass } = leaseKeeperFixture('lose')
    const { id } = hold(1, 5 * MINUTE)
    expect(await pass(MINUTE, 'turns')).toEqual(new Set([id]))
    await pass(20_000, 'stands still')
    expect(await pass(MINUTE, 'stands still')).toEqual(new Set())
  })

  it('it may turn again: what is left of a lease is renewed', async () => {
    const { hold, pass, lines } = leaseKeeperFixture('keep')
    const { id } = hold(1, 2 * MINUTE)
    await pass(2 * MINUTE + 20_000, 'stands still')
    expect(lines).toHaveLength(1)
    expect(await pass(20_000, 'turns')).toEqual(new Set([id]))
    expect(await pass(MINUTE, 'stands still')).toEqual(new Set([id]))
    await pass(2 * MINUTE, 'stands still')
    expect(lines).toHaveLength(2)
  })
})

describe('no event loop stands still', () => {
  it('because it had nothing to do before the lease came', async () => {
    const { hold, pass, lines } = leaseKeeperFixture('keep')
    await pass(60 * MINUTE, 'stands still')
    const { id } = hold(1, 5 * MINUTE)
    expect(await pass(MINUTE, 'stands still')).toEqual(new Set([id]))
    expect(lines).toEqual([])
  })

  it('because the whole process was suspended', async () => {
    const { hold, pass, suspend, lines } = leaseKeeperFixture('keep')
    const { id } = hold(1, 5 * MINUTE)
    await pass(MINUTE, 'turns')
    suspend(60 * MINUTE)
    expect(await pass(1_000, 'stands still')).toEqual(new Set([id]))
    expect(lines).toEqual([])
  })
})
