/** Turns: who only looks does not insist on one. */
import { expect, it } from 'vitest'
import type { Server } from '../../../src/store/redis/connection/backing.ts'
import { ServerLog } from '../../../src/store/redis/ledger/server-log.ts'
import { Shipping } from '../../../src/store/redis/ledger/shipping.ts'
import { noMeter } from '../../../src/system/meter.ts'
import { VirtualTime } from '../../../src/testing/virtual-time.ts'
import { noLedger } from './no-ledger.ts'

const SECOND = 1_000

function besideAnother() {
  const time = new VirtualTime(0)
  const said: (readonly string[])[] = []
  const send: Server['send'] = async (words) => {
    said.push(words)
    // Another has the turn.
    return null
  }
  const server: Server = {
    process: 'p',
    meta: '{pawl:0}:meta',
    send,
    run: () => Promise.reject(new Error('no script')),
  }
  const shipping = new Shipping({
    server,
    log: new ServerLog(server),
    ledger: noLedger,
    joiner: { join: async () => 1 },
    heard: () => {},
    clock: time,
    timers: time,
    retryForMs: 30 * SECOND,
    meter: noMeter,
  })
  return { time, said, shipping }
}

it('a look asks for the turn once, and leaves the rest to who has it', async () => {
  const { time, said, shipping } = besideAnother()
  for (let n = 0; n < 3; n += 1) {
    shipping.look()
    await time.advance(SECOND)
  }
  expect(said.map(([word]) => word)).toEqual(['SET', 'SET', 'SET'])
  expect(time.pending).toBe(0)
})

it('what this process has written itself is insisted on', async () => {
  const { time, said, shipping } = besideAnother()
  shipping.start()
  await time.advance(SECOND)
  expect(said.length).toBeGreaterThan(10)
  const closed = shipping.close()
  await time.advance(SECOND)
  await closed
})
