/** The ledger in a real Postgres: what it takes, what it refuses, and what those find there who ask later. */
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { accepts, appended, fenced } from '../../../src/store/ledger/account.ts'
import { BEGINNING, entriesAfter, type Head, headOf } from '../../../src/store/ledger/entry.ts'
import { type Awaited, fateOf, tellingOf } from '../../../src/store/ledger/fate.ts'
import type { Ledger, WrittenEntry } from '../../../src/store/ledger/ledger-port.ts'
import { shipmentOf } from '../../../src/store/ledger/shipment.ts'
import { openPostgresLedger } from '../../../src/store/postgres/ledger/postgres-ledger.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import { eventually } from '../../support/eventually.ts'
import { type FreshDatabase, freshDatabase, startPostgres } from '../../support/postgres.ts'
import { startProxy } from '../../support/proxy.ts'
import { scaled } from '../../support/scale.ts'
import { viewOf, written } from './server-log.ts'

let database: FreshDatabase
let ledger: Ledger
let owner: pg.Client
let opened: Ledger[] = []

async function open(url = database.url): Promise<Ledger> {
  const one = await openPostgresLedger({ url })
  opened.push(one)
  return one
}

beforeAll(async () => {
  database = await freshDatabase()
  owner = new pg.Client({ connectionString: database.url })
  await owner.connect()
  ledger = await openPostgresLedger({ url: database.url, migrate: true })
})

beforeEach(async () => {
  await owner.query(
    `truncate pawl.log; update pawl.part set epoch = 0, seq = 0, name = '-', at = 0, folded = 0, kept_from = 1`,
  )
})

afterEach(async () => {
  await Promise.all(opened.map((each) => each[Symbol.asyncDispose]()))
  opened = []
})

afterAll(async () => {
  await ledger[Symbol.asyncDispose]()
  await owner.end()
  await database.drop()
})

/** The whole log, page by page. */
async function logOf(from: Ledger = ledger): Promise<readonly WrittenEntry[]> {
  const all: WrittenEntry[] = []
  for (let head: Head = BEGINNING; ; head = headOf(all.at(-1) ?? head)) {
    const { entries } = await from.after(head)
    if (entries === undefined) throw new Error(`the log does not go on after ${head.seq}`)
    if (entries.length === 0) return all
    all.push(...entries)
  }
}

const append = (entries: readonly WrittenEntry[], after: Head = BEGINNING, epoch = 0, to: Ledger = ledger) =>
  to.append({ epoch, after, entries })

const [A, B, C] = written(3, 'a') as [WrittenEntry, WrittenEntry, WrittenEntry]

describe('the log', () => {
  it('begins at the beginning', async () => {
    const account = { epoch: 0, head: BEGINNING, at: 0, folded: 0, keptFrom: 1 }
    expect(await ledger.account()).toEqual(account)
    expect(await ledger.after(BEGINNING)).toEqual({ account, entries: [] })
  })

  it('takes what follows its head, and answers as the protocol says', async () => {
    const before = await ledger.account()
    const first = { epoch: 0, after: BEGINNING, entries: [A, B] }
    expect(await ledger.append(first)).toEqual({ done: true, account: appended(before, first) })
    expect(await append([C], headOf(B))).toMatchObject({ done: true, account: { head: headOf(C), at: C.at } })
    expect(await logOf()).toEqual([A, B, C])
  })

  it('goes on from any of its entries, and from no other', async () => {
    await append([A, B])
    await append([C], headOf(B))
    const goingOn = async (head: Head) => (await ledger.after(head)).entries
    expect(await goingOn(headOf(A))).toEqual([B, C])
    expect(await goingOn(headOf(B))).toEqual([C])
    expect(await goingOn(headOf(C))).toEqual([])
    expect(await goingOn({ seq: 1, name: 'x' })).toBeUndefined()
    expect(await goingOn({ seq: 2, name: 'x' })).toBeUndefined()
    expect(await goingOn({ seq: 3, name: 'x' })).toBeUndefined()
    expect(await goingOn({ seq: 4, name: 'a.4' })).toBeUndefined()
  })

  it('is read in pages, however many appends there were', async () => {
    const entries = written(100, 'a')
    let head: Head = BEGINNING
    for (const entry of entries) {
      await append([entry], head)
      head = headOf(entry)
    }
    expect((await ledger.after(BEGINNING)).entries?.length).toBeLessThan(entries.length)
    expect(await logOf()).toEqual(entries)
  })

  it('of each partition is its own', async () => {
    await using other = await openPostgresLedger({ url: database.url, partition: 15 })
    await append([A])
    expect(await other.account()).toMatchObject({ head: BEGINNING })
    expect(await append([B], headOf(A), 0, other)).toMatchObject({ done: false })
    expect(await append([A, B], BEGINNING, 0, other)).toMatchObject({ done: true })
    expect(await logOf()).toEqual([A])
  })

  it('is not asked to take nothing, nor what does not follow itself', async () => {
    await expect(append([])).rejects.toThrow('something')
    await expect(append([A, C])).rejects.toThrow('follow each other')
    await expect(append([B])).rejects.toThrow('follow each other')
  })
})

