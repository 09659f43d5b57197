/** The machine as it is now: counts from the tally, rates from the traffic of the window, dots as things happen. */
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { useMachine } from '../api/queries.ts'
import type { Machine, Queue, State, TallyAnswer, TrafficAnswer, Worker } from '../api/wire.ts'
import { useKeys } from '../frame/keys.ts'
import { StateWord } from '../parts/state-word.tsx'
import { ago, count, plural, rate } from '../words/format.ts'
import { useMedia } from '../words/media.ts'
import { useNow } from '../words/now.ts'
import { useWords } from '../words/vocabulary.tsx'
import { Dots } from './dots.tsx'
import { Drawing, type NodeFacts } from './drawing.tsx'
import { WIDE } from './layout.ts'
import { LinePanel } from './line-panel.tsx'
import { type LineName, lineOf } from './lines.ts'
import { minutesOf } from './minutes.ts'
import { NumbersTable } from './numbers-table.tsx'
import { TALL } from './tall.ts'
import { useExtremes } from './use-extremes.ts'

export interface LiveMachineProps {
  readonly tally: TallyAnswer | undefined
  readonly traffic: TrafficAnswer | undefined
  readonly queues: readonly Queue[]
  readonly workers: readonly Worker[]
  /** Shown to somebody for the first time. */
  readonly isWelcome?: boolean
}

export function LiveMachine({ tally, traffic, queues, workers, isWelcome = false }: LiveMachineProps): ReactNode {
  const { data: machine } = useMachine()
  const now = useNow()
  const extremes = useExtremes(tally, now)
  const [chosen, choose] = useState<State>()
  const [line, chooseLine] = useState<LineName>()
  const [isTable, setTable] = useState(false)
  useKeys({ t: () => setTable(!isTable) })
  // Narrower, the letters of the wide one were too small to read.
  const isTall = useMedia('(max-width: 999px)')
  const isPhone = useMedia('(max-width: 719px)')
  const layout = isTall ? TALL : WIDE
  if (machine === undefined) return null
  const small = {
    ...extremes,
    queued: oldestFact(queues, now),
    running: slotsFact(workers),
    ...(isWelcome ? soonFacts(machine, tally, traffic) : {}),
  }
  const nodes = factsOf(machine, tally, traffic, small)
  const rates = ratesOf(traffic)
  return (
    <div className="flex flex-col gap-3 phone:max-[1000px]:grid phone:max-[1000px]:grid-cols-[minmax(0,380px)_minmax(0,1fr)] phone:max-[1000px]:items-start">
      <Drawing
        layout={layout}
        label="The state machine with live counts and rates"
        nodes={nodes}
        rates={rates}
        chosen={chosen}
        onChoose={(state) => {
          choose(state === chosen ? undefined : state)
          chooseLine(undefined)
        }}
        line={line}
        onChooseLine={(name) => {
          chooseLine(name === line ? undefined : name)
          choose(undefined)
        }}
      >
        <Dots layout={layout} isWelcome={isWelcome} />
      </Drawing>
      <div className="flex min-w-0 flex-col gap-3">
        {chosen === undefined ? null : <NodePanel state={chosen} machine={machine} traffic={traffic} />}
        {line === undefined ? null : <LinePanel line={line} machine={machine} traffic={traffic} />}
        {/* Beside the tall one there is room for it anyway. */}
        {isTall && !isPhone ? null : (
          <button
            type="button"
            className="btn btn-ghost self-start text-sm"
            aria-expanded={isTable}
            onClick={() => setTable(!isTable)}
          >
            As a table <kbd>t</kbd>
          </button>
        )}
        {isTable || (isTall && !isPhone) ? (
          <NumbersTable states={machine.states} nodes={nodes} traffic={traffic} />
        ) : null}
      </div>
    </div>
  )
}

export function ratesOf(traffic: TrafficAnswer | undefined): Readonly<Partial<Record<LineName, number>>> {
  if (traffic === undefined) return {}
  const minutes = minutesOf(traffic)
  const rates: Partial<Record<LineName, number>> = {}
  for (const change of traffic.changes) {
    const line = lineOf(change)
    if (line !== undefined) rates[line] = (rates[line] ?? 0) + change.count / minutes
  }
  return rates
}

