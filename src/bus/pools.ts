/**
 * Which pools have room, as far as it has been heard. A pool is a queue's name, and what each of its workers can do: they compete for its
 * dispatches, so whatever is dispatched to it any of them may get.
 */
import type { Heartbeat } from './messages.ts'

export interface Room {
  /** Jobs that its workers could begin. */
  readonly free: number
  /** Topics that each of them can do; undefined: all. */
  readonly serves: readonly string[] | undefined
}

interface Member {
  free: number
  readonly capabilities: readonly string[] | undefined
  readonly heardMs: number
}

/** A worker that has been silent for this long has no room: it may be gone. */
export const SILENT_MS = 15_000

export class Pools {
  readonly #pools = new Map<string, Map<string, Member>>()
  readonly #monotonicMs: () => number

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs
  }

  heard({ worker_id, pool, free, capabilities }: Heartbeat): void {
    const members = this.#pools.get(pool) ?? new Map<string, Member>()
    members.set(worker_id, { free, capabilities, heardMs: this.#monotonicMs() })
    this.#pools.set(pool, members)
  }

  /** It has one place less, until it says otherwise. */
  began(workerId: string): void {
    for (const members of this.#pools.values()) {
      const member = members.get(workerId)
      if (member !== undefined && member.free > 0) member.free -= 1
    }
  }

  /** Undefined: nobody is there. */
  roomIn(pool: string): Room | undefined {
    const members = this.#pools.get(pool)
    if (members === undefined) return undefined
    const since = this.#monotonicMs() - SILENT_MS
    for (const [workerId, { heardMs }] of members) if (heardMs < since) members.delete(workerId)
    if (members.size === 0) {
      this.#pools.delete(pool)
      return undefined
    }
    const all = [...members.values()]
    return { free: all.reduce((sum, { free }) => sum + free, 0), serves: common(all) }
  }
}

function common(members: readonly Member[]): readonly string[] | undefined {
  const told = members.flatMap(({ capabilities }) => (capabilities === undefined ? [] : [new Set(capabilities)]))
  const [first, ...others] = told
  return first && [...first].filter((name) => others.every((set) => set.has(name)))
}
