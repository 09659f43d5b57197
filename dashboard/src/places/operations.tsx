/** What is done to many jobs: how far it is, what was refused, and the way to stop it. */
import type { ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import { type Operation, useOperation, useOperations } from '../api/operations.ts'
import { Title } from '../frame/title.tsx'
import { Bar, OperationProgress, StopButton } from '../operations/progress.tsx'
import { summed, titleOf } from '../operations/words.ts'
import { Beside } from '../parts/beside.tsx'
import { Card } from '../parts/card.tsx'
import { FactList } from '../parts/fact-list.tsx'
import { Icon } from '../parts/icon.tsx'
import { Moment } from '../parts/moment.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { StateWord } from '../parts/state-word.tsx'
import { Empty, Loading, Trouble } from '../parts/trouble.tsx'
import { VirtualRows } from '../parts/virtual-rows.tsx'
import { count, inWords, plural, span } from '../words/format.ts'
import { useKept } from '../words/kept.ts'

export function OperationsPlace({ id }: { readonly id?: string | undefined }): ReactNode {
  const { data, error } = useOperations()
  const [, go] = useLocation()
  const [counts, setCounts] = useKept('operation-counts', 'hidden')
  const operations = (data?.operations ?? []).filter(({ dryRun }) => !dryRun || counts === 'shown')
  return (
    <div className="page">
      <Title text="Operations" />
      {error === null ? null : <Trouble error={error} />}
      {data === undefined ? (
        <Loading />
      ) : data.operations.length === 0 && id === undefined ? (
        <Empty title="Nothing has been done to many jobs yet">
          Redrive dead letters by their cause, or search for jobs and choose “All of them…”. It is counted first, and
          watched here.
        </Empty>
      ) : (
        <>
          <div className="flex flex-wrap items-start gap-3">
            <Verdict operations={data.operations} isCut={data.cursor !== undefined} />
            <label className="flex items-center gap-2 text-sm text-text-2">
              <input
                type="checkbox"
                checked={counts === 'shown'}
                onChange={(event) => setCounts(event.target.checked ? 'shown' : 'hidden')}
              />
              What was counted only, too
            </label>
          </div>
          <Beside
            label="Operation"
            list={<Table operations={operations} chosen={id} />}
            panel={id === undefined ? undefined : <Panel key={id} id={id} />}
            onClose={() => go('/operations')}
          />
        </>
      )}
    </div>
  )
}

interface VerdictProps {
  readonly operations: readonly Operation[]
  readonly isCut: boolean
}

function Verdict({ operations, isCut }: VerdictProps): ReactNode {
  const acts = operations.filter(({ dryRun }) => !dryRun)
  const live = acts.filter(({ endedAt }) => endedAt === undefined).length
  const failed = acts.filter(({ error }) => error !== undefined).length
  return (
    <div className="min-w-0 flex-1 basis-60">
      <p className="text-lg font-semibold tracking-[-0.015em]">
        {live === 0 ? 'Nothing is under way' : `${inWords(live)} ${live === 1 ? 'is' : 'are'} under way`}
      </p>
      <p className="text-text-2">
        {plural(acts.length, 'operation')}
        {isCut ? ', and older ones' : ''}, {failed === 0 ? 'none failed' : `${count(failed)} failed`}. What is done to a
        job is in its log, too.
      </p>
    </div>
  )
}

interface TableProps {
  readonly operations: readonly Operation[]
  readonly chosen: string | undefined
}

function Table({ operations, chosen }: TableProps): ReactNode {
  return (
    <Card>
      <Scroll label="Operations">
        <table className="rows">
          <thead>
            <tr>
              <th>Operation</th>
              <th>State</th>
              <th className="num">Done</th>
              <th className="num hidden @min-[480px]:table-cell">Refused</th>
              <th className="hidden @min-[720px]:table-cell">By</th>
              <th className="num hidden @min-[560px]:table-cell">Asked</th>
            </tr>
          </thead>
          <VirtualRows items={operations} keyOf={({ id }) => id} rowPx={56}>
            {(operation) => <Row operation={operation} isChosen={operation.id === chosen} />}
          </VirtualRows>
        </table>
      </Scroll>
    </Card>
  )
}

function Row({ operation, isChosen }: { readonly operation: Operation; readonly isChosen: boolean }): ReactNode {
  const { id, query, state, report, by, askedAt, endedAt, dryRun } = operation
  return (
    <tr className={isChosen ? 'bg-hover shadow-[inset_2px_0_var(--focus)]' : 'hover:bg-hover'}>
      <td className="w-full max-w-0 py-2">
        <Link
          className={`block truncate hover:underline ${dryRun ? 'text-text-2' : 'font-medium'}`}
          href={`/operations/${encodeURIComponent(id)}`}
        >
          {titleOf(operation)}
        </Link>
        <span className="mono block truncate text-text-3">{queryText(query)}</span>
      </td>
      <td className="min-w-32">
        <StateWord state={state} />
        {endedAt === undefined ? <Bar operation={operation} /> : null}
      </td>
      <td className="num whitespace-nowrap">
        {dryRun ? <span className="text-text-3">{count(report.matched)} found</span> : count(report.done)}
      </td>
      <td className={`num hidden @min-[480px]:table-cell ${report.refused > 0 ? '' : 'text-text-3'}`}>
        {count(report.refused)}
      </td>
      <td className="hidden max-w-40 truncate text-text-2 @min-[720px]:table-cell">{by}</td>
      <td className="num hidden whitespace-nowrap text-text-2 @min-[560px]:table-cell">
        <Moment at={askedAt} as="ago" />
      </td>
    </tr>
  )
}

const queryText = (query: string | undefined): string =>
  query === undefined ? 'not shown: it may quote inputs' : query === '' ? 'all dead letters' : query

function Panel({ id }: { readonly id: string }): ReactNode {
  const { data: operation, error } = useOperation(id)
  if (error !== null) return <Trouble error={error} />
  if (operation === undefined) return <Loading />
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <Card
        title={titleOf(operation)}
        note={<StateWord state={operation.state} />}
        right={
          <Link href="/operations" aria-label="Close" className="icon-button max-desk:hidden">
            <Icon name="close" />
          </Link>
        }
      >
        <div className="flex flex-col gap-3 px-4 pb-4">
          <p className="mono rounded-md bg-sunken p-2 break-words">{queryText(operation.query)}</p>
          <OperationProgress operation={operation} />
          <Facts operation={operation} />
          <span className="flex items-center gap-3">
            <StopButton operation={operation} />
            <Link className="link" href={`/jobs/${encodeURIComponent(id)}`}>
              As a job
            </Link>
          </span>
        </div>
      </Card>
      <Found operation={operation} />
    </div>
  )
}

