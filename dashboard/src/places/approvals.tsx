/** What waits for a person or a policy to let it in, and what was decided lately. */
import { type ReactNode, useState } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import { isAskedAbout } from '../actions/actions.ts'
import { useDecisions, usePending } from '../api/approvals.ts'
import { useTraffic } from '../api/queries.ts'
import { useSession } from '../api/session.tsx'
import type { Job, TrafficAnswer } from '../api/wire.ts'
import { decisionIn } from '../approvals/decision.ts'
import { DecisionTable } from '../approvals/decision-table.tsx'
import { ApprovalPanel } from '../approvals/panel.tsx'
import { byNeed, PendingTable } from '../approvals/table.tsx'
import { Title } from '../frame/title.tsx'
import { useListKeys } from '../frame/use-list-keys.ts'
import { Beside, useIsNarrow } from '../parts/beside.tsx'
import { Card } from '../parts/card.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import { Empty, Loading, Trouble } from '../parts/trouble.tsx'
import { count, inWords } from '../words/format.ts'

export function ApprovalsPlace(): ReactNode {
  const [params, setParams] = useSearchParams()
  const [pages, setPages] = useState(1)
  const { data, error } = usePending(pages)
  const isNarrow = useIsNarrow()
  const jobs = (data?.jobs ?? []).toSorted(byNeed)
  const named = params.get('job') ?? undefined
  // Beside the list there is room for the first; where there is not, whoever wants one says which.
  const chosen = named ?? (isNarrow ? undefined : jobs[0]?.id)
  const [, go] = useLocation()
  useListKeys({
    names: jobs.map(({ id }) => id),
    chosen,
    onChoose: (job) => setParams({ job }, { replace: true }),
    onOpen: (job) => go(`/jobs/${encodeURIComponent(job)}`),
  })
  return (
    <div className="page">
      <Title text="Approvals" />
      {error === null ? null : <Trouble error={error} />}
      {data === undefined ? (
        error === null ? (
          <Loading />
        ) : null
      ) : (
        <>
          <div>
            <Verdict jobs={jobs} isCut={data.isCut} />
          </div>
          <Beside
            label="To decide on"
            onClose={() => setParams({})}
            list={
              <>
                {jobs.length === 0 ? (
                  <Card>
                    <Empty title="Nothing waits to be let in" icon={<StateIcon state="succeeded" />}>
                      Jobs whose type says <code className="mono">admission: true</code> wait here until a policy or a
                      person decides.
                    </Empty>
                  </Card>
                ) : (
                  <PendingTable
                    jobs={jobs}
                    chosen={chosen}
                    note={<More isCut={data.isCut} onMore={() => setPages(pages + 1)} />}
                  />
                )}
                <Lately />
              </>
            }
            panel={chosen === undefined ? undefined : <ApprovalPanel key={chosen} id={chosen} />}
          />
        </>
      )}
    </div>
  )
}

function Verdict({ jobs, isCut }: { readonly jobs: readonly Job[]; readonly isCut: boolean }): ReactNode {
  const asked = jobs.filter(isAskedAbout).length
  const rest = jobs.length - asked
  const atLeast = isCut ? 'At least ' : ''
  const first =
    asked > 0
      ? `${isCut ? `At least ${count(asked)}` : inWords(asked)} ${asked === 1 ? 'job waits' : 'jobs wait'} for a person`
      : 'No job waits for a person'
  return (
    <>
      <p className="text-lg font-semibold tracking-[-0.015em]" aria-live="polite">
        {first}
      </p>
      <p className="text-text-2">
        {asked === 0
          ? ''
          : 'Until somebody decides they stay pending and cost nothing. What nobody decides is denied when its time is over. '}
        {rest === 0
          ? ''
          : `${atLeast}${count(rest)} ${rest === 1 ? 'waits' : 'wait'} for a policy, or for somebody who admits by hand.`}
      </p>
    </>
  )
}

function More({ isCut, onMore }: { readonly isCut: boolean; readonly onMore: () => void }): ReactNode {
  if (!isCut) return 'What a person is asked about comes first, the soonest to expire on top.'
  return (
    <>
      Those that have waited longest; there are more.
      <button type="button" className="btn" onClick={onMore}>
        Read on
      </button>
    </>
  )
}

const LATELY = 8

/** The newest decisions. Who is bound to queues is not told those of others, so there is no log for them. */
function Lately(): ReactNode {
  const session = useSession()
  const { data: traffic } = useTraffic('1h')
  const isOpen = session.queues === undefined && session.can('streamEvents')
  if (!isOpen) return null
  return <LatelyCard traffic={traffic} />
}

function LatelyCard({ traffic }: { readonly traffic: TrafficAnswer | undefined }): ReactNode {
  const { data, error } = useDecisions(undefined, LATELY)
  const decisions = (data?.events ?? []).slice(0, LATELY).map(decisionIn)
  return (
    <Card
      title="Decisions"
      note={traffic === undefined ? undefined : sumsOf(traffic)}
      right={
        <Link className="link" href="/approvals/decisions">
          All
        </Link>
      }
    >
      {error === null ? null : <Trouble error={error} />}
      {data === undefined ? (
        <Loading rows={4} />
      ) : decisions.length === 0 ? (
        <p className="px-4 pb-4 text-text-2">Nothing was decided lately.</p>
      ) : (
        <DecisionTable decisions={decisions} />
      )}
    </Card>
  )
}

const sumsOf = ({ changes }: TrafficAnswer): string => {
  const of = (wanted: string) =>
    changes.filter(({ event }) => event === wanted).reduce((total, each) => total + each.count, 0)
  return `last hour: ${count(of('admitted'))} let in, ${count(of('denied'))} denied`
}
