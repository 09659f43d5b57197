/** One list to find, go and do: an id that is exact comes first, then places, then jobs by the beginning of their type. */
import { Dialog } from '@base-ui/react/dialog'
import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, type ReactNode, useState } from 'react'
import { useLocation } from 'wouter'
import { jobsPage } from '../api/jobs.ts'
import { useKeyNames } from '../api/limits.ts'
import { useTally, useWorkers } from '../api/queries.ts'
import { useSession } from '../api/session.tsx'
import { quoted } from '../jobs/query.ts'
import { Icon, type IconName } from '../parts/icon.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import { useSettled } from '../words/settled.ts'
import { useWords, VOCABULARIES } from '../words/vocabulary.tsx'
import { PLACES } from './places.ts'
import { THEMES, wear } from './theme.ts'

interface Item {
  readonly key: string
  readonly icon: ReactNode
  readonly text: string
  readonly note: string
  /** It is there, and cannot be done now: the note says why. */
  readonly isGrey?: boolean
  readonly act: () => void
}

const icon = (name: IconName) => <Icon name={name} />
const JOBS_SHOWN = 5
/** The server is asked once somebody has stopped to type, for so long. */
const ASKED_AFTER_MS = 150

export function Palette({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }): ReactNode {
  return (
    <Dialog.Root open={open} onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-ink/20" />
        <Dialog.Popup
          aria-label="Find a job, go, do"
          className="floats fixed top-[12vh] left-1/2 z-50 w-[min(560px,calc(100vw-32px))] -translate-x-1/2 overflow-hidden"
        >
          <Search onClose={onClose} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function Search({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const items = useItems(text.trim())
  const take = (item: Item | undefined) => {
    if (item === undefined) return
    onClose()
    item.act()
  }
  const pressed = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (by !== 0) {
      event.preventDefault()
      setChosen((before) => Math.max(0, Math.min(items.length - 1, before + by)))
    }
    if (event.key === 'Enter') take(items[chosen])
  }
  return (
    <>
      <div className="flex items-center gap-2 border-b border-line px-4">
        <Icon name="search" />
        <input
          // biome-ignore lint/a11y/noAutofocus: it was opened to be typed into
          autoFocus
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-items"
          aria-activedescendant={`palette-${chosen}`}
          aria-label="Find a job, go, do"
          className="h-11 flex-1 bg-transparent outline-none"
          placeholder="An id, a type, a place"
          value={text}
          onChange={(event) => {
            setText(event.target.value)
            setChosen(0)
          }}
          onKeyDown={pressed}
        />
        <kbd>Esc</kbd>
      </div>
      <div id="palette-items" role="listbox" aria-label="What there is" className="max-h-[50vh] overflow-y-auto p-1">
        {items.map((item, n) => (
          <button
            key={item.key}
            id={`palette-${n}`}
            type="button"
            role="option"
            aria-selected={n === chosen}
            aria-disabled={item.isGrey}
            tabIndex={-1}
            onClick={() => take(item)}
            onMouseMove={() => setChosen(n)}
            className={`flex h-9 w-full items-center gap-3 rounded-md px-3 text-left ${n === chosen ? 'bg-hover' : ''}`}
          >
            {item.icon}
            <span className={item.isGrey === true ? 'flex-none text-text-3' : 'min-w-0 truncate'}>{item.text}</span>
            <span className="ml-auto min-w-0 truncate text-sm text-text-3" title={item.note}>
              {item.note}
            </span>
          </button>
        ))}
        {items.length === 0 ? <p className="p-3 text-text-2">Nothing has this name.</p> : null}
      </div>
    </>
  )
}

function useItems(text: string): readonly Item[] {
  const session = useSession()
  const words = useWords()
  const [, go] = useLocation()
  const settled = useSettled(text, ASKED_AFTER_MS)
  const { data } = useQuery({
    queryKey: ['palette', settled],
    queryFn: ({ signal }) => jobsPage(asWord(settled), undefined, signal),
    enabled: settled.length > 1 && session.can('listJobs'),
    retry: false,
  })
  const jobs = (data?.jobs ?? []).slice(0, JOBS_SHOWN).map(
    (job): Item => ({
      key: job.id,
      icon: <StateIcon state={job.state} />,
      text: `${job.type} ${job.id}`,
      note: job.state,
      act: () => go(`/jobs/${encodeURIComponent(job.id)}`),
    }),
  )
  const places = PLACES.filter(({ needs }) => session.can(needs)).map(
    ({ path, name, key, icon: picture }): Item => ({
      key: path,
      icon: icon(picture),
      text: `Go to ${name}`,
      note: `g ${key}`,
      act: () => go(path),
    }),
  )
  const vocabularies = VOCABULARIES.map(
    (name): Item => ({
      key: `words ${name}`,
      icon: icon('machine'),
      text: name === 'pawl' ? 'Words: speak as pawl' : `Words: speak as document ${name}`,
      note: words.name === name ? 'now' : '',
      act: () => words.choose(name),
    }),
  )
  const makes: readonly Item[] = session.can('createJob')
    ? [{ key: 'new', icon: icon('plus'), text: 'New job', note: '', act: () => go('/new') }]
    : []
  const themes = THEMES.map(
    (name): Item => ({
      key: `theme ${name}`,
      icon: icon('sun'),
      text: `Theme: ${name}`,
      note: '',
      act: () => wear(name),
    }),
  )
  const named = useNames(text, go)
  const wanted = ({ text: name }: Item) => name.toLowerCase().includes(text.toLowerCase())
  const isId = text.startsWith('pj_')
  const goes = places.filter(wanted)
  const does = [...actionsHere(), ...makes, ...themes, ...vocabularies].filter(wanted)
  return isId ? [...jobs, ...goes, ...does] : [...goes, ...jobs, ...named, ...does]
}

const NAMED_MOST = 5

/** Queues, types, keys and workers that have this in their names, from two letters on. */
function useNames(text: string, go: (path: string) => void): readonly Item[] {
  const session = useSession()
  const isAsked = text.length > 1
  const { data: tally } = useTally()
  const { data: keys = [] } = useKeyNames(isAsked && session.can('listLimits'))
  const { data: workers = [] } = useWorkers(isAsked && session.can('listWorkers'))
  if (!isAsked) return []
  const found = (names: readonly string[], note: string, picture: IconName, path: (name: string) => string) =>
    [...new Set(names)]
      .filter((name) => name.toLowerCase().includes(text.toLowerCase()))
      .slice(0, NAMED_MOST)
      .map(
        (name): Item => ({
          key: `${note} ${name}`,
          icon: icon(picture),
          text: name,
          note,
          act: () => go(path(name)),
        }),
      )
  const counts = tally?.counts ?? []
  const of = (field: 'queue' | 'type') => counts.map((each) => each[field])
  const ids = workers.map(({ workerId }) => workerId)
  return [
    ...found(of('queue'), 'queue', 'queues', (name) => `/queues/${encodeURIComponent(name)}`),
    ...found(of('type'), 'type', 'jobs', (name) => `/jobs?q=${encodeURIComponent(`type:${quoted(name)}`)}`),
    ...found(keys, 'key', 'limits', (name) => `/limits/${encodeURIComponent(name)}`),
    ...found(ids, 'worker', 'workers', (name) => `/workers/${encodeURIComponent(name)}`),
  ]
}

/** What the page of the present job has buttons for: those that are greyed there are greyed here, and say by which rule. */
const actionsHere = (): readonly Item[] =>
  [...document.querySelectorAll<HTMLElement>('main [role="toolbar"][data-of]')].flatMap((bar) =>
    [...bar.querySelectorAll<HTMLButtonElement>('button')]
      .filter((button) => button.ariaLabel === null)
      .map((button) => {
        const name = button.textContent
        const why = button.dataset['why']
        return {
          key: `act ${name}`,
          icon: icon('right'),
          text: `${name} ${bar.dataset['of']}`,
          note: why ?? '',
          isGrey: why !== undefined,
          // With the focus its rule is told.
          act: () => (why === undefined ? button.click() : button.focus()),
        }
      }),
  )

/** A word that looks like part of the grammar is looked for as a word. */
const asWord = (text: string): string => (/[\s:"]/.test(text) ? `"${text.replaceAll('"', '')}"` : text)
