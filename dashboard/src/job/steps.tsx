/** What a job has kept of its steps: a run that comes after goes on behind them. */
import type { ReactNode } from 'react'
import { useBody } from '../api/queries.ts'
import type { Job, JobEvent } from '../api/wire.ts'
import { Body } from '../parts/body.tsx'
import { Moment } from '../parts/moment.tsx'
import { Empty } from '../parts/trouble.tsx'

interface Step {
  readonly name: string
  readonly body?: { readonly name: string }
  readonly compensate: boolean
}

const stepIn = ({ payload }: JobEvent): Step | undefined => payload['step'] as Step | undefined

export function Steps({ job, events }: { readonly job: Job; readonly events: readonly JobEvent[] }): ReactNode {
  const undone = new Set(events.flatMap(({ payload }) => (payload['undone'] === undefined ? [] : [payload['undone']])))
  const kept = events.filter((event) => stepIn(event) !== undefined)
  if (kept.length === 0)
    return (
      <Empty title={job.steps > 0 ? 'Its steps are not in this part of the log' : 'It has kept no step'}>
        {job.steps > 0 ? 'A long log is shortened once its job has ended.' : undefined}
      </Empty>
    )
  return (
    <ol>
      {kept.map((event) => (
        <Kept key={event.rev} job={job} event={event} isUndone={undone.has(stepIn(event)?.name ?? '')} />
      ))}
    </ol>
  )
}

function Kept({
  job,
  event,
  isUndone,
}: {
  readonly job: Job
  readonly event: JobEvent
  readonly isUndone: boolean
}): ReactNode {
  const step = stepIn(event)
  const body = step?.body?.name
  const { data } = useBody(job.id, body ?? '', body !== undefined && job.masked !== true)
  return (
    <li className="border-b border-line px-4 py-3 last:border-0">
      <p className="flex flex-wrap items-baseline gap-x-3">
        <span className="mono font-medium">{step?.name}</span>
        <span className="text-sm text-text-2">
          run {event.attempt}
          {isUndone ? ', undone' : step?.compensate === true ? ', can be undone' : ''}
        </span>
        <span className="ml-auto text-sm text-text-2">
          <Moment at={event.at} />
        </span>
      </p>
      {data === undefined ? null : <Body value={data} label={`what ${step?.name} came to`} />}
    </li>
  )
}
