/** What is asked of NATS when a bus opens, while NATS is busy: it is asked again, and who never answers is named. */
import { expect, it } from 'vitest'
import { openLink } from '../../src/bus/link.ts'
import { silentLog } from '../../src/system/log.ts'
import { describeOnNats, startNats } from '../support/nats.ts'
import { type MessageFate, startNatsRelay } from '../support/nats-relay.ts'

/** Questions to JetStream are lost until so many were. */
const losing = (most: number) => {
  let lost = 0
  return (subject: string): MessageFate => {
    if (!subject.startsWith('$JS.API.') || lost >= most) return 'pass'
    lost += 1
    return 'drop'
  }
}

describeOnNats('a link to NATS', () => {
  it('asks again what was not answered', { timeout: 60_000 }, async () => {
    await using nats = await startNats()
    await using relay = await startNatsRelay(nats.url)
    relay.decide(losing(1))
    await using link = await openLink(relay.url, silentLog)
    expect(relay.counts.drop).toBe(1)
    relay.decide(losing(2))
    await link.demand('a stream', async (manager) => {
      await manager.streams.add({ name: 'asked', subjects: ['asked.>'] })
    })
    expect(relay.counts.drop).toBe(3)
    expect((await link.manager.streams.info('asked')).config.name).toBe('asked')
  })

  it('is not made to one that never answers, and that one is named', { timeout: 60_000 }, async () => {
    await using nats = await startNats()
    await using relay = await startNatsRelay(nats.url)
    relay.decide(losing(Infinity))
    await expect(openLink(relay.url, silentLog)).rejects.toThrow(
      `pawl: the NATS at ${relay.url} is there and does not answer: 5 times 2000 ms were waited. Look at its log, its load and its disk.`,
    )
  })
})
