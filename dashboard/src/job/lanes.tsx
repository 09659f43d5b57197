/** The lanes of a time axis: one for each run, and one below it for each of its steps and waits. Of many runs the last are open, and the page has a screenful. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, type ReactNode, useMemo, useRef, useState } from 'react'
import { Icon } from '../parts/icon.tsx'
import { clock, plural, span } from '../words/format.ts'
import { type Folded, foldedFrom, rowsOf } from './rows.ts'
import type { Bar, Chart, Lane } from './time.ts'

/** Where a moment stands, as a share of the width. */
export type Place = (at: number) => number

export interface Axis {
  readonly chart: Chart
  readonly place: Place
  /** Where now is; undefined where it is not on the axis. */
  readonly now: number | undefined
  /** Something is to come after it. */
  readonly isAhead: boolean
}

export const percent = (share: number): string => `${(100 * share).toFixed(3)}%`

/** Names, and what they are about: each row by itself, so that any of them may be left out. */
export const ROW = 'grid grid-cols-[92px_minmax(0,1fr)] phone:grid-cols-[180px_minmax(0,1fr)]'

const ROW_PX = 24
/** No more are on screen at once; beyond, they scroll. */
const HIGH_PX = 30 * ROW_PX

export function Lanes({ axis }: { readonly axis: Axis }): ReactNode {
  const { lanes } = axis.chart
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set())
  const rows = useMemo(() => rowsOf(lanes, foldedFrom(lanes), unfolded), [lanes, unfolded])
  const place = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => place.current,
    estimateSize: () => ROW_PX,
    overscan: 4,
    // What happens last is what one has come for.
    initialOffset: rows.length * ROW_PX,
  })
  const toggle = (key: string) =>
    setUnfolded((before) => {
      const next = new Set(before)
      if (!next.delete(key)) next.add(key)
      return next
    })
  const last = rows.findLastIndex(({ lane }) => lane.isRun)
  return (
    <div
      ref={place}
      className="overflow-y-auto"
      style={{ maxHeight: HIGH_PX }}
      role="list"
      aria-label="Runs and their steps"
      tabIndex={rows.length * ROW_PX > HIGH_PX ? 0 : -1}
    >
      <div className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start, key }) => {
          const row = rows[index]
          return row === undefined ? null : (
            <div
              key={key}
              role="listitem"
              data-lane=""
              aria-setsize={rows.length}
              aria-posinset={index + 1}
              className={`${ROW} absolute inset-x-0`}
              style={{ height: ROW_PX, transform: `translateY(${start}px)` }}
            >
              <Name lane={row.lane} folded={row.folded} onToggle={() => toggle(row.lane.key)} />
              <Track lane={row.lane} axis={axis} isAhead={axis.isAhead && index === last} />
            </div>
          )
        })}
      </div>
    </div>
  )
}

interface NameProps {
  readonly lane: Lane
  readonly folded: Folded | undefined
  readonly onToggle: () => void
}

