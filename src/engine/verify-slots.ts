/**
 * Whether what is taken of flow keys is what the jobs themselves come to: each that stands or is owned, under each key that it names.
 * Stores count from slots, which is where a slot that is missing cannot be seen. And whether anybody stands at a key that is shut or
 * above its gate: whatever made it so takes back those who do.
 */
import { presenceOf } from '../core/flow/membership.ts'
import { isBeyond } from '../core/flow/room.ts'
import { type Job, LIVE_STATES } from '../core/job.ts'
import type { JobPage } from '../store/store.ts'
import type { Discrepancy } from './discrepancy.ts'
import type { Engine } from './engine.ts'

type Asked = Pick<Engine, 'events' | 'find' | 'load'>

const PAGE = 200

/** What is told of a key that differs twice, and alike: jobs are let in without an entry in the feed, also while they are counted. */
export async function verifySlots(engine: Asked, tenants: ReadonlySet<string>): Promise<readonly Discrepancy[]> {
  if (tenants.size === 0) return []
  const first = await differing(engine, tenants)
  const second = first.size === 0 ? first : await differing(engine, tenants)
  return [...first].flatMap(([name, what]): readonly Discrepancy[] =>
    second.get(name) === what ? [{ job: undefined, about: 'slot', invariant: undefined, what }] : [],
  )
}

/** What differs, by key. */
async function differing(engine: Asked, tenants: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
  const there = await occupants(engine)
  const found = new Map<string, string>()
  for (const tenant of tenants) {
    let cursor: string | undefined
    do {
      const page = await engine.events({ by: 'keys', tenant, limit: PAGE, cursor })
      for (const { key, gate, count } of page.keys ?? []) {
        const { standing, owned } = there.get(nameOf(tenant, key)) ?? NOBODY
        const jobs = standing + owned
        if (count.taken !== jobs)
          found.set(
            nameOf(tenant, key),
            `key ${key} has ${count.taken} slots taken, and ${jobs} jobs stand or are owned that name it`,
          )
        else if (standing > 0 && isBeyond(gate, count, page.now))
          found.set(
            nameOf(tenant, key),
            `${standing} jobs stand at key ${key}, which is shut or has more taken than it lets in`,
          )
      }
      cursor = page.cursor
    } while (cursor !== undefined)
  }
  return found
}

interface Occupants {
  readonly standing: number
  readonly owned: number
}

const NOBODY: Occupants = { standing: 0, owned: 0 }

/** How many jobs stand or are owned, by key. */
async function occupants(engine: Asked): Promise<ReadonlyMap<string, Occupants>> {
  const taken = new Map<string, Occupants>()
  let cursor: string | undefined
  do {
    const page: JobPage = await engine.find({ states: LIVE_STATES, order: 'oldest', limit: PAGE, cursor })
    for (const job of await standingOrOwned(engine, page.jobs)) {
      const isOwned = presenceOf(job) === 'owned'
      for (const key of new Set(job.spec.flow?.keys)) {
        const name = nameOf(job.spec.kind.tenant, key)
        const { standing, owned } = taken.get(name) ?? NOBODY
        taken.set(name, isOwned ? { standing, owned: owned + 1 } : { standing: standing + 1, owned })
      }
    }
    cursor = page.cursor
  } while (cursor !== undefined)
  return taken
}

async function standingOrOwned(engine: Asked, jobs: readonly Job[]): Promise<readonly Job[]> {
  const limited = jobs.filter((job) => job.spec.flow !== undefined && presenceOf(job) !== 'away')
  if (limited.length === 0) return []
  const { items } = await engine.load(limited.map(({ id }) => ({ id, flow: true })))
  const found = items.filter((item) => item !== undefined)
  return found.filter(({ job, flow }) => isThere(job, flow?.held)).map(({ job }) => job)
}

function isThere(job: Job, isHeld: boolean | undefined): boolean {
  const presence = presenceOf(job)
  return presence === 'owned' || (presence === 'ready' && isHeld === false)
}

const nameOf = (tenant: string, key: string): string => JSON.stringify([tenant, key])
