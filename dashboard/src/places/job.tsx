/** One job: why it is where it is, the path it has taken, when what happened, and everything it carries. */
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useCallback } from 'react'
import { Link, useSearchParams } from 'wouter'
import { ActionButtons, NotPossible } from '../actions/buttons.tsx'
import { useHistory } from '../api/history.ts'
import { useExplain, useJob } from '../api/job.ts'
import { useLive } from '../api/live.ts'
import type { Job, JobEvent } from '../api/wire.ts'
import { Title } from '../frame/title.tsx'
import { Facts } from '../job/facts.tsx'
import { Path } from '../job/path.tsx'
import { ErrorView, JobTabs } from '../job/tabs.tsx'
import { TimeAxis } from '../job/time-axis.tsx'
import { Why } from '../job/why.tsx'
import { useIsNarrow } from '../parts/beside.tsx'
import { Body } from '../parts/body.tsx'
import { Card } from '../parts/card.tsx'
import { Copy } from '../parts/copy.tsx'
import { Moment } from '../parts/moment.tsx'
import { BoundTo, StatePill } from '../parts/state-word.tsx'
import { Loading, Trouble } from '../parts/trouble.tsx'
import { span } from '../words/format.ts'
import { useMedia } from '../words/media.ts'
import { useNow } from '../words/now.ts'
import { useSparingly } from '../words/sparingly.ts'

export function JobPlace({ id }: { readonly id: string }): ReactNode {
  const { data: job, error } = useJob(id, true)
  const { data: history } = useHistory(id, job?.rev)
  const { data: why } = useExplain(id, job)
  const isNarrow = useIsNarrow()
  const isPhone = useMedia('(max-width: 719px)')
  const looked = useLookedAt()
  const lit = looked.rev ?? movesOf(history?.events)[(looked.move ?? 0) - 1]?.rev
  const litEvent = history?.events.find(({ rev }) => rev === lit)
  const client = useQueryClient()
  const own = job?.id
  const again = useSparingly(useCallback(() => void client.invalidateQueries({ queryKey: ['job', id] }), [client, id]))
  const heard = useCallback((event: JobEvent) => event.jobId === own && again(), [own, again])
  useLive(heard)
  return (
    <div className="page max-phone:pb-20">
      <Title text={`${job?.type ?? 'Job'} ${id}`}>
        <span className="flex min-w-0 items-center gap-2 text-md">
          <Link href="/jobs" className="text-text-3 hover:underline">
            Jobs
          </Link>
          <span className="text-text-3">/</span>
          <span className="truncate font-semibold">{id}</span>
        </span>
      </Title>
      {error === null ? null : <Trouble error={error} />}
      {job === undefined ? (
        error === null ? (
          <Loading rows={12} />
        ) : null
      ) : (
        <>
          <Header job={job}>{isPhone ? null : <ActionButtons job={job} />}</Header>
          {isNarrow ? <Why job={job} why={why} /> : null}
          <div className="grid items-start gap-4 desk:grid-cols-[minmax(0,1fr)_340px] wide:grid-cols-[minmax(0,1fr)_400px]">
            <div className="order-last flex min-w-0 flex-col gap-4">
              {isNarrow ? null : <Why job={job} why={why} />}
              <Facts job={job} />
              {job.lastFailure === undefined ? null : (
                <Card title="Last error">
                  <div className="px-4 pb-4">
                    <ErrorView job={job} failure={job.lastFailure} />
                  </div>
                </Card>
              )}
              {job.input === undefined || job.masked === true ? null : (
                <Card title="Input">
                  <div className="px-4 pb-4">
                    <Body value={job.input} label="input" />
                  </div>
                </Card>
              )}
              <NotPossible job={job} />
            </div>
            <div className="flex min-w-0 flex-col gap-4">
              {history === undefined ? (
                <Loading />
              ) : (
                <div className="grid items-start gap-4 wide:grid-cols-2">
                  <Path events={history.events} move={looked.move} onMove={looked.look} />
                  <TimeAxis
                    job={job}
                    events={history.events}
                    lit={litEvent === undefined ? undefined : Date.parse(litEvent.at)}
                  />
                </div>
              )}
              <JobTabs job={job} history={history} lit={lit} />
            </div>
          </div>
          {isPhone ? <ActionButtons job={job} isBar /> : null}
        </>
      )}
    </div>
  )
}

const movesOf = (events: readonly JobEvent[] | undefined): readonly JobEvent[] => {
  const last = events?.at(-1)?.generation
  return (events ?? []).filter(({ to, generation }) => to !== undefined && generation === last)
}

interface LookedAt {
  readonly move: number | undefined
  readonly rev: number | undefined
  readonly look: (move: number | undefined, rev: number | undefined) => void
}

/** The move that is looked at, and its revision: both stand in the address, so that it can be sent to somebody. */
function useLookedAt(): LookedAt {
  const [params, setParams] = useSearchParams()
  const move = Number(params.get('move') ?? Number.NaN)
  const rev = Number(/^#rev-(\d+)$/.exec(location.hash)?.[1] ?? Number.NaN)
  const look = (next: number | undefined, at: number | undefined) => {
    setParams(
      (before) => {
        const kept = new URLSearchParams(before)
        if (next === undefined) kept.delete('move')
        else kept.set('move', String(next))
        return kept
      },
      { replace: true },
    )
    // The router's addresses have no fragment: it is set behind it, and read when the page is drawn anew.
    const hash = at === undefined ? '' : `#rev-${at}`
    window.history.replaceState(window.history.state, '', location.pathname + location.search + hash)
  }
  return { move: Number.isNaN(move) ? undefined : move, rev: Number.isNaN(rev) ? undefined : rev, look }
}

function Header({ job, children }: { readonly job: Job; readonly children: ReactNode }): ReactNode {
  return (
    <div className="flex flex-wrap items-start gap-3">
      <div className="min-w-0">
        <div className="flex flex-wrap items-center gap-3">
          <h1 className="text-lg font-semibold tracking-[-0.015em] break-all">{job.type}</h1>
          <StatePill job={job} />
          <BoundTo job={job} />
          <span className="inline-flex items-center gap-1">
            <span className="mono">{job.id}</span>
            <Copy text={job.id} label="Copy the id" />
          </span>
        </div>
        <p className="text-text-2">
          <Line job={job} />
        </p>
      </div>
      <div className="ml-auto">{children}</div>
    </div>
  )
}

/** "Run 4 on worker-c1 for 7.2 s. 1 of 7 failures. Lease ends in 22 s." */
function Line({ job }: { readonly job: Job }): ReactNode {
  const now = useNow()
  const failures = `${job.policy === undefined ? job.failures : `${job.failures} of ${job.policy.maxAttempts}`} failures.`
  if (job.owner !== undefined && job.lease !== undefined)
    return (
      <>
        Run {job.attempt} on {job.owner.workerId} for{' '}
        {span(Math.max(0, now - Date.parse(job.startedAt ?? job.lease.grantedAt)))}. {failures} Lease ends{' '}
        <Moment at={job.lease.expiresAt} />.
      </>
    )
  return (
    <>
      Changed <Moment at={job.updatedAt} />. {failures} {job.attempt} {job.attempt === 1 ? 'run' : 'runs'}.
    </>
  )
}