describe('what does not follow the head', () => {
  beforeEach(async () => {
    await append([A, B])
  })

  it.each([
    ['came twice', [A, B], BEGINNING, 0],
    ['begins before it', [B, C], headOf(A), 0],
    ['leaves something out', written(1, 'a', headOf(C)), headOf(C), 0],
    ['goes on from another entry of its number', written(1, 'x', { seq: 2, name: 'x.2' }), { seq: 2, name: 'x.2' }, 0],
    ['goes on from another number of its name', written(1, 'x', { seq: 3, name: B.name }), { seq: 3, name: B.name }, 0],
    ['is of a later epoch', [C], headOf(B), 1],
  ])('is refused whole where it %s', async (_, entries, after, epoch) => {
    const before = await ledger.account()
    expect(accepts(before, { epoch, after, entries })).toBe(false)
    expect(await ledger.append({ epoch, after, entries })).toEqual({ done: false, account: before })
    expect(await logOf()).toEqual([A, B])
  })

  it('is refused where it is of an epoch that was fenced', async () => {
    const before = await ledger.account()
    expect(await ledger.fence(0)).toEqual({ done: true, account: fenced(before) })
    expect(await ledger.fence(0)).toEqual({ done: false, account: fenced(before) })
    expect(await append([C], headOf(B), 0)).toEqual({ done: false, account: fenced(before) })
    expect(await append([C], headOf(B), 1)).toMatchObject({ done: true })
  })
})

/** Ships what the server has, again and again, until the ledger has all of it or the server does not fit any more. */
async function ship(to: Ledger, server: () => readonly WrittenEntry[], epoch: number, most: number): Promise<void> {
  for (;;) {
    const account = await to.account()
    const shipment = shipmentOf(account, viewOf(server(), epoch))
    if (shipment.kind !== 'append') return
    await to.append({ ...shipment.append, entries: shipment.append.entries.slice(0, most) })
  }
}

describe('several shippers at once', () => {
  it('ship a log once, whatever each of them has of it', async () => {
    const entries = written(scaled(120, 20_000), 'a')
    const shippers = [ledger, await open(), await open(), await open()]
    await Promise.all(shippers.map((to, n) => ship(to, () => entries, 0, 1 + 2 * n)))
    expect(await logOf()).toEqual(entries)
  })

  it('of two servers that went apart ship the one or the other', async () => {
    for (let round = 0; round < scaled(5, 200); round += 1) {
      const { head, epoch } = await ledger.account()
      const shared = await logOf()
      const forks = ['x', 'y'].map((by) => [...shared, ...written(20, `${by}${round}`, head)])
      const shippers = [ledger, await open()]
      await Promise.all(forks.map((fork, n) => ship(shippers[n] as Ledger, () => fork, epoch, 3)))
      expect(forks).toContainEqual(await logOf())
    }
  })

  it('beside two joiners leave a stretch of the server’s log, and one of the joiners has the epoch', async () => {
    const entries = written(200, 'a')
    const others = [await open(), await open()]
    const [, ...fences] = await Promise.all([
      ship(ledger, () => entries, 0, 5),
      ...others.map(async (each) => {
        await eventually('something to be shipped', async () => (await each.account()).head.seq > 20)
        return each.fence(0)
      }),
    ])
    expect(fences.filter(({ done }) => done)).toHaveLength(1)
    const log = await logOf()
    expect(log).toEqual(entries.slice(0, log.length))
    expect(await ledger.account()).toMatchObject({ epoch: 1, head: { seq: log.length } })
  })
})

/** Holds the account until it is let go, and sees who waits for it. */
async function held(work: (waiting: () => Promise<unknown>) => Promise<void>): Promise<void> {
  await owner.query('begin')
  await owner.query('select from pawl.part where p = 0 for update')
  const watch = new pg.Client({ connectionString: database.url })
  await watch.connect()
  const waiting = () =>
    eventually('an append that waits', async () => {
      const { rows } = await watch.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      )
      return rows.length > 0
    })
  try {
    await work(waiting)
  } finally {
    await owner.query('commit')
    await watch.end()
  }
}

describe('a shipper that was stopped', () => {
  it('past the turn of another is told where that one came to, and goes on from there', async () => {
    const stale = { epoch: 0, after: BEGINNING, entries: [A, B] }
    await append([A], BEGINNING, 0, await open())
    const { done, account } = await ledger.append(stale)
    expect(done).toBe(false)
    const rest = entriesAfter(account.head, stale.entries)
    expect(await append(rest ?? [], account.head)).toMatchObject({ done: true })
    expect(await logOf()).toEqual([A, B])
  })

  it('past a join ships nothing, although its statement had begun before', async () => {
    let shipping: ReturnType<typeof append> | undefined
    await held(async (waiting) => {
      shipping = append([A])
      await waiting()
      await owner.query('update pawl.part set epoch = epoch + 1 where p = 0')
    })
    expect(await shipping).toMatchObject({ done: false, account: { epoch: 1, head: BEGINNING } })
    expect(await logOf()).toEqual([])
  })

  it('whose answer was lost ships once, and finds what it has shipped by name', async () => {
    await using proxy = await startProxy(database.url)
    const behind = await open(proxy.url)
    await behind.account()
    let shipping: ReturnType<typeof append> | undefined
    await held(async (waiting) => {
      shipping = append([A, B], BEGINNING, 0, behind)
      await waiting()
      proxy.reset()
    })
    const { account } = (await shipping) ?? {}
    expect(account).toMatchObject({ head: headOf(B) })
    expect(await logOf()).toEqual([A, B])
    const call = { epoch: 0, name: A.name, seq: undefined, looked: BEGINNING }
    expect(fateOf(call, await behind.look([call]))).toBe('there')
  })
})

