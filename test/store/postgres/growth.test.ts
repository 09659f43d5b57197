/**
 * No call costs more for what else the store holds. Every statement is measured on a store with a thousand rows in each table
 * and again with a hundred thousand, a million in soak, whatever the planner knew when it made its plan: tables that were never analyzed, or just
 * were; plans for the values at hand, for any values, and plans that were made while everything was empty and are kept.
 */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { statementsIn } from '../../../src/store/postgres/connection/statements.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import { functionNames } from '../../../src/store/postgres/schema/functions.ts'
import { STORE } from '../../../src/store/postgres/schema/store.ts'
import { type FreshDatabase, freshDatabase } from '../../support/postgres.ts'
import { scaled } from '../../support/scale.ts'
import { BESIDES, CASES, EXEMPT, INLINED, renewed, type StatementName } from './growth/cases.ts'
import { fill, LISTENER } from './growth/fill.ts'
import { type Taken, taken } from './growth/measure.ts'

vi.setConfig({ testTimeout: scaled(240_000, 3_600_000), hookTimeout: scaled(240_000, 3_600_000) })

const FEW = 1_000
const MANY = scaled(100_000, 1_000_000)
/** A tree a hundred times as big is a level or two higher. */
const PAGES_PER_PROBE = 2
/** The height of a tree and a row: what a look-up costs that was not there before. The planner makes some, at the ends of indexes. */
const PAGES_OF_A_PROBE = 5
/** A walk goes over so many rows to a page. */
const ROWS_OF_A_PAGE = 50
/** Of one row, whatever number of tables there are. */
const SINGLE: ReadonlySet<string> = new Set(['feed'])

const statements = statementsIn('pawl')

const calls = (Object.keys(CASES) as StatementName[]).flatMap((name) =>
  CASES[name].flatMap(({ what, values }) => {
    const inCallers = statements.inCallers.get(statements[name])
    const call = { name, what: `${name}: ${what}`, text: statements[name], values }
    return inCallers === undefined ? [call] : [call, { ...call, what: `${call.what}, in a caller's`, text: inCallers }]
  }),
)

let database: FreshDatabase
let writer: pg.Client
/** Asked everything once while all tables were empty, and known to be. */
let early: pg.Client
const clients: pg.Client[] = []
const few = new Map<string, Taken>()

async function session(plans: 'force_generic_plan' | 'force_custom_plan'): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  clients.push(client)
  await client.query(`set plan_cache_mode = '${plans}'`)
  await client.query(`set track_functions = 'all'`)
  return client
}

let round = 0
const take = (client: pg.Client, text: string, values: readonly unknown[]): Promise<Taken> => {
  round += 1
  return taken(client, text, renewed(values, round))
}

beforeAll(async () => {
  database = await freshDatabase()
  await (await openPostgresStore({ url: database.url, migrate: true })).close()
  writer = await session('force_custom_plan')
  const { rows: tables } = await writer.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'pawl'::regnamespace and relkind = 'r'`,
  )
  for (const { name } of tables) await writer.query(`alter table pawl.${name} set (autovacuum_enabled = off)`)
  await writer.query(`select pg_advisory_lock(hashtextextended($1, 0))`, [LISTENER])
  await writer.query('vacuum analyze')
  early = await session('force_generic_plan')
  // Nothing is there, not even what must be: then it is the plan that counts.
  for (const { text, values } of calls) await take(early, text, values).catch(() => {})

  await fill(writer, 0, FEW)
  // As if there were many already: looked up one by one, with nothing walked that is small enough to be.
  const custom = await session('force_custom_plan')
  for (const way of ['seqscan', 'hashjoin', 'mergejoin']) await custom.query(`set enable_${way} = off`)
  for (const { what, text, values } of calls) {
    await take(custom, text, values)
    few.set(what, await take(custom, text, values))
  }
  await fill(writer, FEW, MANY)
  await writer.query(statements.summarize)
})

afterAll(async () => {
  for (const client of clients) await client.end()
  await database.drop()
})

type Cost = Awaited<ReturnType<typeof take>>

/** How much a call may cost at most, by what it cost beside few and by how it is planned now. */
function mostOf({ name, what }: (typeof calls)[number], before: Cost, many: Cost) {
  const {
    pages: morePages = 0,
    probes: moreProbes = 0,
    rows: moreRows = 0,
  } = BESIDES.get(what) ?? BESIDES.get(name) ?? {}
  const planned = Math.max(0, many.probes - before.probes)
  const pages =
    before.pages +
    PAGES_PER_PROBE * before.probes +
    PAGES_OF_A_PROBE * planned +
    Math.ceil(before.rows / ROWS_OF_A_PAGE) +
    morePages
  return { pages, probes: 2 * before.probes + 10 + moreProbes, rows: 2 * before.rows + 20 + moreRows }
}

/**
 * What costs more than it may, in words. Asked twice: what is read to make a plan that is kept is read once. Where that is too much it is
 * asked again: a vacuum of some catalog has plans made anew at any moment, and what is read for that is none of the call's.
 */
async function grown(client: pg.Client): Promise<readonly string[]> {
  const found: string[] = []
  for (const call of calls) {
    const { what, text, values } = call
    if (EXEMPT.has(what)) continue
    const before = few.get(what)
    if (before === undefined) throw new Error(`${what} was not measured before`)
    await take(client, text, values)
    let many = await take(client, text, values)
    for (let again = 0; again < 2 && many.pages > mostOf(call, before, many).pages; again += 1)
      many = await take(client, text, values)
    const most = mostOf(call, before, many)
    for (const table of many.walked.filter((each) => !SINGLE.has(each))) found.push(`${what} walks ${table}`)
    for (const of of ['pages', 'probes', 'rows'] as const) {
      if (many[of] > most[of])
        found.push(`${what} takes ${many[of]} ${of}, ${before[of]} beside few, ${most[of]} at most`)
    }
  }
  return found
}

describe('no call costs more for what else there is', () => {
  it('by a plan that was made while there was nothing', async () => {
    expect(await grown(early)).toEqual([])
  })

  it('by a plan for any values, of tables that were never analyzed', async () => {
    expect(await grown(await session('force_generic_plan'))).toEqual([])
  })

  it('by a plan for these values, of tables that were never analyzed', async () => {
    expect(await grown(await session('force_custom_plan'))).toEqual([])
  })

  it('by a plan for any values', async () => {
    await writer.query('analyze')
    expect(await grown(await session('force_generic_plan'))).toEqual([])
  })

  it('by a plan for these values', async () => {
    expect(await grown(await session('force_custom_plan'))).toEqual([])
  })
})

describe('what is measured', () => {
  it('is every statement', () => {
    const sent = Object.entries(statements).filter(([, text]) => typeof text === 'string')
    expect(Object.keys(CASES).sort()).toEqual(sent.map(([name]) => name).sort())
    expect(Object.entries(CASES).filter(([, cases]) => cases.length === 0)).toEqual([])
  })

  it('is every function', () => {
    const { granted, inner } = functionNames(STORE)
    const called = new Set([...few.values()].flatMap(({ functions }) => functions))
    expect([...granted, ...inner].filter((name) => !called.has(name) && !INLINED.includes(name))).toEqual([])
  })

  it('is what is exempt, too', () => {
    const known = new Set(calls.flatMap(({ name, what }) => [name, what]))
    expect([...EXEMPT.keys(), ...BESIDES.keys()].filter((each) => !known.has(each))).toEqual([])
  })
})
