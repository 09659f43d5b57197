/** What was decided about jobs that waited to be let in: the newest first, and further back from there. */
import type { ReactNode } from 'react'
import { Link, useSearchParams } from 'wouter'
import { useDecisions } from '../api/approvals.ts'
import { queryOf } from '../api/http.ts'
import { decisionIn, isAbout } from '../approvals/decision.ts'
import { DecisionTable } from '../approvals/decision-table.tsx'
import { Title } from '../frame/title.tsx'
import { Card } from '../parts/card.tsx'
import { Empty, Loading, Trouble } from '../parts/trouble.tsx'
import { absolute, plural } from '../words/format.ts'

const LEAST = 100

export function DecisionsPlace(): ReactNode {
  const [params, setParams] = useSearchParams()
  const wanted = params.get('q') ?? ''
  const before = Date.parse(params.get('before') ?? '')
  const { data, error } = useDecisions(Number.isNaN(before) ? undefined : before, LEAST)
  const decisions = (data?.events ?? []).map(decisionIn).filter((decision) => isAbout(decision, wanted))
  return (
    <div className="page">
      <Title text="Decisions">
        <span className="flex min-w-0 items-center gap-2 text-md">
          <Link href="/approvals" className="text-text-3 hover:underline">
            Approvals
          </Link>
          <span className="text-text-3">/</span>
          <span className="font-semibold">Decisions</span>
        </span>
      </Title>
      {error === null ? null : <Trouble error={error} />}
      {data === undefined ? (
        error === null ? (
          <Loading />
        ) : null
      ) : (
        <Card
          title="What was decided"
          note={`${plural(decisions.length, 'decision')} since ${absolute(data.from).slice(0, 16)} UTC, the newest first`}
          right={
            <input
              className="field"
              data-query=""
              aria-label="Show what contains"
              placeholder="rule, why, who, job"
              value={wanted}
              onChange={(event) => setParams(withQuery(params, event.target.value), { replace: true })}
            />
          }
        >
          {decisions.length === 0 ? (
            <Empty title="Nothing here was decided">
              {wanted === ''
                ? 'Nobody was let in or turned away in this time.'
                : `Nothing in this time has “${wanted}” in it.`}
            </Empty>
          ) : (
            <DecisionTable decisions={decisions} />
          )}
          <p className="flex gap-4 border-t border-line px-4 py-2 text-sm">
            <Link
              className="link"
              href={`/approvals/decisions${queryOf({ q: wanted, before: new Date(data.from).toISOString() })}`}
            >
              Earlier
            </Link>
            {Number.isNaN(before) ? null : (
              <Link className="link" href={`/approvals/decisions${queryOf({ q: wanted })}`}>
                The newest
              </Link>
            )}
          </p>
        </Card>
      )}
    </div>
  )
}

function withQuery(params: URLSearchParams, q: string): URLSearchParams {
  const next = new URLSearchParams(params)
  if (q === '') next.delete('q')
  else next.set('q', q)
  return next
}
