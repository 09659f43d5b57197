import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { JobEvent } from '../api/wire.ts'
import { sayingOf } from '../job/saying.ts'
import { StateIcon } from '../parts/state-icon.tsx'
import { absolute } from '../words/format.ts'
import { useWords } from '../words/vocabulary.tsx'

/** Events of many jobs, one a row. */
export function EventTable({ events }: { readonly events: readonly JobEvent[] }): ReactNode {
  const words = useWords()
  return (
    <table className="rows">
      <tbody>
        {events.map((event) => (
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
  )
}
