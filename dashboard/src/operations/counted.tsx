/** What a look has counted, before anything is done: how many, in which states, of which types. */
import type { ReactNode } from 'react'
import type { Action, Operation } from '../api/operations.ts'
import { Loading, Trouble } from '../parts/trouble.tsx'
import { count, plural } from '../words/format.ts'
import { ACTION_WORDS, foreseenIn, summed } from './words.ts'

export interface CountedProps {
  readonly action: Action
  readonly look: Operation | undefined
  readonly error: unknown
}

export function Counted({ action, look, error }: CountedProps): ReactNode {
  if (error !== null && error !== undefined) return <Trouble error={error} />
  if (look === undefined) return <Loading rows={2} />
  if (look.endedAt === undefined)
    return <p className="text-text-2">Counting: {plural(look.report.matched, 'job')} so far.</p>
  if (look.error !== undefined) return <p className="text-bad">It could not be counted: {look.error.message}</p>
  const { matched, counts } = look.report
  const listed = [summed(counts, ({ state }) => state), summed(counts, ({ type }) => type)]
  return (
    <div>
      <p>
        <b className="font-medium text-text">
          {matched === 0 ? 'No job' : plural(matched, 'job')} would be {ACTION_WORDS[action].done}
        </b>
        : {ACTION_WORDS[action].means}.
      </p>
      {look.report.foreseen === undefined || matched === 0 ? null : <p>{foreseenIn(look.report)}.</p>}
      {listed.map((sums) => (
        <p key={sums.map(([name]) => name).join()} className="truncate text-sm text-text-2">
          {sums
            .slice(0, 4)
            .map(([name, n]) => `${count(n)} ${name}`)
            .join(', ')}
          {sums.length > 4 ? ', and more' : ''}
        </p>
      ))}
    </div>
  )
}