describe('the fate of a call', () => {
  const call = (name: string, seq: number | undefined, looked: Head = BEGINNING): Awaited => ({
    epoch: 0,
    name,
    seq,
    looked,
  })
  const fates = async (...calls: Awaited[]) => {
    const view = await ledger.look(calls)
    return calls.map((each) => fateOf(each, view))
  }

  it('is known by name, wherever in the log it is', async () => {
    await append([A, B])
    await append([C], headOf(B))
    expect(
      await fates(call(A.name, 1), call(B.name, undefined, headOf(A)), call(C.name, 3, headOf(B)), call('x.2', 2)),
    ).toEqual(['there', 'there', 'there', 'open'])
    expect(await fates(call(C.name, 3, headOf(C)))).toEqual(['there'])
    await ledger.fence(0)
    expect(await fates(call('x.2', 2), call('x.4', undefined), call(B.name, 2))).toEqual(['never', 'never', 'there'])
  })

  it('of a look is that of the head it saw', async () => {
    const seen = (head: Head, looked: Head) => ({ ...call(head.name, head.seq, looked), seq: head.seq })
    const telling = async (look: Awaited & Head) => tellingOf(look, await ledger.look([look]))
    expect(await telling(seen(BEGINNING, BEGINNING))).toBe('tell')
    await append([A, B])
    expect(await telling(seen(BEGINNING, BEGINNING))).toBe('tell')
    expect(await telling(seen(headOf(B), headOf(B)))).toBe('tell')
    expect(await telling(seen(headOf(B), headOf(A)))).toBe('tell')
    expect(await telling(seen(headOf(C), headOf(B)))).toBe('wait')
    expect(await telling(seen(headOf(A), headOf(B)))).toBe('again')
  })
})

const SOMEBODY_ELSES = /has a table "migration" that is somebody else's/

describe('the schema of a ledger', () => {
  it('is made by eight processes at once', async () => {
    const eight = Array.from({ length: 8 }, () =>
      openPostgresLedger({ url: database.url, schema: 'eight', migrate: true }),
    )
    opened = await Promise.all(eight)
    for (const each of opened) expect(await each.account()).toMatchObject({ epoch: 0 })
  })

  it('is none of a store, and that of a store none of a ledger', async () => {
    await expect(openPostgresStore({ url: database.url, migrate: true })).rejects.toThrow(SOMEBODY_ELSES)
    await expect(openPostgresStore({ url: database.url })).rejects.toThrow(SOMEBODY_ELSES)
    const store = await openPostgresStore({ url: database.url, schema: 'jobs', migrate: true })
    await store.close()
    await expect(openPostgresLedger({ url: database.url, schema: 'jobs', migrate: true })).rejects.toThrow(
      SOMEBODY_ELSES,
    )
    await owner.query('drop schema jobs cascade')
  })

  it('is used by its role through functions, and by nothing else', async () => {
    const name = `service_${owner.database}`
    await owner.query(`create role ${name} login in role pawl_app_${owner.database}`)
    const url = new URL(database.url)
    url.username = name
    await using service = await openPostgresLedger({ url: url.href })
    expect(await append([A], BEGINNING, 0, service)).toMatchObject({ done: true })
    expect(await service.fence(0)).toMatchObject({ done: true })
    expect(await logOf(service)).toEqual([A])
    await owner.query(`set role ${name}`)
    for (const text of ['select * from pawl.log', 'update pawl.part set epoch = 9', 'delete from pawl.log'])
      await expect(owner.query(text)).rejects.toThrow(/permission denied/)
    await owner.query('reset role')
  })
})

describe('a Postgres that is killed', () => {
  it('keeps all that it said it has taken, in order and once', async () => {
    await using server = await startPostgres()
    await using kept = await openPostgresLedger({ url: server.url, migrate: true })
    let head: Head = BEGINNING
    const entries: WrittenEntry[] = []
    let isOver = false
    const shipping = (async () => {
      while (!isOver) {
        const next = written(3, 'a', head)
        entries.push(...next)
        await ship(kept, () => entries, 0, entries.length)
        head = headOf(next[2] as WrittenEntry)
      }
    })()
    for (let kill = 0; kill < scaled(1, 20); kill += 1) {
      const from = head.seq
      await eventually('some to be shipped', () => head.seq > from + 30)
      await server.kill()
      await server.restart()
    }
    isOver = true
    await shipping
    expect(await logOf(kept)).toEqual(entries)
  })
})
