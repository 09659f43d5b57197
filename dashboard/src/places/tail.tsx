/** Events as they come. It pauses when it is told to, and when nobody looks; what was missed meanwhile is read by the stream. */
import { type ReactNode, useState } from 'react'
import { useSearchParams } from 'wouter'
import type { JobEvent } from '../api/wire.ts'
import { Title } from '../frame/title.tsx'
import { matches } from '../jobs/query.ts'
import { Empty } from '../parts/trouble.tsx'
import { EventTable } from '../tail/event-table.tsx'
import { useTail } from '../tail/use-tail.ts'
import { plural } from '../words/format.ts'

/** Rows in the page. */
const SHOWN = 60

export function TailPlace(): ReactNode {
  const [params, setParams] = useSearchParams()
  const wanted = params.get('q') ?? ''
  const [isPaused, setPaused] = useState(false)
  const { events, behind } = useTail(isPaused)
  const shown = events
    .filter((event) => isWanted(event, wanted))
    .slice(-SHOWN)
    .toReversed()
  return (
    <div className="page min-h-0 flex-1">
      <Title text="Tail" />
      <div className="flex flex-wrap items-center gap-2">
        <input
          className="field mono min-w-0 flex-1"
          data-query=""
          aria-label="Show what contains"
          placeholder="queue:mail event:failed, or any word"
          value={wanted}
          onChange={(event) => setParams(event.target.value === '' ? {} : { q: event.target.value }, { replace: true })}
        />
        <button type="button" className="btn" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? `Go on (${behind} wait)` : 'Pause'}
        </button>
      </div>
      {shown.length === 0 ? (
        <Empty title={events.length === 0 ? 'Nothing has happened yet' : 'Nothing that has come matches'}>
          Events come as they happen, from the moment this page was opened
          {events.length === 0 ? '' : `: ${plural(events.length, 'event')} so far`}.
        </Empty>
      ) : (
        <div
          className="card min-h-0 flex-1 overflow-x-auto"
          tabIndex={0}
          role="log"
          aria-live="off"
          aria-label="Events"
        >
          <EventTable events={shown} />
        </div>
      )}
    </div>
  )
}

type Named = Readonly<Record<string, string | undefined>>

/** Every word of it: `queue:mail` of a field, else anywhere; `*` at either end of a value, as in searches. */
function isWanted(event: JobEvent, wanted: string): boolean {
  const { type, jobType = '', queue = '', jobId, actor = '', to, state } = event
  const fields: Named = { event: type, type: jobType, queue, id: jobId, actor, state: to ?? state }
  return wanted
    .split(/\s+/)
    .filter((word) => word !== '')
    .every((word) => {
      const [, minus, field = '', value = ''] = /^(-?)([a-z]+):(.+)$/.exec(word) ?? []
      const own = fields[field]
      if (own !== undefined) return value.split(',').some((each) => matches(each, own)) !== (minus === '-')
      return [type, jobType, queue, jobId, actor].some((text) => text.toLowerCase().includes(word.toLowerCase()))
    })
}