/** Live states count what is there now; ended ones what came in within the window. */
function factsOf(
  machine: Machine,
  tally: TallyAnswer | undefined,
  traffic: TrafficAnswer | undefined,
  small: Readonly<Partial<Record<State, string | undefined>>>,
): Readonly<Partial<Record<State, NodeFacts>>> {
  const ended = new Set(machine.terminal)
  const facts: Partial<Record<State, NodeFacts>> = {}
  for (const state of machine.states) {
    const kept = (tally?.counts ?? []).filter((each) => each.state === state).reduce((sum, each) => sum + each.count, 0)
    const came = (traffic?.changes ?? []).filter(({ to }) => to === state).reduce((sum, each) => sum + each.count, 0)
    const fact = small[state]
    facts[state] = ended.has(state)
      ? {
          count: count(came),
          n: came,
          fact,
          title: `${plural(Math.round(came), 'job')} came in within the window; ${count(kept)} are kept`,
        }
      : {
          count: count(kept),
          n: kept,
          fact,
          title: `${plural(kept, 'job')} now; ${count(came)} came in within the window`,
        }
  }
  return facts
}

function oldestFact(queues: readonly Queue[], now: number): string | undefined {
  const since = queues.flatMap(({ readySince }) => (readySince === undefined ? [] : [Date.parse(readySince)]))
  return since.length === 0 ? undefined : oldestSince(Math.min(...since), now)
}

/** In whole units; what is younger than a second is no news, and would have no room. */
const oldestSince = (at: number, now: number): string | undefined =>
  now - at < 1_000 ? undefined : `oldest ${ago(now - at)}`

/** Of the demo's first minute: what no job has come to yet will be come to. */
function soonFacts(
  { states }: Machine,
  tally: TallyAnswer | undefined,
  traffic: TrafficAnswer | undefined,
): Partial<Record<State, string>> {
  const seen = new Set<State>([
    ...(traffic?.changes ?? []).map(({ to }) => to),
    ...(tally?.counts ?? []).map(({ state }) => state),
  ])
  return Object.fromEntries(states.filter((state) => !seen.has(state)).map((state) => [state, 'soon']))
}

function slotsFact(workers: readonly Worker[]): string | undefined {
  const slots = workers.filter(({ present }) => present).reduce((sum, { concurrency = 0 }) => sum + concurrency, 0)
  return slots === 0 ? undefined : `of ${count(slots)} slots`
}

interface NodePanelProps {
  readonly state: State
  readonly machine: Machine
  readonly traffic: TrafficAnswer | undefined
}

/** What a state is about: what comes in, what goes out, what may be asked of a job in it. */
function NodePanel({ state, machine, traffic }: NodePanelProps): ReactNode {
  const words = useWords()
  const minutes = traffic === undefined ? 1 : minutesOf(traffic)
  const changes = traffic?.changes ?? []
  const commands = Object.entries(machine.commands).filter(([, cells]) => cells[state] !== undefined)
  const list = (own: typeof changes, other: 'from' | 'to') =>
    own.length === 0 ? (
      <p className="text-text-3">Nothing within the window.</p>
    ) : (
      own.map((change) => (
        <p key={`${change.event} ${change[other]}`} className="flex gap-2">
          <span className="mono">{words.event(change.event)}</span>
          <span className="text-text-3">{change[other] === 'none' ? 'new' : words.state(change[other] as State)}</span>
          <span className="ml-auto">{rate(change.count / minutes)}</span>
        </p>
      ))
    )
  return (
    <div className="grid gap-4 border-t border-line p-4 min-[1000px]:grid-cols-3">
      <div>
        <h3 className="mb-1 flex items-center gap-3">
          <StateWord state={state} />
          <Link className="link text-sm" href={`/jobs?q=state:${state}`}>
            List these jobs
          </Link>
        </h3>
        <p className="text-sm text-text-2">
          Commands: <span className="mono">{commands.map(([name]) => name).join(', ') || 'none'}</span>
        </p>
      </div>
      <div>
        <h3 className="mb-1 text-sm font-medium text-text-3">Comes in</h3>
        {list(
          changes.filter(({ to }) => to === state),
          'from',
        )}
      </div>
      <div>
        <h3 className="mb-1 text-sm font-medium text-text-3">Goes out</h3>
        {list(
          changes.filter(({ from }) => from === state),
          'to',
        )}
      </div>
    </div>
  )
}
