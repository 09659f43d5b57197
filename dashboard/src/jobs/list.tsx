/** A list that is as long as it likes and has a screenful of rows in the page. It never loads payloads. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import type { Job } from '../api/wire.ts'
import { useKeys } from '../frame/keys.ts'
import { Moment } from '../parts/moment.tsx'
import { Phrase } from '../parts/phrase.tsx'
import { JobState } from '../parts/state-word.tsx'
import { useKept } from '../words/kept.ts'
import { useMedia } from '../words/media.ts'
import type { Row } from './listing.ts'
import type { Rows } from './use-jobs.ts'

const ROW_PX = { comfortable: 36, dense: 28 } as const
const PHONE_ROW_PX = 60
/** By the room there is: in a narrow window, as beside a preview, no more than what a row is about. */
const COLUMNS =
  'grid-cols-[20px_128px_minmax(0,1.4fr)_minmax(0,1fr)_72px] @min-[860px]:grid-cols-[20px_128px_minmax(170px,1fr)_minmax(200px,2fr)_minmax(60px,112px)_64px_36px_72px]'
/** Of a box: what a finger meets. */
const AROUND = '-mx-3 flex h-full w-11 items-center justify-center'
const BESIDES = 'hidden @min-[860px]:block'

export interface ListProps {
  readonly rows: Rows
  readonly picked: ReadonlyMap<string, Job>
  readonly onPick: (job: Job) => void
  /** Instead of what was picked. */
  readonly onPickAll: (jobs: readonly Job[]) => void
  /** The one that is looked at beside the list. */
  readonly shown: string | undefined
  readonly onPreview: (id: string | undefined) => void
}

