/** What jobs share that is limited, as it is asked for and told. */
import { useQuery } from '@tanstack/react-query'
import { ask, queryOf, segment } from './http.ts'
import type { KeyState, Moment } from './wire.ts'

export interface Limit {
  readonly concurrency?: number
  readonly rate?: { readonly most: number; readonly perMs: number }
  readonly budget?: { readonly amount: number; readonly perMs: number }
  readonly weight?: number
}

export interface KeyCause {
  readonly job?: string
  readonly code?: string
  readonly actor: string
}

export interface KeyChange {
  readonly rev: number
  readonly at: Moment
  readonly type: string
  readonly input: string
  readonly from: KeyState
  readonly to: KeyState
  readonly cause: KeyCause
  readonly payload: { readonly allowed?: number; readonly session?: number; readonly until?: Moment }
}

export interface LimitKey {
  readonly key: string
  readonly state: KeyState
  /** What is in force: numbers set by hand before those of code. */
  readonly limit: Limit
  readonly byHand?: Limit
  readonly declared?: Limit
  readonly taken: number
  /** Counted up to `HELD_COUNTED`. */
  readonly held: number
  /** Fewer at once than the limit says, for now. */
  readonly allowed?: number
  readonly session: number
  readonly since?: Moment
  readonly until?: Moment
  readonly spent: number
  readonly cause?: KeyCause
  /** Of one that is looked at by itself; the oldest first. */
  readonly log?: readonly KeyChange[]
}

interface LimitsAnswer {
  readonly limits: readonly LimitKey[]
  readonly cursor?: string
}

export const HELD_COUNTED = 1_000
const LOOK_EVERY_MS = 3_000
const LOOK_SELDOM_MS = 10_000
const PAGE = 500

/** Keys by name, so many pages of them: there may be one for each site or customer there is. */
export const useLimits = (state: KeyState | undefined, pages: number) =>
  useQuery({
    queryKey: ['limits', state ?? 'all', pages],
    queryFn: () => read(state, pages),
    refetchInterval: LOOK_EVERY_MS * pages,
  })

async function read(state: KeyState | undefined, pages: number): Promise<LimitsAnswer> {
  const limits: LimitKey[] = []
  let cursor: string | undefined
  for (let n = 0; n < pages; n += 1) {
    const page = await ask<LimitsAnswer>(`/v1/limits${queryOf({ state, limit: PAGE, cursor })}`)
    limits.push(...page.limits)
    cursor = page.cursor
    if (cursor === undefined) return { limits }
  }
  return { limits, ...(cursor === undefined ? {} : { cursor }) }
}

/** For the overview: of the first so many by name. */
export const useBrokenKeys = (enabled: boolean) =>
  useQuery({
    queryKey: ['limits', 'broken', 'names'],
    queryFn: async () => (await read('broken', 1)).limits.map(({ key }) => key),
    refetchInterval: LOOK_SELDOM_MS,
    enabled,
  })

/** Names of the first so many keys. */
export const useKeyNames = (enabled: boolean) =>
  useQuery({
    queryKey: ['limits', 'names'],
    queryFn: async () => (await read(undefined, 1)).limits.map(({ key }) => key),
    staleTime: LOOK_SELDOM_MS,
    enabled,
  })

export const useLimit = (key: string) =>
  useQuery({
    queryKey: ['limit', key],
    queryFn: () => ask<LimitKey>(`/v1/limits/${segment(key)}`),
    refetchInterval: LOOK_EVERY_MS,
  })
