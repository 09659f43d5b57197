import { expect, it, vi } from 'vitest'
import { startReplicated } from '../support/replication.ts'
import { scaled } from '../support/scale.ts'
import { Stream } from './stream.ts'

vi.setConfig({ testTimeout: scaled(240_000, 7_200_000) })

const CYCLES = scaled(1, 25)
const GOES_ON_WITHIN_MS = 60_000

it.each(['kill', 'freeze'] as const)(
  'a primary that is lost (%s) and a standby that takes its place cost time, and nothing that was acknowledged',
  async (how) => {
    await using servers = await startReplicated()
    await using stream = await Stream.open(servers.url)
    await stream.flows(GOES_ON_WITHIN_MS)
    for (let cycle = 0; cycle < CYCLES; cycle += 1) {
      await servers.failover(how)
      await stream.flows(GOES_ON_WITHIN_MS)
      await servers.rejoin()
      await stream.flows(GOES_ON_WITHIN_MS)
    }
    const { acknowledged } = await stream.done(GOES_ON_WITHIN_MS)
    expect(acknowledged).toBeGreaterThan(40 * CYCLES)
  },
)
