/** One key: what it lets in and why, its numbers, what a person may do about it, and what changed it. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { type LimitKey, useLimit } from '../api/limits.ts'
import { Card } from '../parts/card.tsx'
import { FactList } from '../parts/fact-list.tsx'
import { Icon } from '../parts/icon.tsx'
import { Moment } from '../parts/moment.tsx'
import { Loading, Trouble } from '../parts/trouble.tsx'
import { clock, count, plural } from '../words/format.ts'
import { useNow } from '../words/now.ts'
import { KeyHistory } from './history.tsx'
import { KeyButtons } from './key-buttons.tsx'
import { KeyDrawing } from './key-drawing.tsx'
import { KeyWord } from './key-word.tsx'
import { LimitEditor } from './limit-form.tsx'
import { heldText, isFull, isSpent, limitWords, rateText, turnsAt, windowWords } from './numbers.ts'
import { Slots } from './table.tsx'

export function KeyPanel({ name }: { readonly name: string }): ReactNode {
  const { data: limit, error } = useLimit(name)
  if (error !== null) return <Trouble error={error} />
  if (limit === undefined) return <Loading />
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <Card
        title={<span className="mono break-all">{limit.key}</span>}
        note={<KeyWord state={limit.state} />}
        right={
          <Link href="/limits" aria-label="Close" className="icon-button max-desk:hidden">
            <Icon name="close" />
          </Link>
        }
      >
        <div className="flex flex-col gap-3 px-4 pb-4">
          <p>
            <Sentence limit={limit} />
          </p>
          <KeyDrawing state={limit.state} />
          <Facts limit={limit} />
          <KeyButtons limit={limit} />
        </div>
      </Card>
      <LimitEditor key={limit.key} limit={limit} />
      <KeyHistory log={limit.log ?? []} />
    </div>
  )
}

/** What it lets in at present, and what would have to change. */
function Sentence({ limit }: { readonly limit: LimitKey }): ReactNode {
  const now = useNow()
  const { state, until, allowed, held } = limit
  if (state === 'broken' && until !== undefined)
    return (
      <>
        Nothing is let in until <b className="font-medium">{clock(Date.parse(until))} UTC</b>, <Moment at={until} />.
        Then one job tries.
      </>
    )
  if (state === 'probing') return 'One job at a time finds out whether it works again; the others wait for its answer.'
  if (state === 'slow') return `${count(allowed ?? 1)} at once for now, and more while they succeed.`
  if (isSpent(limit) && limit.limit.budget !== undefined)
    return `Its budget is spent: nothing is let in until the window turns at ${clock(turnsAt(limit.limit.budget.perMs, now))} UTC.`
  if (isFull(limit)) return `All slots are taken; ${plural(held, 'job waits', 'jobs wait')} for the next that is free.`
  return `Nothing is wrong: ${limitWords(limit.limit)}.`
}

function Facts({ limit }: { readonly limit: LimitKey }): ReactNode {
  const { held, session, since, cause, spent } = limit
  const { rate, budget } = limit.limit
  return (
    <FactList
      facts={[
        ['Running', <Slots key="slots" limit={limit} />],
        ['Held', heldText(held)],
        ['Rate', rate !== undefined && rateText(rate)],
        [
          'Spent',
          budget !== undefined && `${count(spent)} of ${count(budget.amount)} per ${windowWords(budget.perMs)}`,
        ],
        ['Weight', limit.limit.weight],
        ['Session', session > 0 && `${count(session)}: handlers rotate when it changes`],
        ['Since', since !== undefined && <Moment key="since" at={since} />],
        [
          'Because of',
          cause?.job !== undefined && (
            <Link key="job" className="link mono" href={`/jobs/${encodeURIComponent(cause.job)}`}>
              {cause.code ?? cause.job}
            </Link>
          ),
        ],
        ['By', cause !== undefined && cause.job === undefined && cause.actor],
      ]}
    />
  )
}
