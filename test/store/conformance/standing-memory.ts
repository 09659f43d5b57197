import { openMemoryStore } from '../../../src/store/memory/memory.ts'
import type { ClaimAnswer, Grant, Hint, NewJob, Store } from '../../../src/store/store.ts'
import type { Clock } from '../../../src/system/clock.ts'
import { tampered } from './sabotage.ts'

interface Stand {
  readonly grant: Grant
  readonly until: number
}

/** A memory store whose claims stand: S17 at its smallest, for whoever breaks it. */
export function openStandingMemory(clock: Clock): Store {
  const store = openMemoryStore({ clock })
  // One after the other: each is a commit.
  let last: Promise<unknown> = Promise.resolve()
  const alone = <T>(call: () => Promise<T>): Promise<T> => {
    const mine = last.then(call, call)
    last = mine.catch(() => {})
    return mine
  }
  const stands = new Map<string, Stand>()
  /** Answers that nobody has seen. */
  const given = new Map<string, ClaimAnswer>()
  /** Requests that have got something: nobody gets anything new under them. */
  const spent = new Set<string>()
  const listeners = new Set<(hint: Hint) => void>()

  const offer = async (item: NewJob): Promise<void> => {
    const { tenant, queue } = item.job.spec.kind
    const isFor = ({ grant, until }: Stand) =>
      until > clock.now() &&
      grant.lanes.some((lane) => lane.tenant === tenant && lane.queue === queue && lane.priority === item.job.priority)
    const stand = [...stands.values()].find(isFor)
    if (stand === undefined) return
    const answer = await store.claim({ ...stand.grant, limit: stand.grant.stand?.limit ?? 0 })
    if (answer.jobs.length === 0) return
    const { requestId, nonce, lanes } = stand.grant
    stands.delete(requestId)
    given.set(requestId, { ...answer, nonce })
    spent.add(requestId)
    const [lane] = lanes
    for (const listener of listeners) listener({ about: 'queue', tenant: lane?.tenant ?? '', queue: lane?.queue ?? '' })
  }

  return tampered(store, () => ({
    claimsStand: true,
    insert: (items, tx) =>
      alone(async () => {
        const answer = await store.insert(items, tx)
        const [first] = items
        if (first !== undefined) await offer(first)
        return answer
      }),
    claim: (grant) =>
      alone(async () => {
        const answer = given.get(grant.requestId)
        given.delete(grant.requestId)
        stands.delete(grant.requestId)
        const now = clock.now()
        if (answer !== undefined) return { ...answer, now }
        const found = grant.limit === 0 ? { now, replayed: false, jobs: [] } : await store.claim(grant)
        if (found.jobs.length > 0) spent.add(grant.requestId)
        if (found.jobs.length > 0 || grant.stand === undefined || spent.has(grant.requestId)) return found
        stands.set(grant.requestId, { grant, until: now + grant.stand.ms })
        return { ...found, stands: true }
      }),
    async subscribe(wake) {
      const own = (hint: Hint) => wake(hint)
      listeners.add(own)
      const subscription = await store.subscribe(wake)
      return {
        async [Symbol.asyncDispose]() {
          listeners.delete(own)
          await subscription[Symbol.asyncDispose]()
        },
      }
    },
  }))
}
