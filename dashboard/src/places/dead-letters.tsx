/** What was put aside, by what it has in common; and the way back: counted, a few first, then the rest. */
import { type ReactNode, useState } from 'react'
import { Link, Redirect, useLocation, useSearchParams } from 'wouter'
import { useJob } from '../api/job.ts'
import { useCauses, useTakers, useTally, useTraffic } from '../api/queries.ts'
import { useSession } from '../api/session.tsx'
import type { CauseAnswer, TrafficAnswer } from '../api/wire.ts'
import { Hours } from '../dead-letters/hours.tsx'
import { Sample } from '../dead-letters/sample.tsx'
import { useKeys } from '../frame/keys.ts'
import { Title } from '../frame/title.tsx'
import { useListKeys } from '../frame/use-list-keys.ts'
import { Operate } from '../operations/operate.tsx'
import { forbiddenTo } from '../operations/words.ts'
import { Beside, useIsNarrow } from '../parts/beside.tsx'
import { Card } from '../parts/card.tsx'
import { Moment } from '../parts/moment.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import { Tip } from '../parts/tip.tsx'
import { Empty, Loading, Trouble } from '../parts/trouble.tsx'
import { VirtualRows } from '../parts/virtual-rows.tsx'
import { count, inWords, plural, relative } from '../words/format.ts'
import { useNow } from '../words/now.ts'
import { useWords } from '../words/vocabulary.tsx'

export function DeadLettersPlace(): ReactNode {
  const { data, error } = useCauses()
  const { data: tally } = useTally()
  const { data: traffic } = useTraffic('24h')
  const [params, setParams] = useSearchParams()
  const causes = data?.causes ?? []
  const isNarrow = useIsNarrow()
  const [, go] = useLocation()
  // Beside the list there is room for the first; where there is not, whoever wants one says which.
  const chosen =
    causes.find(({ fingerprint }) => fingerprint === params.get('group')) ?? (isNarrow ? undefined : causes[0])
  const hopeful = chosen ?? causes[0]
  useListKeys({
    names: causes.map(({ fingerprint }) => fingerprint),
    chosen: chosen?.fingerprint,
    onChoose: (group) => setParams({ group }, { replace: true }),
    onOpen: (group) => go(listOf(group)),
  })
  const all = (tally?.counts ?? [])
    .filter(({ state }) => state === 'dead_lettered')
    .reduce((sum, each) => sum + each.count, 0)
  if (params.get('by') === 'one') return <Redirect to={`/jobs?q=${ONE_BY_ONE}`} replace />
  return (
    <div className="page">
      <Title text="Dead letters" />
      {error === null ? null : <Trouble error={error} />}
      {data === undefined ? (
        error === null ? (
          <Loading />
        ) : null
      ) : causes.length === 0 ? (
        <Card>
          <Empty title="No dead letters" icon={<StateIcon state="succeeded" />}>
            <LastReopened />
          </Empty>
        </Card>
      ) : (
        <>
          <div>
            <p className="text-lg font-semibold tracking-[-0.015em]">
              <Link className="link float-right text-sm font-normal" href={`/jobs?q=${ONE_BY_ONE}`}>
                One by one
              </Link>
              {plural(Math.max(all, data.read), 'dead letter')}, {inWords(causes.length).toLowerCase()}{' '}
              {causes.length === 1 ? 'cause' : 'causes'}
            </p>
            <p className="text-text-2">
              {hopeful === undefined ? '' : <Hope cause={hopeful} traffic={traffic} />}
              {data.cursor === undefined ? '' : ` The newest ${count(data.read)} were read.`}
            </p>
          </div>
          <Beside
            label="Cause"
            list={<CauseTable causes={causes} chosen={chosen} onChoose={(group) => setParams({ group })} />}
            panel={chosen === undefined ? undefined : <CausePanel key={chosen.fingerprint} cause={chosen} />}
            onClose={() => setParams({})}
          />
        </>
      )}
    </div>
  )
}

/** Who saw to the last one, and how that went. */
function LastReopened(): ReactNode {
  const { data: takers } = useTakers()
  const last = (takers ?? [])
    .filter(({ event, from }) => event === 'reopened' && from === 'dead_lettered')
    .flatMap(({ jobs }) => jobs)
    .toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))[0]
  if (last === undefined) return 'Nothing is waiting for somebody to look at it.'
  return (
    <>
      The last one,{' '}
      <Link className="link mono" href={`/jobs/${encodeURIComponent(last.id)}`}>
        {last.id}
      </Link>
      , was reopened by {last.by} <Moment at={last.at} />
      <HowItWent id={last.id} />.
    </>
  )
}

function HowItWent({ id }: { readonly id: string }): ReactNode {
  const { data: job } = useJob(id)
  const words = useWords()
  if (job === undefined) return null
  return job.state === 'succeeded' ? ' and succeeded' : ` and is ${words.state(job.state)}`
}

const ONE_BY_ONE = 'state:dead_lettered'

const listOf = (fingerprint: string): string => `/jobs?q=${encodeURIComponent(`${ONE_BY_ONE} cause:${fingerprint}`)}`

