/** Jobs: a query, what it may be narrowed to, and the list. The address is the view. */
import { Dialog } from '@base-ui/react/dialog'
import { type ReactNode, useCallback, useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import { BulkBar } from '../actions/bulk.tsx'
import { useTally } from '../api/queries.ts'
import { useSession } from '../api/session.tsx'
import type { Job, TallyAnswer } from '../api/wire.ts'
import { Title } from '../frame/title.tsx'
import { List } from '../jobs/list.tsx'
import { Preview } from '../jobs/preview.tsx'
import { parseSearch, SORTS, type Sort, type Term, type Ticked, toggled, untallied } from '../jobs/query.ts'
import { QueryBox } from '../jobs/query-box.tsx'
import { Rail } from '../jobs/rail.tsx'
import { countWithin, ReadOn, Summary } from '../jobs/summary.tsx'
import { type Rows, useJobs } from '../jobs/use-jobs.ts'
import { Views } from '../jobs/views.tsx'
import { Icon } from '../parts/icon.tsx'
import { Empty, Loading, Trouble } from '../parts/trouble.tsx'
import { count, plural } from '../words/format.ts'

export function JobsPlace(): ReactNode {
  const [params, setParams] = useSearchParams()
  const query = params.get('q') ?? ''
  const { data: tally } = useTally()
  const sort = SORTS.find((each) => each === params.get('sort')) ?? 'created'
  const rows = useJobs(query, sort)
  const shown = params.get('job') ?? undefined
  const [picked, setPicked] = useState<ReadonlyMap<string, Job>>(NONE)
  const search = parseSearch(query)
  const terms = search.ok ? search.terms : []
  const go = (q: string) => {
    setPicked(NONE)
    setParams(address(q, sort))
  }
  // Replaced, not added: Back leads to the list before, not through every row that was looked at.
  const preview = useCallback(
    (id: string | undefined) =>
      setParams({ ...address(query, sort), ...(id === undefined ? {} : { job: id }) }, { replace: true }),
    [query, sort, setParams],
  )
  const toggle = (field: Ticked, name: string) => go(toggled(query, field, name))
  const pick = (job: Job) =>
    setPicked((before) => {
      const next = new Map(before)
      if (!next.delete(job.id)) next.set(job.id, job)
      return next
    })
  // As they are by now, where that is known.
  const chosen = [...picked.values()].map((job) => rows.listing.job(job.id) ?? job)
  const rail = <Rail tally={tally} terms={terms} onToggle={toggle} views={<Views query={query} onSearch={go} />} />
  return (
    <div className="absolute inset-0 flex">
      <Title text="Jobs" />
      <aside
        aria-label="Filters"
        className={`hidden w-[216px] flex-none overflow-y-auto border-r border-line p-4 wide:w-60 ${shown === undefined ? 'desk:block' : 'min-[1600px]:block'}`}
      >
        {rail}
      </aside>
      <div className="flex min-h-0 min-w-0 flex-1 flex-col gap-3 p-4 phone:px-6">
        <div className="flex items-start gap-2">
          <QueryBox query={query} tally={tally} onSearch={go} />
          <FilterSheet terms={terms} until={shown === undefined ? 'desk:hidden' : 'min-[1600px]:hidden'}>
            {rail}
          </FilterSheet>
          <NewJobLink />
        </div>
        <Summary
          terms={terms}
          tally={tally}
          rows={rows}
          query={query}
          sort={sort}
          onSort={(next) => setParams(address(query, next))}
        />
        <Found
          rows={rows}
          terms={terms}
          tally={tally}
          onSearch={go}
          query={query}
          picked={picked}
          onPick={pick}
          onPickAll={(jobs) => setPicked(new Map(jobs.map((job) => [job.id, job])))}
          shown={shown}
          onPreview={preview}
          onClear={() => go('')}
        />
        <BulkBar jobs={chosen} onClear={() => setPicked(NONE)} />
      </div>
      {shown === undefined ? null : <Preview key={shown} id={shown} onClose={() => preview(undefined)} />}
    </div>
  )
}

const NONE: ReadonlyMap<string, Job> = new Map()

/** What of it an address has to say. */
const address = (q: string, sort: Sort): Record<string, string> => ({
  ...(q === '' ? {} : { q }),
  ...(sort === 'created' ? {} : { sort }),
})

interface FoundProps {
  readonly rows: Rows
  readonly terms: readonly Term[]
  readonly tally: TallyAnswer | undefined
  readonly onSearch: (query: string) => void
  readonly query: string
  readonly picked: ReadonlyMap<string, Job>
  readonly onPick: (job: Job) => void
  readonly onPickAll: (jobs: readonly Job[]) => void
  readonly shown: string | undefined
  readonly onPreview: (id: string | undefined) => void
  readonly onClear: () => void
}

function NewJobLink(): ReactNode {
  const session = useSession()
  if (!session.can('createJob')) return null
  return (
    <Link href="/new" className="btn h-9" aria-label="New job">
      <Icon name="plus" />
      <span className="hidden phone:inline">New job</span>
    </Link>
  )
}

function Found(props: FoundProps): ReactNode {
  const { rows, query, terms, tally, onSearch, picked, onPick, onPickAll, shown, onPreview, onClear } = props
  // What is wrong with the query is said under its box, with what was meant.
  const trouble = rows.error !== undefined && parseSearch(query).ok ? <Trouble error={rows.error} /> : null
  if (rows.count > 0)
    return (
      <>
        {trouble}
        <List rows={rows} picked={picked} onPick={onPick} onPickAll={onPickAll} shown={shown} onPreview={onPreview} />
      </>
    )
  if (rows.error !== undefined) return trouble
  if (rows.isPending) return <Loading rows={12} />
  if (!rows.isEnd)
    return (
      <Empty title="Nothing yet">
        The newest {count(rows.read ?? 0)} were looked at, and none of them matches. <ReadOn rows={rows} />
      </Empty>
    )
  return query === '' ? (
    <Empty title="No job has been here yet">
      Put one in and watch it go through the machine.{' '}
      <code className="mono">await pawl.enqueue(hello, {'{ to: "Ann" }'})</code>
    </Empty>
  ) : (
    <Empty title="Nothing matches">
      <code className="mono">{query}</code>{' '}
      {rows.read === undefined ? 'has no job' : `: all ${count(rows.read)} that may were looked at`}.{' '}
      <Looser terms={terms} tally={tally} onSearch={onSearch} />
      <button type="button" className="btn" onClick={onClear}>
        Clear
      </button>
    </Empty>
  )
}

/** What to leave out, where the tally knows how many there are then. */
function Looser({ terms, tally, onSearch }: Pick<FoundProps, 'terms' | 'tally' | 'onSearch'>): ReactNode {
  const looser = terms.flatMap((term) => {
    const rest = terms.filter((each) => each !== term)
    const n = untallied(rest).length > 0 ? 0 : countWithin(rest, tally)
    return n === 0 ? [] : [{ term, n, q: rest.map(({ text }) => text).join(' ') }]
  })
  return looser.map(({ term, n, q }) => (
    <span key={term.text} className="block py-1">
      Without <code className="mono">{term.text}</code> there {n === 1 ? 'is' : 'are'}{' '}
      <button type="button" className="link" onClick={() => onSearch(q)}>
        {plural(n, 'job')}
      </button>
      .
    </span>
  ))
}

/** The rail, where there is no room beside the list. */
function FilterSheet({
  terms,
  until,
  children,
}: {
  readonly terms: readonly Term[]
  /** Where there is. */
  readonly until: string
  readonly children: ReactNode
}): ReactNode {
  return (
    <Dialog.Root>
      <Dialog.Trigger className={`btn h-9 ${until}`}>
        <Icon name="filter" />
        Filter{terms.length === 0 ? '' : ` (${terms.length})`}
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-ink/20" />
        <Dialog.Popup className="floats fixed inset-x-2 bottom-2 z-50 max-h-[80dvh] overflow-y-auto p-4">
          <div className="mb-3 flex items-center">
            <Dialog.Title className="font-semibold">Filter</Dialog.Title>
            <Dialog.Close className="btn ml-auto">Done</Dialog.Close>
          </div>
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
