/** When what happened: states as a ribbon, a lane for each run and for each of its steps and waits. */
import { type CSSProperties, type PointerEvent, type ReactNode, useState } from 'react'
import type { Job, JobEvent } from '../api/wire.ts'
import { FAMILY } from '../machine/families.ts'
import { Card } from '../parts/card.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import { absolute, clock, relative, span } from '../words/format.ts'
import { useNow } from '../words/now.ts'
import { useWords } from '../words/vocabulary.tsx'
import { type Axis, Ground, Lanes, type Place, percent, ROW } from './lanes.tsx'
import { type Chart, chartOf, scaleOf } from './time.ts'
import { scaled, type Zoom, zoomed } from './zoom.ts'

export interface TimeAxisProps {
  readonly job: Job
  readonly events: readonly JobEvent[]
  /** A moment that is looked at elsewhere: a step of the path. */
  readonly lit?: number | undefined
}

export function TimeAxis({ job, events, lit }: TimeAxisProps): ReactNode {
  const now = useNow()
  const [isToScale, setToScale] = useState(false)
  const [zoom, setZoom] = useState<Zoom>()
  const isEnded = job.endedAt !== undefined
  const whole = chartOf(events, now, isEnded, isToScale)
  if (whole === undefined) return null
  const chart = zoomed(whole, zoom)
  const { place: exact, moment } = scaleOf(chart)
  const ahead = isEnded || zoom !== undefined ? undefined : aheadOf(job, now)
  // What is to come has its room at the end, which is to no scale.
  const room = ahead === undefined ? 1 : PRESENT
  const place = (at: number) => exact(at) * room
  const axis: Axis = {
    chart,
    place,
    now: isEnded || zoom !== undefined ? undefined : room,
    isAhead: ahead !== undefined,
  }
  const scale = (by: number) => setZoom(scaled(zoom ?? whole, by, whole))
  return (
    <Card
      title="Time"
      note={chart.stretches.some(({ isIdle }) => isIdle) ? 'grey bands are idle and compressed' : undefined}
      right={
        <>
          <span>
            worked {span(whole.workedMs)} of {span(whole.to - whole.from)}
          </span>
          {zoom === undefined ? null : (
            <button type="button" className="btn" onClick={() => setZoom(undefined)}>
              Whole
            </button>
          )}
          <button type="button" className="btn" aria-pressed={isToScale} onClick={() => setToScale(!isToScale)}>
            {isToScale ? 'Compressed' : 'To scale'}
          </button>
        </>
      }
    >
      <div className="px-4 pb-4">
        <div
          role="group"
          aria-label="The time axis"
          aria-description="Draw a stretch with the pointer to zoom into it, or press plus and minus; double-click, or 0, shows all of it."
          tabIndex={0}
          className="relative"
          onDoubleClick={() => setZoom(undefined)}
          onKeyDown={({ key }) => {
            if (key === '+' || key === '=') scale(0.5)
            if (key === '-') scale(2)
            if (key === '0') setZoom(undefined)
          }}
        >
          <div className={ROW}>
            <span className="pr-2 text-right text-xs text-text-3" title={absolute(chart.from)}>
              {clock(chart.from)}
            </span>
            <Bands
              chart={chart}
              place={place}
              end={isEnded || zoom !== undefined ? clock(chart.to) : undefined}
              ahead={ahead}
              onDrawn={(from, to) => setZoom({ from: moment(from / room), to: moment(to / room) })}
            />
            <span className="border-t border-line py-1 text-sm text-text-2">State</span>
            <StateRibbon axis={axis} lit={lit} />
          </div>
          <Lanes axis={axis} />
        </div>
      </div>
    </Card>
  )
}

/** The share of the axis that is over, where something is to come. */
const PRESENT = 0.94

interface Ahead {
  readonly at: number
  readonly what: string
}

/** When the lease ends, or when it may run, or when its wait is over. */
function aheadOf({ lease, readyAt, wait }: Job, now: number): Ahead | undefined {
  const found = [
    [lease?.expiresAt, 'lease ends'],
    [readyAt, 'due'],
    [wait?.timeoutAt, 'wait ends'],
  ].find(([at]) => at !== undefined)
  const at = Date.parse(found?.[0] ?? '')
  return at > now ? { at, what: found?.[1] ?? '' } : undefined
}

/** Beyond these a stretch was drawn, and no place was pressed. */
const DRAWN_PX = 6

