/**
 * Makes anew what is derived: slots from where jobs are, what was spent from their logs, and flows so that somebody looks at them. What
 * jobs, logs and keys say is not touched: of those nobody could say which side of a difference is right.
 */
import { presenceOf } from '../core/flow/membership.ts'
import { type Job, LIVE_STATES } from '../core/job.ts'
import type { JobPage, Mend, Store } from '../store/store.ts'
import type { Engine } from './engine.ts'
import { logOf } from './log-of.ts'
import { heldOfEachFlow } from './verify-flows.ts'
import { KeyUses } from './verify-uses.ts'

/** How much was made anew: nothing of it need have been wrong. */
export interface Mended {
  readonly tenants: readonly string[]
  readonly keys: number
  readonly jobs: number
  readonly flows: number
  /** Amounts that were spent, and claims, that nobody had counted; and amounts that nobody had spent. */
  readonly counts: number
}

const PAGE = 200

type Asked = Pick<Engine, 'find' | 'load' | 'events' | 'settings' | 'now'>

/** `tenant`: of one, else of all. */
export async function mended(
  engine: Asked,
  store: Pick<Store, 'commit'>,
  tenant?: string | undefined,
  before: (tenant: string) => Promise<void> = async () => {},
): Promise<Mended> {
  const seated = await seatedJobs(engine)
  const held: Job[] = []
  for await (const { job } of heldOfEachFlow(engine)) held.push(job)
  const there = new Set([...seated, ...held].map(({ spec }) => spec.kind.tenant))
  const { tally } = await engine.events({ by: 'tally', tenant })
  for (const each of tally) there.add(each.tenant)
  const tenants = [...there].filter((each) => tenant === undefined || each === tenant)
  const position = async () => (await engine.events({ by: 'tally', tenant })).cursor
  const began = await position()
  const uses = await usesOf(engine, new Set(tenants))
  const beyond = await uses.beyond(engine, tenants, async () => began !== undefined && (await position()) === began)
  const told: { -readonly [K in keyof Mended]: Mended[K] } = { tenants: [], keys: 0, jobs: 0, flows: 0, counts: 0 }
  for (const each of tenants) {
    const keys = await keysOf(engine, each)
    const own = (jobs: readonly Job[]) => jobs.filter(({ spec }) => spec.kind.tenant === each)
    if (keys.length === 0 && own(held).length === 0) continue
    await before(each)
    told.tenants = [...told.tenants, each]
    const mend = async (some: Partial<Mend>) => {
      await store.commit([{ kind: 'mend', ...NOTHING, tenant: each, ...some }])
    }
    // Slots that are lacking first: a key that seems to have room lets in, and one that has not takes back.
    for (const some of portions(own(seated))) await mend({ jobs: some })
    for (const some of portions(keys)) await mend({ keys: some })
    // What slots count is right by now.
    const uncounted = await uses.uncounted(engine, each, beyond)
    if (uncounted.spent.length + uncounted.claims.length > 0) await mend(uncounted)
    // Last: a look at a flow is of use once what it looks at is right.
    for (const some of portions(own(held))) await mend({ held: some })
    told.keys += keys.length
    told.jobs += own(seated).length
    told.flows += own(held).length
    told.counts += uncounted.spent.length + uncounted.claims.length
  }
  return told
}

const NOTHING = { keys: [], jobs: [], held: [], spent: [], claims: [] }

function* portions<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let i = 0; i < all.length; i += PAGE) yield all.slice(i, i + PAGE)
}
/** Those that stand or are owned. Of which it is so still, the store sees for itself. */
async function seatedJobs(engine: Asked): Promise<readonly Job[]> {
  const found: Job[] = []
  let cursor: string | undefined
  do {
    const page: JobPage = await engine.find({ states: LIVE_STATES, order: 'oldest', limit: PAGE, cursor })
    const flowing = page.jobs.filter((job) => job.spec.flow !== undefined && presenceOf(job) !== 'away')
    const { items } = await engine.load(flowing.map(({ id }) => ({ id, flow: true })))
    for (const item of items) if (item?.flow?.held === false) found.push(item.job)
    cursor = page.cursor
  } while (cursor !== undefined)
  return found
}

async function keysOf(engine: Asked, tenant: string): Promise<readonly string[]> {
  const names: string[] = []
  let cursor: string | undefined
  do {
    const page = await engine.events({ by: 'keys', tenant, limit: PAGE, cursor })
    names.push(...(page.keys ?? []).map(({ key }) => key))
    cursor = page.cursor
  } while (cursor !== undefined)
  return names
}

/** What logs say of keys that count. */
async function usesOf(engine: Asked, tenants: ReadonlySet<string>): Promise<KeyUses> {
  const uses = await KeyUses.of(engine, tenants)
  let cursor: string | undefined
  do {
    if (uses.isEmpty) break
    const page: JobPage = await engine.find({ order: 'oldest', limit: PAGE, cursor })
    for (const job of page.jobs.filter(({ spec }) => spec.flow !== undefined))
      uses.note(job, await logOf(engine, job.id))
    cursor = page.cursor
  } while (cursor !== undefined)
  return uses
}
