/** The small facts of nodes that one job tells: who of them is next, and who has been there longest. */
import { useQuery } from '@tanstack/react-query'
import { ask, queryOf } from '../api/http.ts'
import { useSession } from '../api/session.tsx'
import type { Job, JobsAnswer, State, TallyAnswer } from '../api/wire.ts'
import { ago, count, span } from '../words/format.ts'

const EVERY_MS = 15_000
/** Beyond this the soonest is not looked for: as many would be read for one number. */
const READ_MOST = 500

type Facts = Partial<Record<State, string>>

export function useExtremes(tally: TallyAnswer | undefined, now: number): Facts {
  const session = useSession()
  const of = (state: State) =>
    (tally?.counts ?? []).filter((each) => each.state === state).reduce((sum, each) => sum + each.count, 0)
  const isFew = (state: State) => of(state) > 0 && of(state) <= READ_MOST
  const may = session.can('listJobs')
  const retrying = useFirst({ state: 'retrying', sort: 'due' }, may && isFew('retrying'))
  const waiting = useFirst({ state: 'waiting', sort: 'due' }, may && isFew('waiting'))
  const parked = useFirst({ state: 'parked', order: 'oldest' }, may && of('parked') > 0)
  const asked = useAsked(may && of('pending') > 0)
  return {
    ...(asked === undefined || asked === 0 ? {} : { pending: `${count(asked)} need you` }),
    ...next('retrying', retrying?.readyAt, now),
    ...next('waiting', waiting?.wait?.timeoutAt, now),
    ...(parked === undefined || of('parked') === 0
      ? {}
      : { parked: `oldest ${ago(now - Date.parse(parked.createdAt))}` }),
  }
}

const next = (state: State, at: string | undefined, now: number): Facts =>
  at === undefined || Date.parse(at) < now ? {} : { [state]: `next in ${span(wholeSeconds(Date.parse(at) - now))}` }

const wholeSeconds = (ms: number): number => Math.max(1_000, Math.floor(ms / 1_000) * 1_000)

function useFirst(asked: Readonly<Record<string, string>>, enabled: boolean): Job | undefined {
  const { data } = useQuery({
    queryKey: ['first', asked['state']],
    queryFn: async () => (await ask<JobsAnswer>(`/v1/jobs${queryOf({ ...asked, limit: 1 })}`)).jobs[0] ?? null,
    refetchInterval: EVERY_MS,
    enabled,
  })
  return enabled ? (data ?? undefined) : undefined
}

/** Of those that have waited longest, how many a policy asks a person about. */
function useAsked(enabled: boolean): number | undefined {
  const { data } = useQuery({
    queryKey: ['first', 'pending'],
    queryFn: async () => {
      const { jobs } = await ask<JobsAnswer>(`/v1/jobs${queryOf({ state: 'pending', order: 'oldest', limit: 100 })}`)
      return jobs.filter(({ approval }) => approval !== undefined && approval.given === undefined).length
    },
    refetchInterval: EVERY_MS,
    enabled,
  })
  return enabled ? data : undefined
}
