/** What this page asks for, each under a key. What is on screen is asked for again; what is hidden rests. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ask, queryOf, segment } from './http.ts'
import type {
  AuditEntry,
  CausesAnswer,
  Dialect,
  ExplainAnswer,
  Job,
  JobsAnswer,
  Machine,
  Queue,
  TallyAnswer,
  Token,
  TrafficAnswer,
  Worker,
} from './wire.ts'

/** Together they stay below two requests a second of one page. */
const SOON_MS = 2_000
const OFTEN_MS = 3_000
const SELDOM_MS = 10_000

export const useTally = () =>
  useQuery({ queryKey: ['tally'], queryFn: () => ask<TallyAnswer>('/v1/tally'), refetchInterval: SOON_MS })

export const useTraffic = (window: string) =>
  useQuery({
    queryKey: ['traffic', window],
    queryFn: () => ask<TrafficAnswer>(`/v1/traffic${queryOf({ window })}`),
    refetchInterval: OFTEN_MS,
    placeholderData: keepPreviousData,
  })

/** The codes that failed lately, the most frequent first; asked for by who is about to need them. */
export const useCodes = (enabled: boolean) =>
  useQuery({
    queryKey: ['traffic', 'codes'],
    queryFn: async () => (await ask<TrafficAnswer>(`/v1/traffic${queryOf({ window: '24h' })}`)).failures,
    staleTime: SELDOM_MS,
    enabled,
  })

export const useMachine = () =>
  useQuery({
    queryKey: ['machine'],
    queryFn: () => ask<Machine>('/v1/machine'),
    staleTime: Number.POSITIVE_INFINITY,
  })

export const useDialect = (name: string) =>
  useQuery({
    queryKey: ['dialect', name],
    queryFn: async () => (await ask<{ readonly dialect: Dialect }>(`/v1/machine${queryOf({ dialect: name })}`)).dialect,
    enabled: name !== 'pawl',
    staleTime: Number.POSITIVE_INFINITY,
  })

export const useQueues = () =>
  useQuery({
    queryKey: ['queues'],
    queryFn: async () => (await ask<{ readonly queues: readonly Queue[] }>('/v1/queues?limit=500')).queues,
    refetchInterval: OFTEN_MS,
  })

export const useWorkers = (enabled = true) =>
  useQuery({
    enabled,
    queryKey: ['workers'],
    queryFn: async () => (await ask<{ readonly workers: readonly Worker[] }>('/v1/workers?limit=500')).workers,
    refetchInterval: SELDOM_MS,
  })

export const useCauses = () =>
  useQuery({
    queryKey: ['causes'],
    queryFn: () => ask<CausesAnswer>('/v1/dead-letters:causes?limit=1000'),
    refetchInterval: SELDOM_MS,
  })

export const useTokens = (enabled: boolean) =>
  useQuery({
    queryKey: ['tokens'],
    queryFn: async () => (await ask<{ readonly tokens: readonly Token[] }>('/v1/tokens?limit=500')).tokens,
    enabled,
  })

export const useAudit = (enabled: boolean) =>
  useQuery({
    queryKey: ['audit'],
    queryFn: async () => (await ask<{ readonly entries: readonly AuditEntry[] }>('/v1/audit?limit=200')).entries,
    refetchInterval: SELDOM_MS,
    enabled,
  })

export const useJob = (id: string) =>
  useQuery({
    queryKey: ['job', id],
    queryFn: () => ask<Job>(`/v1/jobs/${segment(id)}?policy=true`, { isExact: true }),
    refetchInterval: ({ state }) => (state.data?.endedAt === undefined ? SOON_MS : SELDOM_MS),
  })

export const useExplain = (id: string, rev: number | undefined) =>
  useQuery({
    queryKey: ['explain', id, rev],
    queryFn: () => ask<ExplainAnswer>(`/v1/jobs/${segment(id)}/explain`),
    enabled: rev !== undefined,
    placeholderData: keepPreviousData,
  })

export const useChildren = (id: string, enabled: boolean) =>
  useQuery({
    queryKey: ['children', id],
    queryFn: async () =>
      (await ask<JobsAnswer>(`/v1/jobs${queryOf({ parentId: id, explain: 'true', limit: 100 })}`)).jobs,
    enabled,
  })

const FEW = 8

/** The first few that a query finds. */
export const useFewJobs = (q: string) =>
  useQuery({
    queryKey: ['few', q],
    queryFn: async () => (await ask<JobsAnswer>(`/v1/jobs${queryOf({ q, explain: 'true', limit: FEW })}`)).jobs,
    refetchInterval: OFTEN_MS,
    placeholderData: keepPreviousData,
  })

export const useBody = (id: string, name: string, enabled: boolean) =>
  useQuery({
    queryKey: ['body', id, name],
    queryFn: async () =>
      (
        await ask<{ readonly bodies: Readonly<Record<string, unknown>> }>(
          `/v1/jobs/${segment(id)}${queryOf({ body: name })}`,
          { isExact: true },
        )
      ).bodies[name],
    enabled,
    staleTime: Number.POSITIVE_INFINITY,
  })

export const jobsPage = (q: string, cursor: string | undefined, signal?: AbortSignal): Promise<JobsAnswer> =>
  ask<JobsAnswer>(
    `/v1/jobs${queryOf({ q, explain: 'true', limit: 100, cursor })}`,
    signal === undefined ? {} : { signal },
  )
