/** What changed a key, the newest first: each with its cause, and the job that brought it. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { KeyChange } from '../api/limits.ts'
import { Card } from '../parts/card.tsx'
import { Moment } from '../parts/moment.tsx'
import { clock } from '../words/format.ts'

const SHOWN_MOST = 50

export function KeyHistory({ log }: { readonly log: readonly KeyChange[] }): ReactNode {
  return (
    <Card title="What changed it" note={log.length > SHOWN_MOST ? `the last ${SHOWN_MOST}` : undefined}>
      {log.length === 0 ? (
        <p className="px-4 pb-4 text-text-2">Nothing yet: it has always been open.</p>
      ) : (
        <ol>
          {log
            .toReversed()
            .slice(0, SHOWN_MOST)
            .map((change) => (
              <li
                key={change.rev}
                className="grid grid-cols-[64px_minmax(0,1fr)_auto] gap-2 border-t border-line px-4 py-1.5"
              >
                <span className="mono text-text-3">
                  <Moment at={change.at} as="ago" />
                </span>
                <span className="min-w-0">
                  <b className="font-medium">
                    {change.from === change.to ? change.type : `${change.from} → ${change.to}`}
                  </b>
                  <span className="block text-sm break-words text-text-2">{detail(change)}</span>
                </span>
                <span className="mono max-w-30 truncate text-right text-text-3">
                  {change.cause.job === undefined ? (
                    <span title={change.cause.actor}>{change.cause.actor}</span>
                  ) : (
                    <Link className="hover:underline" href={`/jobs/${encodeURIComponent(change.cause.job)}`}>
                      {change.cause.job}
                    </Link>
                  )}
                </span>
              </li>
            ))}
        </ol>
      )}
    </Card>
  )
}

function detail({ type, input, cause, payload: { allowed, session, until } }: KeyChange): string {
  const words = [
    cause.code ?? (input === type ? undefined : input),
    allowed === undefined ? undefined : `${allowed} at once`,
    until === undefined ? undefined : `until ${clock(Date.parse(until))} UTC`,
    session === undefined ? undefined : `session ${session}`,
  ].filter((word) => word !== undefined)
  return words.length === 0 ? type : words.join(', ')
}
