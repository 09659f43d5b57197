import { createHash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Connect, connectWithPg } from '../../../src/store/postgres/connection/client.ts'
import { Connection } from '../../../src/store/postgres/connection/connection.ts'
import { Places } from '../../../src/store/postgres/connection/places.ts'
import { Route } from '../../../src/store/postgres/connection/route.ts'
import { targetOf } from '../../../src/store/postgres/connection/target.ts'
import { realClock } from '../../../src/system/clock.ts'
import { silentLog } from '../../../src/system/log.ts'
import { realRandom } from '../../../src/system/random.ts'
import { realTimers } from '../../../src/system/timers.ts'
import { type Pooler, startPgbouncer } from '../../support/pgbouncer.ts'
import { describePooled } from '../../support/pooled.ts'
import { type FreshDatabase, freshDatabase } from '../../support/postgres.ts'
import { scaled } from '../../support/scale.ts'
import { range, seeded } from './flow.ts'

vi.setConfig({ testTimeout: scaled(120_000, 3_600_000) })

let database: FreshDatabase
let pooler: Pooler

const CONNECTIONS = 8
const AT_ONCE = 20
const TURNS = 20

const connectionTo = (url: string, connect: Connect = connectWithPg) => {
  const system = { clock: realClock, timers: realTimers, random: realRandom, log: silentLog }
  const patience = { answerWithinMs: 5_000, retryForMs: 30_000 }
  const route = new Route({ ...system, ...patience, connect, target: targetOf(url) })
  const places = new Places({ ...system, most: 1, idle: 1, idleMs: 60_000 })
  return new Connection({ ...system, route, places, role: { name: 'test', pipeline: true, workMs: 60_000 } })
}

describePooled('through a transaction pooler with fewer backends than connections', () => {
  beforeAll(async () => {
    database = await freshDatabase()
    pooler = await startPgbouncer(database.url, { size: 2 })
  })

  afterAll(async () => {
    await pooler.stop()
    await database.drop()
  })

  it('every call gets its own answer, whatever fails around it', async () => {
    const random = seeded(759)
    const connections = range(0, CONNECTIONS).map(() => connectionTo(pooler.url))
    const wrong: string[] = []
    let n = 0
    const ask = async (connection: Connection) => {
      const call = CALLS[Math.floor(random() * CALLS.length)] as (typeof CALLS)[number]
      const { text, value, told } = call(n++)
      // At odd moments, so that some meet the answer of those before them half way.
      for (let turns = Math.floor(random() * TURNS); turns > 0; turns -= 1) await turn()
      const answer = await connection.run(text, () => [value]).then(([row]) => String(row?.[0]), codeOf)
      if (answer !== told) wrong.push(`${text}: ${answer} instead of ${told}`)
    }
    try {
      for (let round = 0; round < scaled(50, 2_000); round += 1) {
        await Promise.all(connections.flatMap((each) => range(0, AT_ONCE).map(() => ask(each))))
      }
    } finally {
      await Promise.all(connections.map((each) => each.close()))
    }
    expect(wrong).toEqual([])
  })

  it('one statement is under way at a time; without a pooler as many as come', async () => {
    for (const [url, most] of [
      [pooler.url, 1],
      [database.url, AT_ONCE],
    ] as const) {
      let [underWay, seen] = [0, 0]
      const counting: Connect = (config) => {
        const client = connectWithPg(config)
        return {
          ...client,
          async query(question) {
            seen = Math.max(seen, ++underWay)
            return client.query(question).finally(() => underWay--)
          },
        }
      }
      const connection = connectionTo(url, counting)
      const answers = await Promise.all(range(0, AT_ONCE).map((n) => connection.run('select $1::int', () => [n])))
      await connection.close()
      expect(answers.map(([row]) => row?.[0])).toEqual(range(0, AT_ONCE))
      expect(seen).toBe(most)
    }
  })
})

const codeOf = (error: { readonly code?: string; readonly message: string }) => error.code ?? error.message

/**
 * Each answers with what only it was told, or fails in a way of its own. Long ones arrive in pieces, between which a
 * pooler may take the backend away; bytes are no text, should they arrive where text is expected.
 */
const CALLS = [
  (n: number) => ({ text: 'select $1::text', value: `word ${n}`, told: `word ${n}` }),
  (n: number) => ({ text: 'select $1::int8 + 1', value: n, told: `${n + 1}` }),
  (n: number) => ({ text: 'select md5($1::text)', value: words(n), told: md5(words(n)) }),
  (n: number) => ({ text: 'select md5($1::bytea)', value: bytes(n), told: md5(bytes(n)) }),
  () => ({ text: 'select 1 / $1::int', value: 0, told: '22012' }),
  () => ({ text: 'select $1::int', value: 'one', told: '22P02' }),
  (n: number) => ({ text: 'select $1::text || now()', value: `${n}\u0000`, told: '22021' }),
]

const words = (n: number) => `${n} `.repeat(n % 5_000)
const bytes = (n: number) => Buffer.alloc(n % 40_000)
const md5 = (what: string | Buffer) => createHash('md5').update(what).digest('hex')
