/** Keys in rows: where somebody may be needed, first. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { LimitKey } from '../api/limits.ts'
import { Card } from '../parts/card.tsx'
import { Moment } from '../parts/moment.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { VirtualRows } from '../parts/virtual-rows.tsx'
import { clock, count } from '../words/format.ts'
import { useNow } from '../words/now.ts'
import { KeyWord } from './key-word.tsx'
import { heldText, isFull, isSpent, rateText, turnsAt, windowWords } from './numbers.ts'

export interface KeyTableProps {
  readonly limits: readonly LimitKey[]
  readonly chosen: string | undefined
  readonly note: ReactNode
}

export function KeyTable({ limits, chosen, note }: KeyTableProps): ReactNode {
  return (
    <Card>
      <Scroll label="Keys">
        <table className="rows">
          <thead>
            <tr>
              <th>Key</th>
              <th>State</th>
              <th className="hidden @min-[480px]:table-cell">Running</th>
              <th className="hidden @min-[560px]:table-cell">Rate or budget</th>
              <th className="num">Held</th>
              <th className="num hidden @min-[640px]:table-cell">Session</th>
            </tr>
          </thead>
          <VirtualRows items={limits} keyOf={({ key }) => key} rowPx={56}>
            {(limit) => <KeyRow limit={limit} isChosen={limit.key === chosen} />}
          </VirtualRows>
        </table>
      </Scroll>
      <p className="flex flex-wrap items-center gap-2 border-t border-line px-4 py-2 text-sm text-text-3">{note}</p>
    </Card>
  )
}

function KeyRow({ limit, isChosen }: { readonly limit: LimitKey; readonly isChosen: boolean }): ReactNode {
  const { key, state, held, session } = limit
  return (
    <tr className={isChosen ? 'bg-hover shadow-[inset_2px_0_var(--focus)]' : 'hover:bg-hover'}>
      <td className="max-w-40 py-2 @min-[480px]:max-w-60">
        <Link className="mono block truncate font-medium hover:underline" href={`/limits/${encodeURIComponent(key)}`}>
          {key}
        </Link>
        <span className="block truncate text-sm text-text-3">
          <Why limit={limit} />
        </span>
      </td>
      <td>
        <KeyWord state={state} />
        <span className="block pl-[22px] text-sm whitespace-nowrap text-text-3">
          <SinceWhen limit={limit} />
        </span>
      </td>
      <td className="hidden @min-[480px]:table-cell">
        <Slots limit={limit} />
      </td>
      <td className="hidden text-text-2 @min-[560px]:table-cell">
        <Pace limit={limit} />
      </td>
      <td className={`num whitespace-nowrap ${held > 0 ? 'font-semibold' : 'text-text-3'}`}>{heldText(held)}</td>
      <td className="num hidden text-text-3 @min-[640px]:table-cell">{session === 0 ? '' : count(session)}</td>
    </tr>
  )
}

function Why({ limit }: { readonly limit: LimitKey }): ReactNode {
  if (limit.state !== 'open') return limit.cause?.code ?? limit.cause?.actor ?? 'pushed back'
  if (isSpent(limit)) return 'its budget is spent'
  if (isFull(limit)) return 'full'
  return limit.byHand === undefined ? 'nothing is wrong' : 'set by hand'
}

function SinceWhen({ limit: { state, since, until } }: { readonly limit: LimitKey }): ReactNode {
  if (state === 'broken' && until !== undefined)
    return (
      <>
        probed <Moment at={until} />
      </>
    )
  if (since === undefined) return null
  return (
    <>
      for <Moment at={since} as="ago" />
    </>
  )
}

const BAR_MOST = 12

/** How many of its slots are taken: one small box each, as long as they can be counted by eye. */
export function Slots({ limit: { state, taken, allowed, limit } }: { readonly limit: LimitKey }): ReactNode {
  const most = limit.concurrency
  if (most === undefined) return <span className="text-text-2">{count(taken)}</span>
  const boxes = Math.min(most, BAR_MOST)
  const full = most <= BAR_MOST ? Math.min(taken, most) : Math.ceil((Math.min(taken, most) / most) * BAR_MOST)
  return (
    <span className="flex items-center gap-2 whitespace-nowrap">
      <span className="flex gap-px" aria-hidden="true">
        {Array.from({ length: boxes }, (_, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
          <span key={n} className={`h-3 w-1.5 rounded-[2px] ${n < full ? 'bg-work' : 'bg-line'}`} />
        ))}
      </span>
      <span>
        {count(taken)} of {count(most)}
        {state === 'slow' && allowed !== undefined && allowed < most ? (
          <span className="text-text-3">, {count(allowed)} for now</span>
        ) : null}
      </span>
    </span>
  )
}

function Pace({ limit: { limit, spent } }: { readonly limit: LimitKey }): ReactNode {
  const now = useNow()
  const { rate, budget } = limit
  if (budget !== undefined)
    return (
      <span title={`its window turns at ${clock(turnsAt(budget.perMs, now))} UTC`}>
        {count(spent)} of {count(budget.amount)} per {windowWords(budget.perMs)}
      </span>
    )
  return rate === undefined ? <span className="text-text-3">–</span> : <span className="mono">{rateText(rate)}</span>
}
