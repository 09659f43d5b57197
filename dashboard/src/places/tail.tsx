/** Events as they come. It pauses when it is told to, and when nobody looks; what was missed meanwhile is read by the stream. */
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import { useLive } from '../api/live.ts'
import type { JobEvent } from '../api/wire.ts'
import { Title } from '../frame/title.tsx'
import { sayingOf } from '../job/saying.ts'
import { StateIcon } from '../parts/state-icon.tsx'
import { Empty } from '../parts/trouble.tsx'
import { absolute } from '../words/format.ts'
import { useWords } from '../words/vocabulary.tsx'

/** Rows in the page, and events in memory: of thousands a second nobody reads all, and each must find those that are looked for. */
const SHOWN = 60
const KEPT = 2_000
/** Nobody reads faster. */
const SHOW_EVERY_MS = 150

export function TailPlace(): ReactNode {
  const words = useWords()
  const [params, setParams] = useSearchParams()
  const wanted = params.get('q') ?? ''
  const [isPaused, setPaused] = useState(false)
  const [events, setEvents] = useState<readonly JobEvent[]>([])
  const [behind, setBehind] = useState(0)
  const come = useRef<JobEvent[]>([])
  const heard = useCallback((event: JobEvent) => {
    come.current.push(event)
    if (come.current.length > 2 * KEPT) come.current.splice(0, KEPT)
  }, [])
  useLive(heard)
  useEffect(() => {
    const timer = setInterval(() => {
      if (come.current.length === 0) return
      if (isPaused) return setBehind(come.current.length)
      const latest = come.current.splice(0)
      setBehind(0)
      setEvents((before) => [...before, ...latest].slice(-KEPT))
    }, SHOW_EVERY_MS)
    return () => clearInterval(timer)
  }, [isPaused])
  const shown = events
    .filter((event) => isWanted(event, wanted))
    .slice(-SHOWN)
    .toReversed()
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-3 p-4 phone:px-6 phone:py-5">
      <Title text="Tail" />
      <div className="flex flex-wrap items-center gap-2">
        <input
          className="field mono min-w-0 flex-1"
          data-query=""
          aria-label="Show what contains"
          placeholder="a type, a queue, an event, an id"
          value={wanted}
          onChange={(event) => setParams(event.target.value === '' ? {} : { q: event.target.value }, { replace: true })}
        />
        <button type="button" className="btn" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? `Go on (${behind} wait)` : 'Pause'}
        </button>
      </div>
      {shown.length === 0 ? (
        <Empty title="Nothing has happened yet">
          Events come as they happen, from the moment this page was opened.
        </Empty>
      ) : (
        <div
          className="card min-h-0 flex-1 overflow-x-auto"
          tabIndex={0}
          role="log"
          aria-live="off"
          aria-label="Events"
        >
          <table className="rows">
            <tbody>
              {shown.map((event) => (
                <tr key={event.id ?? `${event.jobId}/${event.rev}`}>
                  <td className="mono whitespace-nowrap text-text-3" title={absolute(Date.parse(event.at))}>
                    {event.at?.slice(11, 23)}
                  </td>
                  <td className="font-medium whitespace-nowrap">{words.event(event.type)}</td>
                  <td className="whitespace-nowrap">
                    {event.to === undefined ? null : (
                      <span className="inline-flex items-center gap-1.5">
                        <StateIcon state={event.to} />
                        {words.state(event.to)}
                      </span>
                    )}
                  </td>
                  <td className="whitespace-nowrap">
                    <Link className="hover:underline" href={`/jobs/${encodeURIComponent(event.jobId)}`}>
                      {event.jobType} <span className="mono text-text-3">{event.jobId}</span>
                    </Link>
                  </td>
                  <td
                    className="w-full max-w-0 truncate text-text-2"
                    title={event.payload === undefined ? '' : sayingOf(event)}
                  >
                    {event.payload === undefined ? 'removed since' : sayingOf(event)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  )
}

const isWanted = ({ type, jobType = '', queue = '', jobId, actor = '' }: JobEvent, wanted: string): boolean =>
  wanted === '' ||
  [type, jobType, queue, jobId, actor].some((text) => text.toLowerCase().includes(wanted.toLowerCase()))
