/** One queue: what is in it, who serves it, and what has waited longest. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Machine, Queue, Worker } from '../api/wire.ts'
import { FewJobs } from '../jobs/few.tsx'
import { quoted } from '../jobs/query.ts'
import { Card } from '../parts/card.tsx'
import { FactList } from '../parts/fact-list.tsx'
import { Icon } from '../parts/icon.tsx'
import { Moment } from '../parts/moment.tsx'
import { StateWord } from '../parts/state-word.tsx'
import { count, rate } from '../words/format.ts'
import { servingOf } from '../workers/serving.ts'
import { PauseButton } from './pause-button.tsx'

export interface QueuePanelProps {
  readonly queue: Queue
  readonly machine: Machine
  readonly workers: readonly Worker[]
  readonly perMinute: number | undefined
}

export function QueuePanel({ queue, machine, workers, perMinute }: QueuePanelProps): ReactNode {
  const asked = `queue:${quoted(queue.queue)}`
  const serving = servingOf(workers, queue.queue)
  const states = machine.states.filter((state) => (queue.counts[state] ?? 0) > 0)
  const isLive = states.filter((state) => !machine.terminal.includes(state))
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <Card
        title={queue.queue}
        note={queue.paused ? 'paused' : 'open'}
        right={
          <Link href="/queues" aria-label="Close" className="icon-button max-desk:hidden">
            <Icon name="close" />
          </Link>
        }
      >
        <div className="flex flex-col gap-4 px-4 pb-4">
          <span>
            <PauseButton queue={queue} />
          </span>
          <FactList
            facts={[
              ['Paused by', queue.paused && queue.pausedBy],
              ['Paused', queue.pausedSince && <Moment at={queue.pausedSince} />],
              [
                'Oldest ready',
                queue.readySince === undefined ? 'none' : <Moment key="oldest" at={queue.readySince} as="ago" />,
              ],
              ['Ended', perMinute !== undefined && `${rate(perMinute)}, over the last 15 minutes`],
              ['Workers', <Serving key="workers" workers={serving} />],
            ]}
          />
          <ul aria-label="Jobs by state">
            {states.map((state) => (
              <li key={state} className="flex items-center py-0.5">
                <Link className="hover:underline" href={`/jobs?q=${encodeURIComponent(`${asked} state:${state}`)}`}>
                  <StateWord state={state} />
                </Link>
                <span className="ml-auto">{count(queue.counts[state] ?? 0)}</span>
              </li>
            ))}
          </ul>
        </div>
      </Card>
      <FewJobs
        title="Live in it"
        query={isLive.length === 0 ? `${asked} state:queued` : `${asked} state:${isLive.join(',')}`}
        none="Nothing in it is live."
      />
    </div>
  )
}

function Serving({ workers }: { readonly workers: readonly Worker[] }): ReactNode {
  if (workers.length === 0) return 'none'
  return workers.map(({ workerId }, n) => (
    <span key={workerId}>
      {n === 0 ? '' : ', '}
      <Link className="link mono" href={`/workers/${encodeURIComponent(workerId)}`}>
        {workerId}
      </Link>
    </span>
  ))
}