/** Whether other jobs of these types succeed again. */
function Hope({
  cause,
  traffic,
}: {
  readonly cause: CauseAnswer
  readonly traffic: TrafficAnswer | undefined
}): ReactNode {
  const now = useNow()
  const share = `${count(cause.count)} share the cause ${cause.code}.`
  const since = traffic?.lastSuccess.find(
    ({ type, at }) => cause.types.includes(type) && Date.parse(at) > Date.parse(cause.lastAt),
  )
  if (since === undefined)
    return `${share} No job of these types has succeeded since the last of them, as far as was counted.`
  return `${share} ${since.type} has succeeded since, ${relative(Date.parse(since.at), now)}: a good moment to redrive.`
}

interface CauseTableProps {
  readonly causes: readonly CauseAnswer[]
  readonly chosen: CauseAnswer | undefined
  readonly onChoose: (fingerprint: string) => void
}

function CauseTable({ causes, chosen, onChoose }: CauseTableProps): ReactNode {
  const most = Math.max(1, ...causes.flatMap(({ hours }) => hours))
  return (
    <Card>
      <table className="rows">
        <thead>
          <tr>
            <th className="num">Jobs</th>
            <th>Cause</th>
            <th className="hidden phone:table-cell">Types</th>
            <th className="hidden phone:table-cell">Last 12 h</th>
            <th className="num hidden phone:table-cell">First</th>
            <th className="num">Last</th>
          </tr>
        </thead>
        <VirtualRows items={causes} keyOf={({ fingerprint }) => fingerprint} rowPx={56}>
          {(cause) => (
            <tr className={cause === chosen ? 'bg-hover shadow-[inset_2px_0_var(--focus)]' : 'hover:bg-hover'}>
              <td className="num text-md font-semibold">{count(cause.count)}</td>
              <td className="w-full max-w-0 py-2">
                <button
                  type="button"
                  className="block w-full text-left"
                  aria-pressed={cause === chosen}
                  onClick={() => onChoose(cause.fingerprint)}
                >
                  <span className="mono font-medium">{cause.code}</span>{' '}
                  {cause.reason === undefined ? null : (
                    <span className="rounded-sm bg-sunken px-1.5 text-sm text-text-2">{cause.reason}</span>
                  )}
                  <span className="mono block truncate text-text-2">{cause.message}</span>
                </button>
              </td>
              <td className="hidden max-w-56 truncate whitespace-nowrap text-text-2 phone:table-cell">
                {cause.types.join(', ')}
              </td>
              <td className="hidden phone:table-cell">
                <Hours hours={cause.hours} most={most} />
              </td>
              <td className="num hidden whitespace-nowrap text-text-2 phone:table-cell">
                <Moment at={cause.firstAt} as="ago" />
              </td>
              <td className="num whitespace-nowrap text-text-2">
                <Moment at={cause.lastAt} as="ago" />
              </td>
            </tr>
          )}
        </VirtualRows>
      </table>
      <p className="border-t border-line px-4 py-2 text-sm text-text-3">
        {'<n>, <id>, <url> and the like stand for what differs from job to job.'} Jobs that differ only there share a
        cause.
      </p>
    </Card>
  )
}

function CausePanel({ cause }: { readonly cause: CauseAnswer }): ReactNode {
  const [sample] = cause.samples
  return (
    <div className="flex flex-col gap-4">
      <Card
        title={<span className="mono">{cause.code}</span>}
        note={plural(cause.count, 'job')}
        right={
          <Link className="link" href={listOf(cause.fingerprint)}>
            Open as list
          </Link>
        }
      >
        {sample === undefined ? null : <Sample key={sample.id} sample={sample} />}
        {cause.samples.map(({ id, type, failures, endedAt }) => (
          <Link
            key={id}
            href={`/jobs/${encodeURIComponent(id)}`}
            className="grid h-9 grid-cols-[minmax(0,1fr)_minmax(0,1fr)_auto_minmax(56px,auto)] items-center gap-2 border-t border-line px-4 hover:bg-hover"
          >
            <span className="truncate font-medium">{type}</span>
            <span className="mono truncate text-text-3">{id}</span>
            <span className="text-text-2">{plural(failures, 'failure')}</span>
            <span className="text-right text-sm whitespace-nowrap text-text-3">
              <Moment at={endedAt} as="ago" />
            </span>
          </Link>
        ))}
        {cause.count > cause.samples.length ? (
          <p className="border-t border-line px-4 py-2 text-sm text-text-3">
            and {count(cause.count - cause.samples.length)} more
          </p>
        ) : null}
      </Card>
      <Redrive cause={cause} />
    </div>
  )
}

/** All that share the cause, as an operation: also those that were not read for this page. Nothing is counted before somebody asks. */
function Redrive({ cause }: { readonly cause: CauseAnswer }): ReactNode {
  const why = forbiddenTo(useSession(), 'redrive')
  const [isAsked, setAsked] = useState(false)
  useKeys(why === undefined ? { r: () => setAsked(true) } : {})
  return (
    <Card
      title="Redrive"
      note="counted, a few first, then the rest"
      right={
        isAsked ? undefined : why === undefined ? (
          <button type="button" className="btn btn-ink" onClick={() => setAsked(true)}>
            Redrive… <kbd>r</kbd>
          </button>
        ) : (
          <Tip text={why}>
            <button type="button" className="btn" aria-disabled="true">
              Redrive
            </button>
          </Tip>
        )
      }
    >
      {isAsked ? (
        <div className="px-4 pb-4">
          <Operate action="redrive" query={`cause:${cause.fingerprint}`} canary={Math.min(3, cause.count)} />
        </div>
      ) : null}
    </Card>
  )
}
