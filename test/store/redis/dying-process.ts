/**
 * A process that dies in the middle of something: `node dying-process.ts <redis> <ledger> <ack> <where> <what>`. Once it is spoken to it
 * brings a job, or claims one, and says so when it is told; where it is to stop it stops for good, says that, and waits to be killed.
 */
import { EVERY_PRIORITY } from '../../../src/core/job.ts'
import { openStoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import type { Ledger } from '../../../src/store/ledger/ledger-port.ts'
import { openPostgresLedger } from '../../../src/store/postgres/ledger/postgres-ledger.ts'
import { openRedisStore } from '../../../src/store/redis/redis.ts'
import { ledgerWith } from './ledger-with.ts'
import { TENANT } from './told.ts'

const say = (what: string): void => void process.stdout.write(`${what}\n`)

function stopping(ledger: Ledger, where: string, isBegun: () => boolean): Ledger {
  const here = (place: string): Promise<void> => {
    if (place !== where || !isBegun()) return Promise.resolve()
    say('there')
    return new Promise(() => {})
  }
  return ledgerWith(ledger, {
    async append(append) {
      await here('append')
      const moved = await ledger.append(append)
      await here('shipped')
      return moved
    },
    async fence(epoch) {
      await here('fence')
      const moved = await ledger.fence(epoch)
      await here('fenced')
      return moved
    },
    async imageAfter(cursor) {
      await here('load')
      return ledger.imageAfter(cursor)
    },
    async fold(step) {
      await here('fold')
      return ledger.fold(step)
    },
  })
}

const [redis = '', behind = '', ack, where = '', what] = process.argv.slice(2)
let isBegun = false
const ledger = stopping(await openPostgresLedger({ url: behind }), where, () => isBegun)
const store = await openRedisStore({ url: redis, ledger, ack: ack === 'redis' ? ack : 'ledger' })
const fixture = await openStoreFixture({ store, advance: async () => {}, close: async () => {} }, {})
const lanes = EVERY_PRIORITY.map((priority) => ({ tenant: TENANT, queue: 'main', priority }))
const draft = fixture.draft({ tenant: TENANT, input: '1' })
say(draft.job.id)
process.stdin.once('data', async () => {
  isBegun = true
  if (what === 'insert') await store.insert([draft])
  else await store.claim(fixture.grant({ lanes, limit: 1 }))
  say('told')
})