/** Lies over what is drawn: a stretch is drawn on it from one end to the other. Told as shares of its width. */
function Brush({ onDrawn }: { readonly onDrawn: (from: number, to: number) => void }): ReactNode {
  const [drawn, setDrawn] = useState<{ readonly from: number; readonly to: number }>()
  const at = ({ currentTarget, clientX }: PointerEvent<HTMLDivElement>) => {
    const { left, width } = currentTarget.getBoundingClientRect()
    return { share: Math.max(0, Math.min(1, (clientX - left) / width)), width }
  }
  return (
    <div
      aria-hidden="true"
      data-brush=""
      // Not over the ribbon and the bars: these have tooltips of their own.
      className="absolute inset-0 z-10 cursor-col-resize touch-pan-y"
      onPointerDown={(event) => {
        if (event.button !== 0) return
        event.currentTarget.setPointerCapture(event.pointerId)
        const { share } = at(event)
        setDrawn({ from: share, to: share })
      }}
      onPointerMove={(event) => drawn !== undefined && setDrawn({ ...drawn, to: at(event).share })}
      onPointerUp={(event) => {
        if (drawn === undefined) return
        setDrawn(undefined)
        const { share, width } = at(event)
        if (Math.abs(share - drawn.from) * width < DRAWN_PX) return
        onDrawn(Math.min(drawn.from, share), Math.max(drawn.from, share))
      }}
      onPointerCancel={() => setDrawn(undefined)}
    >
      {drawn === undefined ? null : (
        <span
          className="absolute inset-y-0 border-x border-focus bg-focus/10"
          style={{
            left: percent(Math.min(drawn.from, drawn.to)),
            width: percent(Math.abs(drawn.to - drawn.from)),
          }}
        />
      )}
    </div>
  )
}

interface BandsProps {
  readonly chart: Chart
  readonly place: Place
  /** What stands at the end; undefined where that is now. */
  readonly end: string | undefined
  readonly ahead: Ahead | undefined
  readonly onDrawn: (from: number, to: number) => void
}

/** Idle stretches with their lengths on top, and the two ends. */
function Bands({ chart, place, end, ahead, onDrawn }: BandsProps): ReactNode {
  const now = useNow()
  return (
    <div className="@container relative h-6 text-xs text-text-3">
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
      {ahead === undefined ? null : (
        <span
          className="absolute right-0 hidden whitespace-nowrap text-text-2 @min-[560px]:block"
          title={`${ahead.what} ${relative(ahead.at, now)}`}
        >
          {span(Math.max(0, ahead.at - now))}
        </span>
      )}
      <span
        className={`absolute rounded-sm px-1 whitespace-nowrap ${end === undefined ? 'bg-ink text-on-ink' : ''}`}
        style={ahead === undefined ? { right: 0 } : { left: percent(PRESENT), transform: 'translateX(-50%)' }}
      >
        {end ?? 'now'}
      </span>
      <Brush onDrawn={onDrawn} />
    </div>
  )
}

/** In the middle of its band; of the last one, whose end has a label of its own, before it. */
const bandLabel = (from: number, to: number): CSSProperties =>
  to > 0.93
    ? { right: percent(1 - from), paddingRight: 4 }
    : { left: percent((from + to) / 2), transform: 'translateX(-50%)' }

interface RibbonProps {
  readonly axis: Axis
  readonly lit: number | undefined
}

function StateRibbon({ axis, lit }: RibbonProps): ReactNode {
  const { chart, place } = axis
  const words = useWords()
  return (
    <div className="relative h-7 border-t border-line">
      <Ground axis={axis} />
      {lit === undefined || lit < chart.from || lit > chart.to ? null : (
        <span
          data-lit=""
          className="absolute inset-y-0 z-[5] w-0.5 bg-focus"
          style={{ left: `min(${percent(place(lit))}, calc(100% - 2px))` }}
        />
      )}
      {chart.ribbon.map(({ state, from, to }, n) => {
        const family = FAMILY[state]
        return (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: moves do not change their places
            key={n}
            title={`${words.state(state)}, ${span(to - from)}`}
            className="@container absolute top-1 h-[18px] overflow-hidden rounded-[3px] text-xs"
            style={
              {
                left: percent(place(from)),
                width: `max(3px, ${percent(place(to) - place(from))})`,
                background: `var(--${family})`,
                color: `var(--${family})`,
                '--hole': `var(--${family}-bg)`,
              } as CSSProperties
            }
          >
            {/* What is too narrow for a picture is plain; what is wide enough has the word, too. */}
            <span
              className="hidden h-full items-center gap-1 px-px @min-[16px]:flex"
              style={{ background: `var(--${family}-bg)` }}
            >
              <StateIcon state={state} size={14} />
              <span className="hidden min-w-0 truncate @min-[64px]:block">{words.state(state)}</span>
            </span>
          </span>
        )
      })}
    </div>
  )
}
