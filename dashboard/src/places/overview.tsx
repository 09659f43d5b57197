/** The first thing on screen: a verdict made by rules, what needs a person, and the machine, alive. */
import { lazy, type ReactNode, Suspense, useMemo, useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import { useBrokenKeys } from '../api/limits.ts'
import { useHealth, useMachine, useQueues, useTally, useTraffic, useWorkers } from '../api/queries.ts'
import { useMissed } from '../api/schedules.ts'
import { useSession } from '../api/session.tsx'
import type { TrafficAnswer } from '../api/wire.ts'
import { Title } from '../frame/title.tsx'
import { LiveMachine } from '../machine/live-machine.tsx'
import { Card } from '../parts/card.tsx'
import { Loading, Trouble } from '../parts/trouble.tsx'
import { clock, count, inWords, span } from '../words/format.ts'
import { useKept } from '../words/kept.ts'
import { useMedia } from '../words/media.ts'
import { useNow } from '../words/now.ts'
import { FirstMinute } from './first-minute.tsx'
import { Happening } from './happening.tsx'
import { Needs } from './needs.tsx'
import { DEMO } from './own-answer.tsx'
import { type Stretch, ZoomContext } from './stretch.ts'
import { verdictOf } from './verdict.ts'

const Wait = lazy(async () => ({ default: (await import('./wait-chart.tsx')).WaitChart }))
const Flow = lazy(async () => ({ default: (await import('./flow-chart.tsx')).FlowChart }))

const WINDOWS = [
  ['15m', '15 min'],
  ['1h', '1 h'],
  ['24h', '24 h'],
  ['7d', '7 d'],
] as const

export function OverviewPlace(): ReactNode {
  const [params, setParams] = useSearchParams()
  const window = WINDOWS.find(([name]) => name === params.get('w'))?.[0] ?? '1h'
  const tally = useTally()
  const traffic = useTraffic(window)
  const queues = useQueues()
  const workers = useWorkers()
  const session = useSession()
  const { data: brokenKeys = [] } = useBrokenKeys(session.can('listLimits'))
  const { data: missed } = useMissed(session.can('listSchedules'))
  const health = useHealth()
  const { data: machine } = useMachine()
  const [welcome] = useKept('first-minute', 'shown')
  const isWide = useMedia('(min-width: 1920px)')
  const isPhone = useMedia('(max-width: 719px)')
  const now = useNow()
  const trouble = tally.error ?? traffic.error ?? queues.error
  const verdict = verdictOf({
    counts: tally.data?.counts ?? [],
    terminal: machine?.terminal ?? [],
    queues: queues.data ?? [],
    workers: workers.data ?? [],
    traffic: traffic.data,
    brokenKeys,
    missed: missed ?? [],
    trouble: health.data,
    now,
  })
  return (
    <div className="page">
      <Title text="Overview" />
      {trouble === null ? null : <Trouble error={trouble} />}
      <div className="flex flex-wrap items-end gap-x-6 gap-y-3">
        <div className="min-w-0">
          <p className="text-lg font-semibold tracking-[-0.015em]" aria-live="polite">
            {tally.data === undefined ? ' ' : verdict.sentence}
          </p>
          <p className="text-text-2">{verdict.facts}</p>
        </div>
        {isPhone || isWide ? null : <Needs needs={verdict.needs} isInRows={false} />}
      </div>
      {isPhone ? <Needs needs={verdict.needs} isInRows /> : null}
      <FirstMinute traffic={traffic.data} />
      <div className="grid items-stretch gap-4 wide:grid-cols-[minmax(0,1472px)_minmax(0,1fr)]">
        <Card
          title="The machine"
          note={traffic.data === undefined ? undefined : windowNote(traffic.data)}
          right={
            <fieldset className="inline-flex rounded-md border border-line bg-surface p-px">
              <legend className="sr-only">Window</legend>
              {WINDOWS.map(([name, text]) => (
                <button
                  key={name}
                  type="button"
                  aria-pressed={name === window}
                  className={`rounded-[5px] px-2 ${name === window ? 'bg-hover font-medium text-text' : ''}`}
                  onClick={() => setParams({ w: name })}
                >
                  {text}
                </button>
              ))}
            </fieldset>
          }
        >
          <div className="px-2 pb-4 phone:px-4">
            {machine === undefined ? (
              <Loading rows={12} />
            ) : (
              <LiveMachine
                tally={tally.data}
                traffic={traffic.data}
                queues={queues.data ?? []}
                workers={workers.data ?? []}
                isWelcome={session.name === DEMO && welcome !== 'dismissed'}
              />
            )}
          </div>
        </Card>
        {isWide ? (
          <div className="grid min-w-0 grid-rows-[auto_minmax(0,1fr)] gap-4">
            <Needs needs={verdict.needs} isInRows />
            <Happening />
          </div>
        ) : null}
      </div>
      <div className="grid gap-4 desk:grid-cols-2 wide:grid-cols-4">
        <Charts key={window} traffic={traffic.data} />
        <Failures traffic={traffic.data} />
        <OldestReady queues={queues.data ?? []} now={now} />
      </div>
    </div>
  )
}

/** A stretch that is looked into is one of this window: another window begins with all of it. */
function Charts({ traffic }: { readonly traffic: TrafficAnswer | undefined }): ReactNode {
  const [stretch, look] = useState<Stretch>()
  const zoom = useMemo(() => ({ stretch, look }), [stretch])
  return (
    <ZoomContext value={zoom}>
      <Card title="In and out" note="jobs a minute">
        <Suspense fallback={<Loading rows={4} />}>
          {traffic === undefined ? <Loading rows={4} /> : <Flow traffic={traffic} />}
        </Suspense>
      </Card>
      <Card title="Ready to start" note="from ready to claimed, what limits held included">
        <Suspense fallback={<Loading rows={4} />}>
          {traffic === undefined ? <Loading rows={4} /> : <Wait traffic={traffic} />}
        </Suspense>
      </Card>
    </ZoomContext>
  )
}

/** The window, or less where counting began within it. */
const windowNote = ({ from, since }: TrafficAnswer): string =>
  from === since
    ? `live counts now; endings and rates since ${clock(Date.parse(since))} UTC, when counting began`
    : 'live counts now; endings and rates over the window'

interface BarProps {
  readonly name: string
  readonly share: number
  readonly colour: string
  readonly text: string
  readonly href: string
}

function Bar({ name, share, colour, text, href }: BarProps): ReactNode {
  return (
    <Link
      href={href}
      className="grid grid-cols-[minmax(0,1fr)_minmax(0,2fr)_auto] items-center gap-3 rounded-md px-2 py-1 hover:bg-hover"
    >
      <span className="mono truncate">{name}</span>
      <span className="h-1.5 overflow-hidden rounded-full bg-hover">
        <span
          className="block h-full rounded-full"
          style={{ width: share === 0 ? 0 : `${Math.max(2, 100 * share)}%`, background: colour }}
        />
      </span>
      <span className="min-w-16 text-right text-text-2">{text}</span>
    </Link>
  )
}

const BARS = 6

function Failures({ traffic }: { readonly traffic: TrafficAnswer | undefined }): ReactNode {
  const failures = traffic?.failures ?? []
  const most = failures[0]?.count ?? 1
  return (
    <Card title="Failures by code" note="runs that threw, within the window">
      <div className="px-2 pb-3">
        {failures.length === 0 ? <p className="px-2 pb-2 text-text-2">None.</p> : null}
        {failures.slice(0, BARS).map(({ code, count: n }) => (
          <Bar
            key={code}
            name={code}
            share={n / most}
            colour="var(--again)"
            text={count(n)}
            href={`/jobs?q=${encodeURIComponent(`code:${code}`)}`}
          />
        ))}
      </div>
    </Card>
  )
}

function OldestReady({
  queues,
  now,
}: {
  readonly queues: ReturnType<typeof useQueues>['data'] & object
  readonly now: number
}): ReactNode {
  const waits = queues
    .map(({ queue, readySince }) => ({
      queue,
      ms: readySince === undefined ? 0 : Math.max(0, now - Date.parse(readySince)),
    }))
    .sort((a, b) => b.ms - a.ms)
  const most = Math.max(1, waits[0]?.ms ?? 1)
  return (
    <Card
      title="Oldest ready job by queue"
      note="ready now"
      right={<Link href="/queues">{inWords(queues.length)} in all</Link>}
    >
      <div className="px-2 pb-3">
        {waits.slice(0, BARS).map(({ queue, ms }) => (
          <Bar
            key={queue}
            name={queue}
            share={ms / most}
            colour="var(--idle)"
            text={ms === 0 ? 'none' : span(Math.floor(ms / 1_000) * 1_000)}
            href={`/queues/${encodeURIComponent(queue)}`}
          />
        ))}
      </div>
    </Card>
  )
}
