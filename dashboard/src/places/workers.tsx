import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { useWorkers } from '../api/queries.ts'
import type { Worker } from '../api/wire.ts'
import { Title } from '../frame/title.tsx'
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
  const besides = id === undefined ? 'hidden phone:table-cell' : 'hidden'
  const chosen = data?.find(({ workerId }) => workerId === id)
  const present = (data ?? []).filter((worker) => worker.present)
  const running = present.reduce((sum, worker) => sum + (worker.running ?? 0), 0)
  const slots = present.reduce((sum, worker) => sum + (worker.concurrency ?? 0), 0)
  const [isWhole, setWhole] = useState(false)
  // Who is there comes first; the latest of those that are gone is the one somebody asks about.
  const gone = (data ?? []).filter((worker) => !worker.present).toSorted((a, b) => (a.seenAt < b.seenAt ? 1 : -1))
  const shown = [...present, ...(isWhole ? gone : gone.filter(({ workerId }) => workerId === id))]
  return (
    <div className="flex flex-col gap-4 p-4 phone:px-6 phone:py-5">
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
          <div
            className={`grid items-start gap-4 ${id === undefined ? '' : 'desk:grid-cols-[minmax(0,1fr)_400px] wide:grid-cols-[minmax(0,1fr)_560px]'}`}
          >
            <Card className={id === undefined ? '' : 'hidden phone:block'}>
              <Scroll label="Workers">
                <table className="rows">
                  <thead>
                    <tr>
                      <th>Worker</th>
                      <th>Load</th>
                      <th className={besides}>Queues</th>
                      <th className={besides}>Types</th>
                      <th className={besides}>Host</th>
                      <th className="num">Seen</th>
                    </tr>
                  </thead>
                  <VirtualRows items={shown} keyOf={({ workerId }) => workerId}>
                    {(worker) => <WorkerRow worker={worker} isChosen={worker.workerId === id} besides={besides} />}
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
            {id === undefined ? null : chosen === undefined ? (
              <Empty title={`There is no worker ${id}`}>Workers that have gone are forgotten after a while.</Empty>
            ) : (
              <WorkerPanel worker={chosen} />
            )}
          </div>
        </>
      )}
    </div>
  )
}

interface WorkerRowProps {
  readonly worker: Worker
  readonly isChosen: boolean
  /** Of cells that have no room on a phone, or beside a panel that says the same. */
  readonly besides: string
}

function WorkerRow({ worker, isChosen, besides }: WorkerRowProps): ReactNode {
  const { workerId, running = 0, concurrency = 0, queues = [], types, host, pid, version, seenAt, present } = worker
  const where = [host, pid === undefined ? undefined : `pid ${pid}`, version]
    .filter((part) => part !== undefined)
    .join(', ')
  return (
    <tr className={isChosen ? 'bg-hover' : ''}>
      <td className="mono w-full max-w-0 truncate py-2 font-medium phone:w-auto phone:max-w-none phone:break-all phone:whitespace-normal">
        <Link className="hover:underline" title="What it holds" href={`/workers/${encodeURIComponent(workerId)}`}>
          {workerId}
        </Link>
        {present ? '' : <span className="font-sans text-text-3"> gone</span>}
        <span className="block truncate font-sans font-normal text-text-3 phone:hidden">{queues.join(', ')}</span>
      </td>
      <td className="phone:min-w-32">
        <span className="flex items-center gap-2">
          <span className="hidden h-1.5 w-16 overflow-hidden phone:block rounded-full bg-hover">
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
      <td className={`text-text-2 ${besides}`}>{queues.join(', ')}</td>
      <td className={`max-w-80 truncate text-text-2 ${besides}`} title={types?.join(', ')}>
        {types?.join(', ') ?? 'any'}
      </td>
      <td className={`text-text-2 ${besides}`}>{where}</td>
      <td className="num whitespace-nowrap text-text-2">
        <Moment at={seenAt} />
      </td>
    </tr>
  )
}
