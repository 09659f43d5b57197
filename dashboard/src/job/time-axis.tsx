/** When what happened: states as a ribbon, a lane for each run and for each of its steps and waits. */
import { type CSSProperties, type ReactNode, useState } from 'react'
import type { Job, JobEvent } from '../api/wire.ts'
import { FAMILY } from '../machine/families.ts'
import { Card } from '../parts/card.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import { absolute, clock, span } from '../words/format.ts'
import { useNow } from '../words/now.ts'
import { useWords } from '../words/vocabulary.tsx'
import { type Bar, type Chart, chartOf, type Lane, scaleOf } from './time.ts'

/** The last of them; earlier ones are in the events. */
const LANES_MOST = 60

export function TimeAxis({ job, events }: { readonly job: Job; readonly events: readonly JobEvent[] }): ReactNode {
  const now = useNow()
  const [isToScale, setToScale] = useState(false)
  const chart = chartOf(events, now, job.endedAt !== undefined, isToScale)
  if (chart === undefined) return null
  const place = scaleOf(chart)
  const lanes = chart.lanes.slice(-LANES_MOST)
  const hidden = chart.lanes.length - lanes.length
  return (
    <Card
      title="Time"
      note={chart.stretches.some(({ isIdle }) => isIdle) ? 'grey bands are idle and compressed' : undefined}
      right={
        <>
          <span>
            worked {span(chart.workedMs)} of {span(chart.to - chart.from)}
          </span>
          <button type="button" className="btn" aria-pressed={isToScale} onClick={() => setToScale(!isToScale)}>
            {isToScale ? 'Compressed' : 'To scale'}
          </button>
        </>
      }
    >
      <div className="px-4 pb-4">
        <div role="group" aria-label="The time axis">
          <div className="grid phone:grid-cols-[minmax(110px,180px)_minmax(0,1fr)]">
            <span className="hidden pr-2 text-right text-xs text-text-3 phone:block" title={absolute(chart.from)}>
              {clock(chart.from)}
            </span>
            <Bands chart={chart} place={place} isEnded={job.endedAt !== undefined} />
            <span className="hidden border-t border-line py-1 text-sm text-text-2 phone:block">State</span>
            <StateRibbon chart={chart} place={place} />
            {hidden > 0 ? (
              <p className="py-1 text-sm phone:col-span-2 text-text-3">
                {hidden} earlier lanes are not drawn; the events have them.
              </p>
            ) : null}
            {lanes.map((lane) => (
              <LaneRow key={lane.key} lane={lane} chart={chart} place={place} />
            ))}
          </div>
        </div>
      </div>
    </Card>
  )
}

type Place = (at: number) => number

const percent = (share: number): string => `${(100 * share).toFixed(3)}%`

/** Idle stretches with their lengths on top, and the two ends. */
function Bands({
  chart,
  place,
  isEnded,
}: {
  readonly chart: Chart
  readonly place: Place
  readonly isEnded: boolean
}): ReactNode {
  return (
    <div className="relative h-6 text-xs text-text-3">
      {chart.stretches
        .filter(({ isIdle }) => isIdle)
        .map(({ from, to }) => (
          <span
            key={from}
            className="absolute font-medium whitespace-nowrap text-text-2"
            style={bandLabel(place(from), place(to))}
          >
            {span(to - from)}
          </span>
        ))}
      <span className={`absolute right-0 rounded-sm px-1 ${isEnded ? '' : 'bg-ink text-on-ink'}`}>
        {isEnded ? clock(chart.to) : 'now'}
      </span>
    </div>
  )
}

/** In the middle of its band; of the last one, whose end has a label of its own, before it. */
const bandLabel = (from: number, to: number): CSSProperties =>
  to > 0.93
    ? { right: percent(1 - from), paddingRight: 4 }
    : { left: percent((from + to) / 2), transform: 'translateX(-50%)' }

function Idle({ chart, place }: { readonly chart: Chart; readonly place: Place }): ReactNode {
  return chart.stretches
    .filter(({ isIdle }) => isIdle)
    .map(({ from, to }) => (
      <span
        key={from}
        className="absolute inset-y-0 bg-sunken"
        style={{ left: percent(place(from)), width: percent(place(to) - place(from)) }}
      />
    ))
}

/** Wide enough for a name. */
const NAMED = 0.09
const PICTURED = 0.028

