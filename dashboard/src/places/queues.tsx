import type { ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import { useMachine, useQueues, useTraffic, useWorkers } from '../api/queries.ts'
import { isReserved, type Machine, type Queue, type TrafficAnswer, type Worker } from '../api/wire.ts'
import { Title } from '../frame/title.tsx'
import { minutesOf } from '../machine/minutes.ts'
import { Beside } from '../parts/beside.tsx'
import { Card } from '../parts/card.tsx'
import { Moment } from '../parts/moment.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { Empty, Loading, Trouble } from '../parts/trouble.tsx'
import { VirtualRows } from '../parts/virtual-rows.tsx'
import { Mix } from '../queues/mix.tsx'
import { QueuePanel } from '../queues/panel.tsx'
import { PauseButton } from '../queues/pause-button.tsx'
import { count, inWords, rate } from '../words/format.ts'
import { isAlone, servingOf } from '../workers/serving.ts'

/** What has ended in each queue is counted over this. */
const WINDOW = '15m'

/** Queues: how much is in them, since when something waits, what ends a minute, who serves them; and the pause. */
export function QueuesPlace({ name }: { readonly name?: string | undefined }): ReactNode {
  const { data, error } = useQueues()
  const [, go] = useLocation()
  const { data: workers } = useWorkers()
  const { data: machine } = useMachine()
  const { data: traffic } = useTraffic(WINDOW)
  const chosen = data?.find(({ queue }) => queue === name)
  const paused = (data ?? []).filter((queue) => queue.paused).length
  return (
    <div className="page">
      <Title text="Queues" />
      {error === null ? null : <Trouble error={error} />}
      {data === undefined || machine === undefined ? (
        <Loading />
      ) : data.length === 0 ? (
        <Empty title="No queue yet">A queue is there once a job has been in it.</Empty>
      ) : (
        <>
          <p className="text-lg font-semibold tracking-[-0.015em]">
            {inWords(data.length)} {data.length === 1 ? 'queue' : 'queues'},{' '}
            {paused === 0 ? 'none paused' : `${count(paused)} paused`}
          </p>
          <Beside
            label={`Queue ${name}`}
            onClose={() => go('/queues')}
            list={
              <Card>
                <Scroll label="Queues">
                  <table className="rows">
                    <thead>
                      <tr>
                        <th>Queue</th>
                        <th className="num">Live</th>
                        <th className="hidden @min-[800px]:table-cell">Of which</th>
                        <th className="num">Oldest ready</th>
                        <th className="num hidden @min-[600px]:table-cell" title="Over the last 15 minutes">
                          Ended
                        </th>
                        <th className="num hidden @min-[600px]:table-cell">Workers</th>
                        <th className="hidden @min-[600px]:table-cell">State</th>
                        <th aria-label="Actions" />
                      </tr>
                    </thead>
                    <VirtualRows items={data} keyOf={({ queue }) => queue}>
                      {(queue) => (
                        <QueueRow
                          queue={queue}
                          machine={machine}
                          workers={workers ?? []}
                          perMinute={endedPerMinute(traffic, queue.queue)}
                          isChosen={queue.queue === name}
                        />
                      )}
                    </VirtualRows>
                  </table>
                </Scroll>
              </Card>
            }
            panel={
              name === undefined ? undefined : chosen === undefined ? (
                <Empty title={`There is no queue ${name}`}>A queue is there once a job has been in it.</Empty>
              ) : (
                <QueuePanel
                  queue={chosen}
                  machine={machine}
                  workers={workers ?? []}
                  perMinute={endedPerMinute(traffic, name)}
                />
              )
            }
          />
        </>
      )}
    </div>
  )
}

interface QueueRowProps {
  readonly queue: Queue
  readonly machine: Machine
  readonly workers: readonly Worker[]
  readonly perMinute: number | undefined
  readonly isChosen: boolean
}

/** Undefined where it is not counted yet. */
function endedPerMinute(traffic: TrafficAnswer | undefined, queue: string): number | undefined {
  if (traffic === undefined) return undefined
  return (traffic.ended.find((each) => each.queue === queue)?.count ?? 0) / minutesOf(traffic)
}

function QueueRow({ queue, machine, workers, perMinute, isChosen }: QueueRowProps): ReactNode {
  const live = machine.states.filter((state) => !machine.terminal.includes(state))
  const total = live.reduce((sum, state) => sum + (queue.counts[state] ?? 0), 0)
  const serving = servingOf(workers, queue.queue).length
  return (
    <tr className={isChosen ? 'bg-hover' : ''}>
      <td>
        <Link className="font-medium hover:underline" href={`/queues/${encodeURIComponent(queue.queue)}`}>
          {queue.queue}
        </Link>
        {queue.paused ? <b className="block text-sm font-medium @min-[600px]:hidden">paused</b> : null}
      </td>
      <td className="num">{count(total)}</td>
      <td className="hidden min-w-48 @min-[800px]:table-cell">
        <Mix queue={queue} states={live} total={total} />
      </td>
      <td className="num whitespace-nowrap text-text-2">
        {queue.readySince === undefined ? 'none' : <Moment at={queue.readySince} as="ago" />}
      </td>
      <td className="num hidden whitespace-nowrap text-text-2 @min-[600px]:table-cell">
        {perMinute === undefined ? '' : rate(perMinute)}
      </td>
      <td
        className={`num hidden @min-[600px]:table-cell ${isAlone(workers, queue.queue) ? 'font-medium text-again' : 'text-text-2'}`}
      >
        {isReserved(queue.queue) ? 'any' : serving === 0 ? 'none' : count(serving)}
      </td>
      <td className="hidden whitespace-nowrap text-text-2 @min-[600px]:table-cell">
        {queue.paused ? (
          <>
            <b className="font-medium text-text">paused</b>
            {queue.pausedBy === undefined ? '' : ` by ${queue.pausedBy}`}{' '}
            {queue.pausedSince === undefined ? null : <Moment at={queue.pausedSince} />}
          </>
        ) : (
          'open'
        )}
      </td>
      <td className="num">
        <PauseButton queue={queue} />
      </td>
    </tr>
  )
}