export function List({ rows, picked, onPick, onPickAll, shown, onPreview }: ListProps): ReactNode {
  const isPhone = useMedia('(max-width: 719px)')
  const [density] = useKept('density', 'comfortable')
  const rowPx = density === 'dense' ? ROW_PX.dense : ROW_PX.comfortable
  const [, go] = useLocation()
  const [current, setCurrent] = useState(-1)
  const place = useRef<HTMLDivElement>(null)
  /** Where a range begins. */
  const lastPicked = useRef(0)
  const virtual = useVirtualizer({
    count: rows.count,
    getScrollElement: () => place.current,
    estimateSize: () => (isPhone ? PHONE_ROW_PX : rowPx),
    overscan: 8,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows of another height are measured anew
  useEffect(() => virtual.measure(), [rowPx, isPhone])
  const items = virtual.getVirtualItems()
  const first = items[0]?.index ?? 0
  const last = items.at(-1)?.index ?? 0
  const { listing } = rows
  useEffect(() => listing.see(first, last), [listing, first, last])

  const move = (by: number) => {
    const next = Math.max(0, Math.min(rows.count - 1, current + by))
    setCurrent(next)
    virtual.scrollToIndex(next)
    if (shown !== undefined) onPreview(listing.at(next)?.job.id)
  }
  const chosenJob = listing.at(current)?.job
  const chosen = chosenJob?.id
  const pickRange = () => {
    const [from, to] = [Math.max(0, Math.min(current, lastPicked.current)), Math.max(current, lastPicked.current)]
    const range = Array.from({ length: to - from + 1 }, (_, n) => listing.at(from + n)?.job ?? [])
    onPickAll([...new Map([...picked.values(), ...range.flat()].map((job) => [job.id, job])).values()])
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    n: rows.show,
    x: () => {
      if (chosenJob === undefined) return
      lastPicked.current = current
      onPick(chosenJob)
    },
    ['X']: () => pickRange(),
    '*': () => document.querySelector<HTMLButtonElement>('[data-all]')?.click(),
    ' ': () => chosen && onPreview(shown === chosen ? undefined : chosen),
    ['Enter']: () => chosen && go(`/jobs/${encodeURIComponent(chosen)}`),
  })
  return (
    <div className="card @container flex min-h-0 flex-1 flex-col overflow-hidden">
      {isPhone ? null : (
        <div className={`grid ${COLUMNS} items-center gap-3 px-4 py-2 text-xs text-text-3`}>
          <label className={AROUND}>
            <input
              type="checkbox"
              aria-label="Pick all that are listed"
              title="Those around here, a thousand at most; “All of them…” is about all that match"
              className="size-3.5 accent-[var(--focus)]"
              checked={picked.size > 0 && picked.size >= listing.kept().length}
              onChange={({ target }) => onPickAll(target.checked ? listing.kept() : [])}
            />
          </label>
          <span>State</span>
          <span>Job</span>
          <span>Now</span>
          <span className={BESIDES}>Queue</span>
          <span className={`${BESIDES} text-right`}>Failures</span>
          <span className={`${BESIDES} text-right`}>Runs</span>
          <span className="text-right">Changed</span>
        </div>
      )}
      {rows.fresh > 0 ? (
        <button
          type="button"
          className="link border-t border-line py-1 text-sm font-medium"
          style={{ background: 'var(--work-bg)' }}
          onClick={rows.show}
        >
          {rows.fresh === 1 ? '1 new job matches' : `${rows.fresh === 100 ? '100 or more' : rows.fresh} new jobs match`}
          . Show {rows.fresh === 1 ? 'it' : 'them'} <kbd>n</kbd>
        </button>
      ) : null}
      <div
        ref={place}
        className="min-h-0 flex-1 overflow-y-auto"
        role="grid"
        aria-label="Jobs"
        aria-rowcount={rows.isEnd ? rows.count : -1}
        tabIndex={0}
      >
        <div style={{ height: virtual.getTotalSize(), position: 'relative' }} role="rowgroup">
          {items.map(({ index, start, size, key }) => {
            const row = listing.at(index)
            if (row === undefined) return <Missing key={key} start={start} size={size} />
            const props = { row, isCurrent: index === current, isPicked: picked.has(row.job.id), onPick }
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: j, k and Space do the same, wherever the focus is
              <div
                key={key}
                role="row"
                aria-rowindex={index + 1}
                data-job={row.job.id}
                style={{
                  position: 'absolute',
                  top: 0,
                  left: 0,
                  right: 0,
                  height: size,
                  transform: `translateY(${start}px)`,
                }}
                onClick={(event) => {
                  setCurrent(index)
                  // Links and boxes in a row do what they do.
                  if (!(event.target as HTMLElement).closest('a, input, label')) onPreview(row.job.id)
                }}
                className={`border-t border-line hover:bg-hover ${row.job.id === shown ? 'bg-hover' : ''} ${index === current ? 'bg-hover shadow-[inset_2px_0_var(--focus)]' : ''} ${row.isGone ? 'opacity-60' : ''}`}
                title={row.isGone ? 'It no longer matches; it goes with the next search.' : undefined}
              >
                {isPhone ? <PhoneRow {...props} /> : <DeskRow {...props} />}
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}

/** One that was let go of, and is on its way back. */
function Missing({ start, size }: { readonly start: number; readonly size: number }): ReactNode {
  return (
    <div
      aria-hidden="true"
      className="absolute inset-x-0 top-0 flex items-center border-t border-line px-4"
      style={{ height: size, transform: `translateY(${start}px)` }}
    >
      <span className="skeleton h-4 w-1/2" />
    </div>
  )
}

/** None is none, of however many. */
const failuresIn = ({ failures, maxAttempts }: Job): string =>
  failures === 0 || maxAttempts === undefined ? String(failures) : `${failures} of ${maxAttempts}`

interface RowProps {
  readonly row: Row
  readonly isPicked: boolean
  readonly onPick: (job: Job) => void
}

function DeskRow({ row: { job }, isPicked, onPick }: RowProps): ReactNode {
  return (
    <div className={`grid h-full ${COLUMNS} items-center gap-3 px-4 ${isPicked ? 'bg-[var(--work-bg)]' : ''}`}>
      <span role="gridcell" className="h-full">
        <label className={AROUND}>
          <input
            type="checkbox"
            aria-label={`Pick ${job.id}`}
            className="size-3.5 accent-[var(--focus)]"
            checked={isPicked}
            onChange={() => onPick(job)}
          />
        </label>
      </span>
      <span role="gridcell" className="flex min-w-0 overflow-hidden">
        <JobState job={job} />
      </span>
      <span role="gridcell" className="min-w-0 truncate">
        <Link href={`/jobs/${encodeURIComponent(job.id)}`} className="font-medium hover:underline">
          {job.type}
        </Link>{' '}
        <span className="mono text-text-3">{job.id}</span>
      </span>
      <span role="gridcell" className="min-w-0 truncate text-text-2">
        <Phrase now={job.now} />
      </span>
      <span role="gridcell" className={`${BESIDES} min-w-0 truncate text-text-2`}>
        {job.queue}
      </span>
      <span role="gridcell" className={`${BESIDES} text-right text-text-2`}>
        {failuresIn(job)}
      </span>
      <span role="gridcell" className={`${BESIDES} text-right text-text-2`}>
        {job.attempt}
      </span>
      <span role="gridcell" className="text-right whitespace-nowrap text-text-2">
        <Moment at={job.updatedAt} as="ago" />
      </span>
    </div>
  )
}

function PhoneRow({ row: { job } }: RowProps): ReactNode {
  return (
    <div role="gridcell">
      <Link href={`/jobs/${encodeURIComponent(job.id)}`} className="flex h-[60px] flex-col justify-center gap-0.5 px-4">
        <span className="flex items-center gap-2">
          <JobState job={job} />
          <span className="min-w-0 truncate">{job.type}</span>
          <span className="ml-auto text-sm text-text-3">
            <Moment at={job.updatedAt} as="ago" />
          </span>
        </span>
        <span className="truncate text-sm text-text-2">
          <Phrase now={job.now} />
        </span>
      </Link>
    </div>
  )
}
