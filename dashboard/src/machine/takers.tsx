/** The last ten jobs that have gone along a line, whatever has become of them since. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { useTakers } from '../api/queries.ts'
import { Moment } from '../parts/moment.tsx'
import { Loading, Trouble } from '../parts/trouble.tsx'
import { useWords } from '../words/vocabulary.tsx'
import { type LineName, lineOf } from './lines.ts'

/** A line stands for several changes: of all of them together so many. */
const SHOWN = 10

export function Takers({ line }: { readonly line: LineName }): ReactNode {
  const { data, error } = useTakers()
  const words = useWords()
  const own = (data ?? [])
    .filter((change) => lineOf(change) === line)
    .flatMap(({ event, from, jobs }) => jobs.map((job) => ({ ...job, event, from })))
    .toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
    .slice(0, SHOWN)
  return (
    <div className="min-w-0">
      <h3 className="mb-1 text-sm font-medium text-text-3">Last jobs that took it</h3>
      {error === null ? null : <Trouble error={error} />}
      {data === undefined && error === null ? <Loading rows={3} /> : null}
      {data !== undefined && own.length === 0 ? (
        <p className="text-text-3">None, as far as this gateway has counted.</p>
      ) : null}
      <ol aria-label="Last jobs that took it">
        {own.map(({ id, type, event, at, by }) => (
          <li key={`${id} ${event} ${at}`} className="flex items-center gap-2 py-0.5">
            <Link className="min-w-0 truncate font-medium hover:underline" href={`/jobs/${encodeURIComponent(id)}`}>
              {type}
            </Link>
            <span className="mono hidden min-w-0 truncate text-text-3 phone:inline">{id}</span>
            <span className="min-w-0 truncate text-sm text-text-2">
              {words.event(event)} by {by}
            </span>
            <span className="ml-auto text-sm whitespace-nowrap text-text-2">
              <Moment at={at} />
            </span>
          </li>
        ))}
      </ol>
    </div>
  )
}