function StateRibbon({ chart, place }: { readonly chart: Chart; readonly place: Place }): ReactNode {
  const words = useWords()
  return (
    <div className="relative h-7 border-t border-line">
      <Idle chart={chart} place={place} />
      {chart.ribbon.map(({ state, from, to }, n) => {
        const width = place(to) - place(from)
        const family = FAMILY[state]
        return (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: moves do not change their places
            key={n}
            title={`${words.state(state)}, ${span(to - from)}`}
            className="absolute top-1 flex h-[18px] items-center gap-1 overflow-hidden rounded-[3px] px-0.5 text-xs"
            style={
              {
                left: percent(place(from)),
                width: `max(3px, ${percent(width)})`,
                background: width < PICTURED ? `var(--${family})` : `var(--${family}-bg)`,
                color: `var(--${family})`,
                '--hole': `var(--${family}-bg)`,
              } as CSSProperties
            }
          >
            {width < PICTURED ? null : <StateIcon state={state} size={14} />}
            {width < NAMED ? null : words.state(state)}
          </span>
        )
      })}
    </div>
  )
}

function LaneRow({
  lane,
  chart,
  place,
}: {
  readonly lane: Lane
  readonly chart: Chart
  readonly place: Place
}): ReactNode {
  const border = lane.isRun ? 'border-t border-line' : ''
  return (
    <>
      <span className={`flex min-w-0 items-center gap-2 py-0.5 ${border} ${lane.isRun ? '' : 'pl-3'}`}>
        <span className={lane.isRun ? 'font-medium whitespace-nowrap' : 'mono truncate text-text-2'} title={lane.name}>
          {lane.name.replace(/#1$/, '')}
        </span>
        <span className="mono truncate text-xs text-text-3" title={lane.note}>
          {lane.note}
        </span>
      </span>
      <div className={`relative h-6 ${lane.isRun ? 'phone:border-t phone:border-line' : ''}`}>
        <Idle chart={chart} place={place} />
        {lane.bars.map((bar) => (
          <BarMark key={bar.from} bar={bar} place={place} />
        ))}
      </div>
    </>
  )
}

const STYLES: Readonly<Record<Bar['kind'], CSSProperties>> = {
  run: { background: 'var(--work-bg)', border: '1.5px solid var(--work)' },
  failed: { background: 'var(--bad-bg)', border: '1.5px solid var(--bad)' },
  step: { background: 'var(--good)' },
  lost: {
    background: 'repeating-linear-gradient(135deg, var(--again) 0 1.5px, transparent 1.5px 6px)',
    border: '1.5px solid var(--again)',
  },
  wait: {
    background: 'repeating-linear-gradient(135deg, var(--wait) 0 1.5px, transparent 1.5px 6px)',
    border: '1.5px solid var(--wait)',
  },
}

const COLOURS: Readonly<Record<Bar['kind'], string>> = {
  run: 'text-2',
  failed: 'bad',
  step: 'text-3',
  lost: 'again',
  wait: 'wait',
}

/** Shares of the axis that a word needs beside a bar. */
const ROOM = 0.3

/** Text stands beside the bar, on the side that has room; where neither has, on it. */
function BarMark({ bar, place }: { readonly bar: Bar; readonly place: Place }): ReactNode {
  const from = place(bar.from)
  const to = place(bar.to)
  const text = bar.text === '' ? span(bar.to - bar.from) : bar.text
  const side = 1 - to > ROOM ? 'right' : from > ROOM ? 'left' : 'on'
  return (
    <>
      <span
        title={`${clock(bar.from)} to ${bar.isOpen ? 'now' : clock(bar.to)}, ${span(bar.to - bar.from)}${bar.text === '' ? '' : `, ${bar.text}`}`}
        className="absolute top-1.5 h-3 rounded-[3px]"
        style={{ ...STYLES[bar.kind], left: percent(from), width: `max(3px, ${percent(to - from)})` }}
      />
      <span
        className={`absolute max-w-[45%] truncate px-1.5 text-xs ${side === 'on' ? 'top-1 rounded-sm bg-surface leading-4' : 'top-0.5 leading-5'}`}
        style={{ color: `var(--${COLOURS[bar.kind]})`, ...besides(side, from, to) }}
      >
        {text}
      </span>
    </>
  )
}

function besides(side: 'left' | 'right' | 'on', from: number, to: number): CSSProperties {
  if (side === 'right') return { left: `calc(${percent(to)} + 3px)` }
  return side === 'left' ? { right: percent(1 - from) } : { left: `calc(${percent(from)} + 12px)` }
}
