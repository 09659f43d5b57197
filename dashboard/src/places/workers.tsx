import { type ReactNode, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { useWorkers } from '../api/queries.ts'
import type { Worker } from '../api/wire.ts'
import { Title } from '../frame/title.tsx'
import { Beside } from '../parts/beside.tsx'
import { Card } from '../parts/card.tsx'
import { Moment } from '../parts/moment.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { Empty, Loading, Trouble } from '../parts/trouble.tsx'
import { VirtualRows } from '../parts/virtual-rows.tsx'
import { count, inWords } from '../words/format.ts'
import { WorkerPanel } from '../workers/panel.tsx'

/** Who works, on what, and how busy they are. */
export function WorkersPlace({ id }: { readonly id?: string | undefined }): ReactNode {
  const { data, error } = useWorkers()
  const [, go] = useLocation()
  const chosen = data?.find(({ workerId }) => workerId === id)
  const present = (data ?? []).filter((worker) => worker.present)
  const running = present.reduce((sum, worker) => sum + (worker.running ?? 0), 0)
  const slots = present.reduce((sum, worker) => sum + (worker.concurrency ?? 0), 0)
  const [isWhole, setWhole] = useState(false)
  // Who is there comes first; the latest of those that are gone is the one somebody asks about.
  const gone = (data ?? []).filter((worker) => !worker.present).toSorted((a, b) => (a.seenAt < b.seenAt ? 1 : -1))
  const shown = [...present, ...(isWhole ? gone : gone.filter(({ workerId }) => workerId === id))]
  return (
    <div className="page">
      <Title text="Workers" />
      {error === null ? null : <Trouble error={error} />}
      {data === undefined ? (
        <Loading />
      ) : data.length === 0 ? (
        <Empty title="No worker has been here">
          Start one: <code className="mono">pawl work ./jobs.ts</code>
        </Empty>
      ) : (
        <>
          <div>
            <p className="text-lg font-semibold tracking-[-0.015em]">
              {inWords(present.length)} {present.length === 1 ? 'worker is' : 'workers are'} there
            </p>
            <p className="text-text-2">
              {count(running)} of {count(slots)} slots were taken when they last told.
            </p>
          </div>
          <Beside
            label={`Worker ${id}`}
            onClose={() => go('/workers')}
            list={
              <Card>
                <Scroll label="Workers">
                  <table className="rows">
                    <thead>
                      <tr>
                        <th>Worker</th>
                        <th>Load</th>
                        <th className="hidden @min-[600px]:table-cell">Queues</th>
                        <th className="hidden @min-[1000px]:table-cell">Types</th>
                        <th className="hidden @min-[760px]:table-cell">Host</th>
                        <th className="num">Seen</th>
                      </tr>
                    </thead>
                    <VirtualRows items={shown} keyOf={({ workerId }) => workerId}>
                      {(worker) => <WorkerRow worker={worker} isChosen={worker.workerId === id} />}
                    </VirtualRows>
                  </table>
                </Scroll>
                {gone.length === 0 ? null : (
                  <p className="border-t border-line px-4 py-2">
                    <button
                      type="button"
                      className="link text-sm"
                      aria-expanded={isWhole}
                      onClick={() => setWhole(!isWhole)}
                    >
                      {isWhole ? 'Without those that are gone' : `${count(gone.length)} that are gone`}
                    </button>
                  </p>
                )}
              </Card>
            }
            panel={
              id === undefined ? undefined : chosen === undefined ? (
                <Empty title={`There is no worker ${id}`}>Workers that have gone are forgotten after a while.</Empty>
              ) : (
                <WorkerPanel worker={chosen} />
              )
            }
          />
        </>
      )}
    </div>
  )
}

interface WorkerRowProps {
  readonly worker: Worker
  readonly isChosen: boolean
}

function WorkerRow({ worker, isChosen }: WorkerRowProps): ReactNode {
  const { workerId, running = 0, concurrency = 0, queues = [], types, host, pid, version, seenAt, present } = worker
  const where = [host, pid === undefined ? undefined : `pid ${pid}`, version]
    .filter((part) => part !== undefined)
    .join(', ')
  return (
    <tr className={isChosen ? 'bg-hover' : ''}>
      <td className="mono w-full max-w-0 truncate py-2 font-medium @min-[600px]:w-auto @min-[600px]:max-w-none @min-[600px]:break-all @min-[600px]:whitespace-normal">
        <Link className="hover:underline" title="What it holds" href={`/workers/${encodeURIComponent(workerId)}`}>
          {workerId}
        </Link>
        {present ? '' : <span className="font-sans text-text-3"> gone</span>}
        <span className="block truncate font-sans font-normal text-text-3 @min-[600px]:hidden">
          {queues.join(', ')}
        </span>
      </td>
      <td className="@min-[600px]:min-w-32">
        <span className="flex items-center gap-2">
          <span className="hidden h-1.5 w-16 overflow-hidden rounded-full @min-[600px]:block bg-hover">
            <span
              className="block h-full bg-work"
              style={{ width: `${concurrency === 0 || !present ? 0 : Math.min(100, (100 * running) / concurrency)}%` }}
            />
          </span>
          <span className="whitespace-nowrap text-text-2">
            {present ? `${count(running)} of ${count(concurrency)}` : '–'}
          </span>
        </span>
      </td>
      <td className="hidden text-text-2 @min-[600px]:table-cell">{queues.join(', ')}</td>
      <td className="hidden max-w-80 truncate text-text-2 @min-[1000px]:table-cell" title={types?.join(', ')}>
        {types?.join(', ') ?? 'any'}
      </td>
      <td className="hidden text-text-2 @min-[760px]:table-cell">{where}</td>
      <td className="num whitespace-nowrap text-text-2">
        <Moment at={seenAt} />
      </td>
    </tr>
  )
}
