/** How many match, and how that is known: exactly from the tally, or as far as was read. */
import type { ReactNode } from 'react'
import type { TallyAnswer } from '../api/wire.ts'
import { AllButton } from '../operations/all-button.tsx'
import { clock, count, plural, span } from '../words/format.ts'
import { useKept } from '../words/kept.ts'
import { PORTION } from './listing.ts'
import { isSifted, isWithin, SORTS, type Sort, type Term, untallied } from './query.ts'
import type { Rows } from './use-jobs.ts'

const SORT_WORDS: Readonly<Record<Sort, string>> = {
  created: 'Newest first',
  changed: 'Last changed first',
  due: 'Soonest due first',
}

export interface SummaryProps {
  readonly sort: Sort
  readonly onSort: (sort: Sort) => void
  readonly terms: readonly Term[]
  readonly tally: TallyAnswer | undefined
  readonly rows: Rows
  readonly query: string
}

export function Summary({ terms, tally, rows, query, sort, onSort }: SummaryProps): ReactNode {
  const [times, setTimes] = useKept('times', 'relative')
  const [density, setDensity] = useKept('density', 'comfortable')
  return (
    <div className="flex flex-wrap items-center gap-3 text-sm text-text-2">
      <span>
        <HowMany terms={terms} tally={tally} rows={rows} />
        <Looked terms={terms} tally={tally} rows={rows} sort={sort} />
      </span>
      <ReadOn rows={rows} />
      {rows.count === 0 ? null : <AllButton query={query} />}
      <span className="ml-auto flex items-center gap-2">
        <select
          aria-label="Order"
          className="h-7 rounded-md bg-transparent text-text-2 hover:bg-hover"
          value={sort}
          onChange={(event) => onSort(SORTS.find((each) => each === event.target.value) ?? 'created')}
        >
          {SORTS.map((each) => (
            <option key={each} value={each} className="bg-surface">
              {SORT_WORDS[each]}
            </option>
          ))}
        </select>
        <button
          type="button"
          className="btn btn-ghost hidden phone:inline-flex"
          aria-pressed={density === 'dense'}
          onClick={() => setDensity(density === 'dense' ? 'comfortable' : 'dense')}
        >
          {density === 'dense' ? 'Dense' : 'Comfortable'}
        </button>
        <button
          type="button"
          className="btn btn-ghost"
          aria-pressed={times === 'utc'}
          onClick={() => setTimes(times === 'utc' ? 'relative' : 'utc')}
        >
          {times === 'utc' ? 'UTC' : 'Relative'}
        </button>
      </span>
    </div>
  )
}

type Known = Pick<SummaryProps, 'terms' | 'tally' | 'rows'>

function HowMany({ terms, tally, rows }: Known): ReactNode {
  if (untallied(terms).length > 0)
    return (
      <>
        <b className="font-medium text-text">{rows.isEnd ? count(rows.count) : `at least ${count(rows.count)}`}</b>{' '}
        {rows.isEnd && rows.count === 1 ? 'matches' : 'match'}
      </>
    )
  const n = countWithin(terms, tally)
  return (
    <>
      <b className="font-medium text-text">{count(n)}</b> {n === 1 ? 'job matches' : 'jobs match'}
      {tally === undefined ? '' : `, exact at ${clock(Date.parse(tally.at))} UTC`}
    </>
  )
}

/** What was read to know it, of how many, and how long that took. */
function Looked({ terms, tally, rows, sort }: Known & Pick<SummaryProps, 'sort'>): ReactNode {
  const { read, isEnd, tookMs, tooLong } = rows
  if (read === undefined) return null
  // What else an index has narrowed it by is in no tally: then nobody knows of how many.
  const isOfTally = untallied(terms).every((field) => isSifted(field) || field.startsWith('input.'))
  const all = countWithin(terms, tally)
  const of = isOfTally && all > read ? ` of ${plural(all, 'job')}` : ''
  const what = isEnd ? `read all ${count(read)}` : `read the newest ${count(read)}${of}`
  return (
    <>
      {`; ${what} in ${span(tookMs)}`}
      {sort === 'created' || isEnd ? '' : ', in order among them'}
      {tooLong === 0 ? '' : `; ${plural(tooLong, 'input')} too long to be looked into`}
    </>
  )
}

/** Where the reading has stopped and there is more, somebody says that it goes on. */
export function ReadOn({ rows }: { readonly rows: Rows }): ReactNode {
  if (!rows.isStopped) return null
  return (
    <button type="button" className="btn" onClick={() => rows.listing.on()}>
      Read the next {count(PORTION)}
    </button>
  )
}

/** Of jobs that match these terms, as far as the tally knows them. */
export const countWithin = (terms: readonly Term[], tally: TallyAnswer | undefined): number =>
  (tally?.counts ?? []).filter((each) => isWithin(terms, each, undefined)).reduce((sum, each) => sum + each.count, 0)
