/** What the list may be narrowed to, with counts. A tick edits the query, and nothing else. */
import { type ReactNode, useState } from 'react'
import { useMachine } from '../api/queries.ts'
import type { State, TallyAnswer } from '../api/wire.ts'
import { StateIcon } from '../parts/state-icon.tsx'
import { count } from '../words/format.ts'
import { useWords } from '../words/vocabulary.tsx'
import { isTicked, isWithin, type Term, type Ticked, untallied } from './query.ts'

export interface RailProps {
  readonly tally: TallyAnswer | undefined
  readonly terms: readonly Term[]
  readonly onToggle: (field: Ticked, name: string) => void
  /** What stands above: names for whole queries. */
  readonly views: ReactNode
}

export function Rail({ tally, terms, onToggle, views }: RailProps): ReactNode {
  const { data: machine } = useMachine()
  const words = useWords()
  const counts = (field: Ticked) => countsBy(tally, terms, field)
  const states = counts('state')
  const terminal = new Set(machine?.terminal)
  const outside = untallied(terms)
  const line = (field: Ticked, name: string, n: number, icon?: ReactNode, text = name) => (
    <Tick
      key={name}
      isOn={isTicked(terms, field, name)}
      n={n}
      icon={icon}
      text={text}
      isMono={icon === undefined}
      onToggle={() => onToggle(field, name)}
    />
  )
  const ofStates = (wanted: (state: State) => boolean) =>
    (machine?.states ?? [])
      .filter(wanted)
      .map((state) => line('state', state, states.get(state) ?? 0, <StateIcon state={state} />, words.state(state)))
  return (
    <div className="flex flex-col gap-4">
      {views}
      <Group title="State, live">{ofStates((state) => !terminal.has(state))}</Group>
      <Group title="State, ended">{ofStates((state) => terminal.has(state))}</Group>
      <Names title="Queue" counts={counts('queue')} line={(name, n) => line('queue', name, n)} />
      <Names title="Type" counts={counts('type')} line={(name, n) => line('type', name, n)} />
      {outside.length === 0 ? null : <p className="text-sm text-text-3">counts without {outside.join(', ')}</p>}
    </div>
  )
}

/** Under the other ticks. */
function countsBy(tally: TallyAnswer | undefined, terms: readonly Term[], field: Ticked): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  for (const each of tally?.counts ?? []) {
    const name = each[field]
    if (!found.has(name)) found.set(name, 0)
    if (isWithin(terms, each, field)) found.set(name, (found.get(name) ?? 0) + each.count)
  }
  return found
}

function Group({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 text-xs font-medium text-text-3">{title}</legend>
      {children}
    </fieldset>
  )
}

const NAMES_SHOWN = 8
/** Of thousands nobody reads all: they are found by name. */
const FOUND_MOST = 40

interface NamesProps {
  readonly title: string
  readonly counts: ReadonlyMap<string, number>
  readonly line: (name: string, n: number) => ReactNode
}

function Names({ title, counts, line }: NamesProps): ReactNode {
  const [isWhole, setWhole] = useState(false)
  const [wanted, setWanted] = useState('')
  const names = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  const found = names.filter(([name]) => name.toLowerCase().includes(wanted.toLowerCase()))
  const shown = isWhole ? found.slice(0, FOUND_MOST) : names.slice(0, NAMES_SHOWN)
  if (names.length === 0) return null
  return (
    <Group title={title}>
      {isWhole ? (
        <input
          // biome-ignore lint/a11y/noAutofocus: it was asked for
          autoFocus
          className="field mb-1 w-full"
          aria-label={`Find among ${names.length} of ${title}`}
          placeholder={`one of ${names.length}`}
          value={wanted}
          onChange={(event) => setWanted(event.target.value)}
        />
      ) : null}
      {shown.map(([name, n]) => line(name, n))}
      {names.length > NAMES_SHOWN ? (
        <button type="button" className="link text-sm" onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Fewer' : `${names.length - NAMES_SHOWN} more`}
        </button>
      ) : null}
    </Group>
  )
}

interface TickProps {
  readonly isOn: boolean
  readonly n: number
  readonly text: string
  readonly isMono: boolean
  readonly icon?: ReactNode
  readonly onToggle: () => void
}

function Tick({ isOn, n, text, isMono, icon, onToggle }: TickProps): ReactNode {
  return (
    <label className={`flex cursor-pointer items-center gap-2 rounded-md hover:bg-hover ${isOn ? 'font-medium' : ''}`}>
      <input type="checkbox" className="size-3.5 flex-none accent-[var(--focus)]" checked={isOn} onChange={onToggle} />
      {icon}
      <span className={`min-w-0 truncate ${isMono ? 'mono' : ''}`} title={text}>
        {text}
      </span>
      <span className={`ml-auto text-sm ${n === 0 ? 'text-text-3' : 'text-text-2'}`}>{count(n)}</span>
    </label>
  )
}
