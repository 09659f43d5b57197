import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { ask, segment } from '../api/http.ts'
import { useMachine, useQueues, useWorkers } from '../api/queries.ts'
import { useSession } from '../api/session.tsx'
import type { Machine, Queue, State, Worker } from '../api/wire.ts'
import { Title } from '../frame/title.tsx'
import { FAMILY } from '../machine/families.ts'
import { Card } from '../parts/card.tsx'
import { Moment } from '../parts/moment.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { Tip } from '../parts/tip.tsx'
import { refusal, useSay } from '../parts/toasts.tsx'
import { Empty, Loading, Trouble } from '../parts/trouble.tsx'
import { count, inWords, plural } from '../words/format.ts'

/** Queues: how much is in them, since when something waits, who serves them; and the pause. */
export function QueuesPlace(): ReactNode {
  const { data, error } = useQueues()
  const { data: workers } = useWorkers()
  const { data: machine } = useMachine()
  const paused = (data ?? []).filter((queue) => queue.paused).length
  return (
    <div className="flex flex-col gap-4 p-4 phone:px-6 phone:py-5">
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
          <Card>
            <Scroll label="Queues">
              <table className="rows">
                <thead>
                  <tr>
                    <th>Queue</th>
                    <th className="num">Live</th>
                    <th className="hidden phone:table-cell">Of which</th>
                    <th className="num">Oldest ready</th>
                    <th className="num hidden phone:table-cell">Workers</th>
                    <th className="hidden phone:table-cell">State</th>
                    <th aria-label="Actions" />
                  </tr>
                </thead>
                <tbody>
                  {data.map((queue) => (
                    <QueueRow key={queue.queue} queue={queue} machine={machine} workers={workers ?? []} />
                  ))}
                </tbody>
              </table>
            </Scroll>
          </Card>
        </>
      )}
    </div>
  )
}

interface QueueRowProps {
  readonly queue: Queue
  readonly machine: Machine
  readonly workers: readonly Worker[]
}

function QueueRow({ queue, machine, workers }: QueueRowProps): ReactNode {
  const live = machine.states.filter((state) => !machine.terminal.includes(state))
  const total = live.reduce((sum, state) => sum + (queue.counts[state] ?? 0), 0)
  const serving = workers.filter((worker) => worker.present && worker.queues?.includes(queue.queue) === true).length
  return (
    <tr>
      <td>
        <Link className="font-medium hover:underline" href={`/jobs?q=${encodeURIComponent(`queue:${queue.queue}`)}`}>
          {queue.queue}
        </Link>
        {queue.paused ? <b className="block text-sm font-medium phone:hidden">paused</b> : null}
      </td>
      <td className="num">{count(total)}</td>
      <td className="hidden min-w-48 phone:table-cell">
        <Mix queue={queue} states={live} total={total} />
      </td>
      <td className="num whitespace-nowrap text-text-2">
        {queue.readySince === undefined ? 'none' : <Moment at={queue.readySince} as="ago" />}
      </td>
      <td className={`num hidden phone:table-cell ${serving === 0 ? 'font-medium text-again' : 'text-text-2'}`}>
        {serving === 0 ? 'none' : count(serving)}
      </td>
      <td className="hidden whitespace-nowrap text-text-2 phone:table-cell">
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

/** One bar with the mix of states. */
function Mix({
  queue,
  states,
  total,
}: {
  readonly queue: Queue
  readonly states: readonly State[]
  readonly total: number
}): ReactNode {
  const parts = states.filter((state) => (queue.counts[state] ?? 0) > 0)
  const text = parts.map((state) => `${count(queue.counts[state] ?? 0)} ${state}`).join(', ')
  return (
    <span className="flex flex-col gap-0.5" title={text}>
      <span className="flex h-1.5 overflow-hidden rounded-full bg-hover">
        {parts.map((state) => (
          <span
            key={state}
            style={{
              width: `${(100 * (queue.counts[state] ?? 0)) / Math.max(1, total)}%`,
              background: `var(--${FAMILY[state]})`,
            }}
          />
        ))}
      </span>
      <span className="truncate text-xs text-text-3">{text || 'nothing live'}</span>
    </span>
  )
}

function PauseButton({ queue }: { readonly queue: Queue }): ReactNode {
  const session = useSession()
  const client = useQueryClient()
  const say = useSay()
  const word = queue.paused ? 'resume' : 'pause'
  const { mutate, isPending } = useMutation({
    mutationFn: () => ask(`/v1/queues/${segment(queue.queue)}/${word}`, { method: 'POST' }),
    onSuccess: () => {
      say(
        queue.paused
          ? `Queue ${queue.queue} gives to workers again.`
          : `Queue ${queue.queue} is paused: ${plural(queue.counts.running ?? 0, 'job')} under way go on, nothing new is given out.`,
      )
      void client.invalidateQueries({ queryKey: ['queues'] })
    },
    onError: (error) => say(refusal(error), true),
  })
  const text = queue.paused ? 'Resume' : 'Pause'
  if (!session.can('pauseQueue'))
    return (
      <Tip text={`Your token is of scope ${session.scope}, which may not ${word} queues.`}>
        <button type="button" className="btn" aria-disabled="true">
          {text}
        </button>
      </Tip>
    )
  return (
    <button
      type="button"
      className="btn"
      disabled={isPending}
      aria-label={`${text} ${queue.queue}`}
      onClick={() => mutate()}
    >
      {text}
    </button>
  )
}
