/** What is known about a job in full, one thing at a time. */
import { Tabs } from '@base-ui/react/tabs'
import type { ReactNode } from 'react'
import { useSearchParams } from 'wouter'
import type { History } from '../api/history.ts'
import { useBody } from '../api/queries.ts'
import type { Failure, Job, JobEvent } from '../api/wire.ts'
import { useKeys } from '../frame/keys.ts'
import { Body } from '../parts/body.tsx'
import { Moment } from '../parts/moment.tsx'
import { Empty, Loading } from '../parts/trouble.tsx'
import { Children } from './children.tsx'
import { EventList } from './event-list.tsx'
import { Steps } from './steps.tsx'

const TABS = ['events', 'input', 'result', 'errors', 'steps', 'children', 'raw'] as const

export interface JobTabsProps {
  readonly job: Job
  readonly history: History | undefined
  /** The event that is looked at, by its revision. */
  readonly lit: number | undefined
}

export function JobTabs({ job, history, lit }: JobTabsProps): ReactNode {
  const [params, setParams] = useSearchParams()
  const tab = TABS.find((name) => name === params.get('tab')) ?? 'events'
  const failures = failuresIn(history?.events ?? [])
  const numbers: Readonly<Partial<Record<string, number>>> = {
    events: history?.events.length,
    errors: failures.length,
    steps: job.steps,
  }
  useKeys({ e: () => choose('events'), i: () => choose('input') })
  const choose = (name: string) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before)
        next.set('tab', name)
        return next
      },
      { replace: true },
    )
  return (
    <Tabs.Root value={tab} onValueChange={choose} className="card overflow-hidden">
      <Tabs.List className="flex gap-5 overflow-x-auto border-b border-line px-4">
        {TABS.map((name) => (
          <Tabs.Tab
            key={name}
            value={name}
            className="h-11 border-b-2 border-transparent whitespace-nowrap text-text-2 capitalize data-active:border-text data-active:font-medium data-active:text-text"
          >
            {name} <span className="text-sm text-text-3">{numbers[name] || ''}</span>
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value="events">
        {history === undefined ? (
          <Loading />
        ) : (
          <EventList events={history.events} isWhole={history.isWhole} lit={lit} />
        )}
      </Tabs.Panel>
      <Tabs.Panel value="input" className="p-4">
        <Shown job={job} value={job.input} label="input" />
      </Tabs.Panel>
      <Tabs.Panel value="result" className="p-4">
        <Shown job={job} value={job.output} label="result" />
      </Tabs.Panel>
      <Tabs.Panel value="errors" className="flex flex-col gap-4 p-4">
        {failures.length === 0 ? (
          <Empty title="No run has failed" />
        ) : (
          failures.toReversed().map((failure) => <ErrorView key={failure.at} job={job} failure={failure} />)
        )}
      </Tabs.Panel>
      <Tabs.Panel value="steps">
        <Steps job={job} events={history?.events ?? []} />
      </Tabs.Panel>
      <Tabs.Panel value="children">{tab === 'children' ? <Children id={job.id} /> : null}</Tabs.Panel>
      <Tabs.Panel value="raw" className="p-4">
        <Body value={job} label="the record" />
      </Tabs.Panel>
    </Tabs.Root>
  )
}

function Shown({
  job,
  value,
  label,
}: {
  readonly job: Job
  readonly value: unknown
  readonly label: string
}): ReactNode {
  if (job.masked === true)
    return <Empty title="Not for viewers">A viewer sees what happens, and not what with. Ask an operator.</Empty>
  if (job.strippedAt !== undefined)
    return (
      <Empty title={`Its ${label} was removed`}>Retention keeps bodies for less long than jobs and their logs.</Empty>
    )
  return value === undefined ? <Empty title={`It has no ${label}`} /> : <Body value={value} label={label} />
}

const failuresIn = (events: readonly JobEvent[]): readonly Failure[] =>
  events.flatMap(({ payload, to }) =>
    to !== undefined && payload['failure'] !== undefined ? [payload['failure'] as Failure] : [],
  )

export function ErrorView({ job, failure }: { readonly job: Job; readonly failure: Failure }): ReactNode {
  const name = failure.body?.name
  const { data } = useBody(job.id, name ?? '', name !== undefined && job.masked !== true)
  return (
    <div>
      <p>
        <span className="mono text-bad">{failure.code}</span>{' '}
        <span className="text-sm text-text-2">
          run {failure.attempt}, class {failure.class}, <Moment at={failure.at} />
          {failure.worker === undefined ? '' : `, on ${failure.worker}`}
        </span>
      </p>
      <p className="py-1 break-words">{failure.message}</p>
      {data === undefined ? null : <Body value={stackIn(data)} label="the stack" />}
    </div>
  )
}

/** A body is told as the text it is: of an error JSON with a stack in it, or whatever the worker has sent. */
function stackIn(data: unknown): unknown {
  try {
    const { stack } = JSON.parse(String(data)) as { readonly stack?: unknown }
    return typeof stack === 'string' ? stack : data
  } catch {
    return data
  }
}
