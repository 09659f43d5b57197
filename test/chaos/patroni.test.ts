import { describe, expect, it, vi } from 'vitest'
import { patroniMissing } from '../support/debian.ts'
import { startPatroni } from '../support/patroni.ts'
import { soaking } from '../support/scale.ts'
import { Stream } from './stream.ts'

vi.setConfig({ testTimeout: 3_600_000 })

const CYCLES = 5
const GOES_ON_WITHIN_MS = 120_000

const missing =
  patroniMissing() ?? (soaking ? undefined : 'a failover takes patroni half a minute: the soak has the time')
if (missing !== undefined) console.log(`patroni is skipped: ${missing}`)

describe.skipIf(missing !== undefined)('servers that patroni looks after', () => {
  it('fail over by themselves, and nothing that was acknowledged is lost', async () => {
    await using servers = await startPatroni()
    await using stream = await Stream.open(servers.url)
    await stream.flows(GOES_ON_WITHIN_MS)
    for (let cycle = 0; cycle < CYCLES; cycle += 1) {
      await servers.failover()
      await stream.flows(GOES_ON_WITHIN_MS)
      await servers.rejoin()
      await stream.flows(GOES_ON_WITHIN_MS)
    }
    const { acknowledged } = await stream.done(GOES_ON_WITHIN_MS)
    expect(acknowledged).toBeGreaterThan(40 * CYCLES)
  })
})