const plainly = (name: string): string => name.replace(/#1$/, '')

function Name({ lane, folded, onToggle }: NameProps): ReactNode {
  if (!lane.isRun)
    return (
      <span
        className={`truncate pl-3 leading-6 ${lane.isUnnamed ? 'text-text-3' : 'mono text-text-2'}`}
        title={lane.isUnnamed ? `${lane.name}: a log tells when a step was kept, and not when one began` : lane.name}
      >
        {plainly(lane.name)}
      </span>
    )
  return (
    <span className="flex min-w-0 items-center gap-2 border-t border-line">
      {folded === undefined ? null : (
        <button
          type="button"
          className="-mx-1 flex items-center justify-center"
          aria-expanded={!folded.isFolded}
          aria-label={`${lane.name}: ${plural(folded.steps, 'lane')}`}
          onClick={onToggle}
        >
          <Icon name={folded.isFolded ? 'right' : 'down'} size={14} />
        </button>
      )}
      <span className="font-medium whitespace-nowrap">{lane.name}</span>
      <span className="mono hidden truncate text-xs text-text-3 phone:inline" title={lane.note}>
        {lane.note}
      </span>
    </span>
  )
}

interface TrackProps {
  readonly lane: Lane
  readonly axis: Axis
  /** It may go on to the end of the axis. */
  readonly isAhead: boolean
}

function Track({ lane, axis, isAhead }: TrackProps): ReactNode {
  const { place, now = 1 } = axis
  const [first] = lane.bars
  return (
    <div className={`relative h-6 overflow-x-clip ${lane.isRun ? 'border-t border-line' : ''}`}>
      <Ground axis={axis} />
      {lane.bars.map((bar, n) => (
        <BarMark key={bar.from} bar={bar} place={place} isNamed={n === lane.bars.length - 1} isBehind={n > 0} />
      ))}
      {lane.kept.length === 0 || first === undefined ? null : (
        <span
          role="img"
          aria-label={`goes on behind ${plural(lane.kept.length, 'kept step')}`}
          title={`From earlier runs: ${lane.kept.map(plainly).join(', ')}`}
          className="absolute top-2 size-2 rotate-45 border border-good bg-surface"
          style={{ left: `calc(${percent(place(first.from))} - 4px)` }}
        />
      )}
      {isAhead ? (
        <span
          className="absolute top-[11px] border-t-2 border-dotted border-edge"
          style={{ left: percent(now), right: 0 }}
        />
      ) : null}
    </div>
  )
}

/** What lies under the bars of a row: idle stretches, and the line of now, which goes through all of them. */
export function Ground({ axis: { chart, place, now } }: { readonly axis: Axis }): ReactNode {
  return (
    <>
      {chart.stretches
        .filter(({ isIdle }) => isIdle)
        .map(({ from, to }) => (
          <span
            key={from}
            className="absolute inset-y-0 bg-sunken"
            style={{ left: percent(place(from)), width: percent(place(to) - place(from)) }}
          />
        ))}
      {now === undefined ? null : (
        <span
          data-now=""
          className="absolute inset-y-0 z-[4] w-px bg-ink"
          style={{ left: `min(${percent(now)}, calc(100% - 1px))` }}
        />
      )}
    </>
  )
}

const STYLES: Readonly<Record<Bar['kind'], CSSProperties>> = {
  run: { background: 'var(--work-bg)', border: '1.5px solid var(--work)' },
  failed: { background: 'var(--bad-bg)', border: '1.5px solid var(--bad)' },
  step: { background: 'var(--good)' },
  broke: { background: 'var(--bad)' },
  going: { background: 'var(--work)' },
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
  broke: 'bad',
  going: 'work',
  lost: 'again',
  wait: 'wait',
}

/** Shares of the axis that a word needs beside a bar. */
const ROOM = 0.3

/** Text stands beside the bar, on the side that has room; where neither has, on it. */
interface BarMarkProps {
  readonly bar: Bar
  readonly place: Place
  /** Of several in a lane the last: another stands where the words of the others would. */
  readonly isNamed: boolean
  /** Another stands before it. */
  readonly isBehind: boolean
}

function BarMark({ bar, place, isNamed, isBehind }: BarMarkProps): ReactNode {
  const from = place(bar.from)
  const to = place(bar.to)
  const text = bar.text === '' ? span(bar.to - bar.from) : bar.text
  const side = 1 - to > ROOM ? 'right' : from > ROOM && !isBehind ? 'left' : 'on'
  return (
    <>
      <span
        title={`${clock(bar.from)} to ${bar.isOpen ? 'now' : clock(bar.to)}, ${span(bar.to - bar.from)}${bar.text === '' ? '' : `, ${bar.text}`}`}
        className="absolute top-1.5 h-3 rounded-[3px]"
        style={{ ...STYLES[bar.kind], left: percent(from), width: `max(3px, ${percent(to - from)})` }}
      />
      <span
        hidden={!isNamed}
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
