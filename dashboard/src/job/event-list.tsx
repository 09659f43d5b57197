/** What happened to a job, newest first: who, when, and what it says. Long logs have a screenful in the page. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useMemo, useRef } from 'react'
import type { JobEvent, State } from '../api/wire.ts'
import { Moment } from '../parts/moment.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import type { ToldMove } from '../words/told.ts'
import { useWords } from '../words/vocabulary.tsx'
import { sayingOf } from './saying.ts'

const ROW_PX = 36

export interface EventListProps {
  readonly events: readonly JobEvent[]
  readonly isWhole: boolean
  /** The one that is looked at, by its revision: an address may name it. */
  readonly lit?: number | undefined
}

export function EventList({ events, isWhole, lit }: EventListProps): ReactNode {
  const words = useWords()
  const place = useRef<HTMLDivElement>(null)
  const shown = events.toReversed()
  const told = useMemo(() => words.moves(events), [words, events])
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => place.current,
    estimateSize: () => ROW_PX,
    overscan: 10,
  })
  const at = lit === undefined ? -1 : shown.findIndex(({ rev }) => rev === lit)
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is gone to once, and not again when the log grows
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: 'auto' })
  }, [lit])
  return (
    <div
      ref={place}
      className="max-h-[420px] overflow-y-auto"
      role="table"
      aria-label="Events"
      aria-rowcount={shown.length}
      tabIndex={0}
    >
      {isWhole ? null : (
        <p className="px-4 py-2 text-sm text-text-2">These are the newest {events.length} events of a longer log.</p>
      )}
      <div style={{ height: virtual.getTotalSize(), position: 'relative' }} role="rowgroup">
        {virtual.getVirtualItems().map(({ index, start, key }) => {
          const event = shown[index]
          if (event === undefined) return null
          return (
            <div
              key={key}
              role="row"
              id={`rev-${event.rev}`}
              aria-current={event.rev === lit ? 'true' : undefined}
              className={`${event.rev === lit ? 'bg-hover shadow-[inset_2px_0_var(--focus)] ' : ''}absolute inset-x-0 grid grid-cols-[36px_minmax(96px,150px)_minmax(0,1fr)_auto] items-center gap-3 border-t border-line px-4 phone:grid-cols-[36px_150px_130px_minmax(0,1fr)_minmax(0,140px)_64px]`}
              style={{ height: ROW_PX, transform: `translateY(${start}px)` }}
            >
              <span role="cell" className="text-text-3">
                {event.rev}
              </span>
              <span role="cell" className="truncate font-medium">
                {words.event(event.type)}
              </span>
              <span role="cell" className="hidden items-center gap-1.5 phone:flex">
                {event.to === undefined ? null : (
                  <>
                    <StateIcon state={event.to} />
                    <ToldTo state={event.to} moves={told?.get(event.rev)} />
                  </>
                )}
              </span>
              <span role="cell" className="truncate text-text-2" title={sayingOf(event)}>
                {sayingOf(event)}
              </span>
              <span role="cell" className="hidden truncate text-right text-text-2 phone:block" title={event.actor}>
                {event.actor}
              </span>
              <span role="cell" className="text-right text-sm text-text-3">
                <Moment at={event.at} as="ago" />
              </span>
            </div>
          )
        })}
      </div>
    </div>
  )
}

interface ToldToProps {
  readonly state: State
  /** Absent in our own words. */
  readonly moves: readonly ToldMove[] | undefined
}

/** Where it has come to; in a document's words by which of its moves, those that nobody caused in italics. */
function ToldTo({ state, moves }: ToldToProps): ReactNode {
  const words = useWords()
  if (moves === undefined) return <span className="truncate">{words.state(state)}</span>
  if (moves.length === 0) return <span className="truncate text-text-3">no word for it</span>
  const text = moves.map(({ to }) => to).join(' → ')
  const isImplied = moves.some((move) => move.isImplied)
  return (
    <span className="truncate" title={isImplied ? `${text}; what is in italics nobody caused` : text}>
      {moves.map(({ to, isImplied: isItalic }, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they never change
        <span key={n}>
          {n === 0 ? '' : ' → '}
          {isItalic ? <i>{to}</i> : to}
        </span>
      ))}
    </span>
  )
}