function Facts({ operation }: { readonly operation: Operation }): ReactNode {
  const { by, reason, canary, isEdited, mode, action, askedAt, endedAt, report, error } = operation
  return (
    <FactList
      facts={[
        ['Asked by', by],
        ['Asked', <Moment key="asked" at={askedAt} />],
        ['Took', endedAt !== undefined && span(Date.parse(endedAt) - Date.parse(askedAt))],
        ['Why', reason],
        ['How', action === 'cancel' && (mode === 'soft' ? 'softly' : 'hard')],
        ['First', canary !== undefined && `${count(canary.first)}, within ${span(canary.withinMs)}`],
        ['Input', isEdited && 'edited: new jobs took the place of those found'],
        ['Found', count(report.matched)],
        [
          'Code',
          error !== undefined && (
            <span key="code" className="mono">
              {error.code}
            </span>
          ),
        ],
        [
          'Went first',
          report.canaries.length > 0 && (
            <span key="canaries">
              {report.canaries.slice(0, 5).map((job) => (
                <Link key={job} className="link mono mr-2" href={`/jobs/${encodeURIComponent(job)}`}>
                  {job}
                </Link>
              ))}
            </span>
          ),
        ],
      ]}
    />
  )
}

/** By what it found them to be, the most frequent first. */
function Found({ operation: { report } }: { readonly operation: Operation }): ReactNode {
  const sums = summed(report.counts, ({ type, state, reason, code }) =>
    [type, state, reason, code].filter((each) => each !== undefined).join(' · '),
  )
  if (sums.length === 0) return null
  return (
    <Card title="What was found">
      {sums.slice(0, 20).map(([name, n]) => (
        <p key={name} className="flex gap-3 border-t border-line px-4 py-1.5">
          <span className="min-w-0 flex-1 break-words">{name}</span>
          <span>{count(n)}</span>
        </p>
      ))}
    </Card>
  )
}
