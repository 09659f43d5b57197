/** What this page asks for, each under a key. What is on screen is asked for again; what is hidden rests. */
import { keepPreviousData, queryOptions, useQueries, useQuery } from '@tanstack/react-query'
import { pathsIn, schemaIn } from '../new-job/json-schema.ts'
import { ask, queryOf, segment } from './http.ts'
import type {
  AuditEntry,
  CausesAnswer,
  DialectAnswer,
  Forbids,
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

/** What is wrong with the store or its clock, in a few words; nothing where all is well, or where no such question is answered. */
export const useHealth = () =>
  useQuery({
    queryKey: ['health'],
    queryFn: async () => {
      const { checks } = await ask<{ readonly checks: Readonly<Record<string, string>> }>('/readyz')
      if (checks['store'] !== 'ok') return `the store ${checks['store']}`
      if (checks['clock'] !== 'ok') return `this gateway’s clock is ${checks['clock']}`
      const { ticker = 'ok' } = checks
      return ticker === 'ok' ? null : ticker
    },
    select: (wrong) => wrong ?? undefined,
    refetchInterval: SELDOM_MS,
    retry: false,
  })

export const useTraffic = (window: string) =>
  useQuery({
    queryKey: ['traffic', window],
    queryFn: () => ask<TrafficAnswer>(`/v1/traffic${queryOf({ window })}`),
    refetchInterval: OFTEN_MS,
    placeholderData: keepPreviousData,
  })

/** Who has made each change last; asked for while somebody looks at one. */
export const useTakers = () =>
  useQuery({
    queryKey: ['traffic', 'takers'],
    queryFn: async () =>
      (await ask<TrafficAnswer>(`/v1/traffic${queryOf({ window: '15m', jobs: 'true' })}`)).takers ?? [],
    refetchInterval: OFTEN_MS,
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

const dialectQuery = (name: string) =>
  queryOptions({
    queryKey: ['dialect', name],
    queryFn: () => ask<DialectAnswer>(`/v1/machine${queryOf({ dialect: name })}`),
    staleTime: Number.POSITIVE_INFINITY,
  })

export const useDialect = (name: string) =>
  useQuery({ ...dialectQuery(name), select: ({ dialect }) => dialect, enabled: name !== 'pawl' })

/** What decides which words may be said about a job: the table, and the documents that some are bound to. */
export interface Rules {
  readonly machine: Machine
  readonly forbids: ReadonlyMap<string, Forbids>
}

/** Undefined until all of them are there. */
export function useRules(jobs: readonly Pick<Job, 'dialect'>[]): Rules | undefined {
  const { data: machine } = useMachine()
  const names = [...new Set(jobs.flatMap(({ dialect }) => dialect ?? []))].sort()
  const answers = useQueries({ queries: names.map(dialectQuery) })
  const forbids = new Map(
    answers.flatMap(({ data }, n) => (data === undefined ? [] : [[names[n] ?? '', data.forbids] as const])),
  )
  return machine === undefined || forbids.size < names.length ? undefined : { machine, forbids }
}

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

export const useChildren = (id: string, enabled: boolean) =>
  useQuery({
    queryKey: ['children', id],
    queryFn: async () => {
      const asked = { parentId: id, explain: 'true', order: 'oldest', limit: 100 }
      const { jobs, cursor } = await ask<JobsAnswer>(`/v1/jobs${queryOf(asked)}`)
      return { jobs, isCut: cursor !== undefined }
    },
    refetchInterval: SELDOM_MS,
    enabled,
  })

/** Each type's members of the input, as its worker has announced them: for so many types that it is one look, and no walk. */
const TYPES_LOOKED_AT = 5

export const useInputPaths = (types: readonly string[], enabled: boolean) =>
  useQuery({
    queryKey: ['input paths', ...types],
    queryFn: async () => {
      const asked = types.slice(0, TYPES_LOOKED_AT).map((type) =>
        // A type that nobody has announced has no schema, which is no trouble here.
        ask<{ readonly inputSchema?: unknown }>(`/v1/types/${segment(type)}`).catch(() => ({ inputSchema: undefined })),
      )
      return [...new Set((await Promise.all(asked)).flatMap(({ inputSchema }) => pathsIn(schemaIn(inputSchema))))]
    },
    enabled: enabled && types.length > 0,
    staleTime: SELDOM_MS,
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

/** Of those that match; asked for until there is one, and then now and then: another may be worth more. */
export const useNewestJob = (q: string) =>
  useQuery({
    queryKey: ['newest', q],
    queryFn: async () => (await ask<JobsAnswer>(`/v1/jobs${queryOf({ q, limit: 1 })}`)).jobs[0] ?? null,
    select: (job) => job ?? undefined,
    refetchInterval: ({ state }) => (state.data ? SELDOM_MS : OFTEN_MS),
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
