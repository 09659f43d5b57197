/** Connections as the server sees them: so many while there is much to do, so few while there is nothing. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineJob } from '../../../src/library/define-job.ts'
import { open } from '../../../src/open.ts'
import { Places, type Tenant } from '../../../src/store/postgres/connection/places.ts'
import { VirtualTime } from '../../../src/testing/virtual-time.ts'
import { eventually } from '../../support/eventually.ts'
import { migratedDatabase } from '../../support/migrated-postgres.ts'
import type { FreshDatabase } from '../../support/postgres.ts'

describe('a worker on Postgres', () => {
  let database: FreshDatabase
  let admin: pg.Client
  beforeAll(async () => {
    database = await migratedDatabase()
    admin = new pg.Client({ connectionString: database.url })
    await admin.connect()
  })
  afterAll(async () => {
    await admin.end()
    await database.drop()
  })

  const count = async (): Promise<number> => {
    const asked = `select count(*)::int as n from pg_stat_activity where application_name like 'counted%'`
    return (await admin.query<{ n: number }>(asked)).rows[0]?.n ?? 0
  }

  it('holds 8 connections at most while its handlers do all there is to do, and 3 when it waits', async () => {
    const url = new URL(database.url)
    url.searchParams.set('application_name', 'counted')
    await using pawl = await open(url.href, { migrate: true, log: 'silent' })
    const child = defineJob({ type: 'child', run: () => {} })
    let runs = 0
    const busy = defineJob({
      type: 'busy',
      lease: '2s',
      async run(n: number, ctx) {
        runs += 1
        const work = [
          pawl.enqueue(child),
          pawl.enqueue(child, undefined, { dedupeKey: `k${n}` }),
          pawl.find({ limit: 5 }),
        ]
        await Promise.all([...work, ctx.progress({ done: 1 })])
        await pawl.enqueueMany(
          child,
          Array.from({ length: 40 }, () => undefined),
        )
      },
    })
    await using worker = pawl.work([busy, child], { concurrency: 16 })
    let most = 0
    let left = 60
    const feeding = (async () => {
      while (left-- > 0) await pawl.enqueue(busy, left)
    })()
    await eventually(
      'all to have run',
      async () => {
        most = Math.max(most, await count())
        return runs >= 60 && worker.held === 0
      },
      { withinMs: 60_000 },
    )
    await feeding
    expect(most).toBeLessThanOrEqual(8)
    expect(most, 'there was something to do').toBeGreaterThan(4)
    await eventually('what nobody uses to be closed', async () => (await count()) <= 3, { withinMs: 40_000 })
    // It is not deaf: what comes is done, and the connection it takes is opened again.
    await (await pawl.enqueue(child)).result({ timeout: '20s' })
  })

  it('takes no fewer than it needs', async () => {
    await expect(open(database.url, { connections: 7 })).rejects.toThrow(/connections: .*not less than 8/)
    await expect(open(database.url, { idleConnections: -1 })).rejects.toThrow(/idleConnections/)
  })
})

describe('places', () => {
  class Guest implements Tenant {
    readonly isSpare: boolean
    unusedSinceMs: number | undefined
    rested = 0
    place: Disposable | undefined

    constructor(isSpare: boolean) {
      this.isSpare = isSpare
    }

    async rest(): Promise<void> {
      this.rested += 1
      this.place?.[Symbol.dispose]()
    }
  }

  it('are made by a spare one, never by one that is needed', async () => {
    const time = new VirtualTime(0)
    const places = new Places({ clock: time, timers: time, most: 2, idle: 2, idleMs: 1_000 })
    const [home, spare, next] = [new Guest(false), new Guest(true), new Guest(false)]
    home.place = await places.take(home)
    expect(places.isFull).toBe(false)
    spare.place = await places.take(spare)
    expect(places.isFull).toBe(true)
    next.place = await places.take(next)
    expect([home.rested, spare.rested, next.rested]).toEqual([0, 1, 0])
    places.close()
  })

  it('are left by those that nobody has used for a while, the longest unused first, until so many are left', async () => {
    const time = new VirtualTime(0)
    const places = new Places({ clock: time, timers: time, most: 4, idle: 2, idleMs: 1_000 })
    const guests = [new Guest(false), new Guest(false), new Guest(false), new Guest(false)] as const
    for (const guest of guests) guest.place = await places.take(guest)
    guests[0].unusedSinceMs = 300
    guests[1].unusedSinceMs = 100
    guests[2].unusedSinceMs = 200
    await time.advance(1_000)
    expect(guests.map(({ rested }) => rested)).toEqual([0, 0, 0, 0])
    await time.advance(1_000)
    expect(guests.map(({ rested }) => rested)).toEqual([0, 1, 1, 0])
    await time.advance(5_000)
    expect(guests.map(({ rested }) => rested)).toEqual([0, 1, 1, 0])
    places.close()
    expect(time.pending).toBe(0)
  })
})
