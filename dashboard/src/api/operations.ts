/** What is done to many jobs, as it is asked for and told. */
import { useQuery } from '@tanstack/react-query'
import { ask, queryOf, segment } from './http.ts'
import type { OperationAction as Action, Failure, Moment, State } from './wire.ts'

export type { Action }

export interface OperationCount {
  readonly type: string
  readonly state: State
  readonly reason?: string
  readonly code?: string
  readonly count: number
}

export interface Operation {
  readonly id: string
  readonly state: State
  readonly action: Action
  /** Absent for who may not see inputs: a search may quote them. */
  readonly query?: string
  readonly dryRun: boolean
  readonly by: string
  readonly reason?: string
  readonly canary?: { readonly first: number; readonly withinMs: number }
  readonly isEdited: boolean
  readonly mode: 'soft' | 'hard'
  readonly askedAt: Moment
  readonly endedAt?: Moment
  readonly progress?: { readonly done: number; readonly total?: number; readonly message?: string }
  readonly report: {
    readonly matched: number
    readonly done: number
    readonly refused: number
    readonly counts: readonly OperationCount[]
    /** What would come of it, by outcome. */
    readonly foreseen?: readonly { readonly outcome: string; readonly count: number }[]
    readonly refusals: readonly { readonly id: string; readonly code: string; readonly message: string }[]
    readonly canaries: readonly string[]
  }
  readonly error?: Pick<Failure, 'code' | 'message'>
}

export interface OperationWords {
  readonly action: Action
  readonly query: string
  readonly dryRun?: boolean
  readonly reason?: string
  readonly canary?: number
  readonly mode?: 'soft' | 'hard'
  readonly input?: unknown
  readonly patch?: unknown
  readonly requestId?: string
}

export const startOperation = (body: OperationWords): Promise<Operation> =>
  ask<Operation>('/v1/operations', { method: 'POST', body })

export const cancelOperation = (id: string): Promise<Operation> =>
  ask<Operation>(`/v1/operations/${segment(id)}/cancel`, { method: 'POST' })

const LOOK_EVERY_MS = 3_000
const WHILE_IT_RUNS_MS = 1_000
const SHOWN_MOST = 100

interface OperationsAnswer {
  readonly operations: readonly Operation[]
  readonly cursor?: string
}

export const useOperations = () =>
  useQuery({
    queryKey: ['operations'],
    queryFn: () => ask<OperationsAnswer>(`/v1/operations${queryOf({ limit: SHOWN_MOST })}`),
    refetchInterval: LOOK_EVERY_MS,
  })

/** Asked for again until it has ended. */
export const useOperation = (id: string | undefined) =>
  useQuery({
    queryKey: ['operations', id],
    queryFn: () => ask<Operation>(`/v1/operations/${segment(id ?? '')}`),
    enabled: id !== undefined,
    refetchInterval: ({ state }) => (state.data?.endedAt === undefined ? WHILE_IT_RUNS_MS : false),
  })
