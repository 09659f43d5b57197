/** What jobs share that is limited: which of it is pushed back or full, what waits for it, and the numbers. */
import { type ReactNode, useState } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import { type LimitKey, useLimits } from '../api/limits.ts'
import { KEY_STATES, type KeyState } from '../api/wire.ts'
import { Title } from '../frame/title.tsx'
import { isFull, isSpent } from '../limits/numbers.ts'
import { KeyPanel } from '../limits/panel.tsx'
import { KeyTable } from '../limits/table.tsx'
import { Beside } from '../parts/beside.tsx'
import { Empty, Loading, Trouble } from '../parts/trouble.tsx'
import { count, inWords, plural } from '../words/format.ts'

export function LimitsPlace({ name }: { readonly name?: string | undefined }): ReactNode {
  const [params] = useSearchParams()
  const [, go] = useLocation()
  const state = KEY_STATES.find((each) => each === params.get('state'))
  const [pages, setPages] = useState(1)
  const { data, error } = useLimits(state, pages)
  const limits = (data?.limits ?? []).toSorted(byNeed)
  const isCut = data?.cursor !== undefined
  return (
    <div className="page">
      <Title text="Limits and keys" />
      {error === null ? null : <Trouble error={error} />}
      {data === undefined ? (
        <Loading />
      ) : (
        <>
          <div className="flex flex-wrap items-start gap-3">
            <Verdict limits={limits} state={state} isCut={isCut} />
            <StateTabs state={state} counts={state === undefined && !isCut ? countsOf(limits) : undefined} />
          </div>
          <Beside
            label="Key"
            list={
              limits.length === 0 && !isCut ? (
                <NoKeys state={state} />
              ) : (
                <KeyTable
                  limits={limits}
                  chosen={name}
                  note={<Read limits={limits} isCut={isCut} onMore={() => setPages(pages + 1)} />}
                />
              )
            }
            panel={name === undefined ? undefined : <KeyPanel key={name} name={name} />}
            onClose={() => go('/limits')}
          />
        </>
      )}
    </div>
  )
}

/** The worst first; among those that are open, where jobs wait. */
const WORST: Readonly<Record<KeyState, number>> = { broken: 0, probing: 1, slow: 2, open: 3 }
const byNeed = (a: LimitKey, b: LimitKey): number =>
  WORST[a.state] - WORST[b.state] || b.held - a.held || b.taken - a.taken || (a.key < b.key ? -1 : 1)

interface VerdictProps {
  readonly limits: readonly LimitKey[]
  readonly state: KeyState | undefined
  readonly isCut: boolean
}

function Verdict({ limits, state, isCut }: VerdictProps): ReactNode {
  const broken = limits.filter((limit) => limit.state === 'broken').length
  const slowed = limits.filter((limit) => limit.state === 'slow' || limit.state === 'probing').length
  const full = limits.filter((limit) => limit.state === 'open' && (isFull(limit) || isSpent(limit))).length
  const held = limits.reduce((sum, limit) => sum + limit.held, 0)
  const worst =
    broken > 0
      ? `${inWords(broken)} ${broken === 1 ? 'key is' : 'keys are'} broken`
      : slowed > 0
        ? `${inWords(slowed)} ${slowed === 1 ? 'key is' : 'keys are'} slowed`
        : full > 0
          ? `${inWords(full)} ${full === 1 ? 'key is' : 'keys are'} full or spent`
          : 'No key is pushed back'
  return (
    <div className="min-w-0 flex-1 basis-60">
      <p className="text-lg font-semibold tracking-[-0.015em]">
        {worst}, {held === 0 ? 'no job is held' : plural(held, 'job is held', 'jobs are held')}
      </p>
      <p className="text-text-2">
        {held === 0 ? '' : 'Held jobs are safe and keep their order. Other keys are not slowed by them. '}
        {isCut || state !== undefined
          ? `This is of ${state === undefined ? 'the keys that were read' : `those that are ${state}`}.`
          : ''}
      </p>
    </div>
  )
}

const countsOf = (limits: readonly LimitKey[]): Counts => ({
  all: limits.length,
  ...Object.fromEntries(KEY_STATES.map((each) => [each, limits.filter(({ state }) => state === each).length])),
})

type Counts = Readonly<Partial<Record<KeyState | 'all', number>>>

interface StateTabsProps {
  readonly state: KeyState | undefined
  /** Where all keys were read. */
  readonly counts: Counts | undefined
}

function StateTabs({ state, counts }: StateTabsProps): ReactNode {
  return (
    <nav aria-label="Which keys" className="flex gap-0.5 rounded-md border border-line bg-surface p-0.5 text-sm">
      {[undefined, ...KEY_STATES].map((each) => (
        <Link
          key={each ?? 'all'}
          href={each === undefined ? '/limits' : `/limits?state=${each}`}
          aria-current={each === state ? 'page' : undefined}
          className={`rounded-sm px-2 py-1 hover:bg-hover ${each === state ? 'bg-hover font-medium' : 'text-text-2'}`}
        >
          {each ?? 'All'}
          {counts === undefined ? null : <span className="text-text-3"> {count(counts[each ?? 'all'] ?? 0)}</span>}
        </Link>
      ))}
    </nav>
  )
}

interface ReadProps {
  readonly limits: readonly LimitKey[]
  readonly isCut: boolean
  readonly onMore: () => void
}

function Read({ limits, isCut, onMore }: ReadProps): ReactNode {
  if (!isCut) return `${plural(limits.length, 'key')}: those that are not open, or hold jobs, come first.`
  return (
    <>
      {count(limits.length)} so far, read by name; among them the worst come first.
      <button type="button" className="btn" onClick={onMore}>
        Read on
      </button>
    </>
  )
}

function NoKeys({ state }: { readonly state: KeyState | undefined }): ReactNode {
  return state === undefined ? (
    <Empty title="Nothing is limited yet">
      A job type says what its jobs share:{' '}
      <code className="mono">{"limit: { key: ({ url }) => new URL(url).host, concurrency: 2, rate: '5/s' }"}</code>
    </Empty>
  ) : (
    <Empty title={`No key is ${state}`}>
      <Link className="link" href="/limits">
        All keys
      </Link>
    </Empty>
  )
}
