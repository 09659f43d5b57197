/** What stands around every place: navigation, the bar above, and how the connection is doing. */
import { useQueryClient } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { useBrokenKeys } from '../api/limits.ts'
import { useMachine, useTally, useWorkers } from '../api/queries.ts'
import { sessionKey, signOut, useSession } from '../api/session.tsx'
import { Brand, Icon } from '../parts/icon.tsx'
import { refusal, useSay } from '../parts/toasts.tsx'
import { DEMO, OwnAnswer } from '../places/own-answer.tsx'
import { count } from '../words/format.ts'
import { useKept } from '../words/kept.ts'
import { ConnectionBar, WordsBar } from './connection.tsx'
import { hushKeys, useKeys } from './keys.ts'
import { PLACES, type Place } from './places.ts'
import { TopBar } from './top-bar.tsx'

const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }))
const KeyHelp = lazy(async () => ({ default: (await import('./key-help.tsx')).KeyHelp }))

export function Frame({ children }: { readonly children: ReactNode }): ReactNode {
  const session = useSession()
  const [, go] = useLocation()
  const [folded, setFolded] = useKept('sidebar', 'open')
  const [isPaletteOpen, setPaletteOpen] = useState(false)
  const [isHelpOpen, setHelpOpen] = useState(false)
  const places = PLACES.filter(({ needs }) => session.can(needs))
  useEffect(() => (isPaletteOpen ? hushKeys() : undefined), [isPaletteOpen])
  // Opened within a blink: it is there before it is asked for.
  useEffect(() => {
    const timer = setTimeout(() => void import('./palette.tsx'), PRELOADED_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  useKeys({
    ...Object.fromEntries(places.map(({ key, path }) => [`g ${key}`, () => go(path)])),
    'Ctrl K': () => setPaletteOpen(true),
    '[': () => setFolded(folded === 'open' ? 'folded' : 'open'),
    '?': () => setHelpOpen(true),
    '/': () => {
      const query = document.querySelector<HTMLInputElement>('[data-query]')
      if (query === null) setPaletteOpen(true)
      else query.focus()
    },
  })
  return (
    <div className="flex min-h-dvh">
      <Side places={places} isFolded={folded === 'folded'} />
      <div className="flex min-w-0 flex-1 flex-col pb-[calc(61px+env(safe-area-inset-bottom))] phone:pb-0">
        <TopBar onFind={() => setPaletteOpen(true)} />
        <ConnectionBar />
        <WordsBar />
        <main className="relative flex min-w-0 flex-1 flex-col" id="main">
          {children}
        </main>
      </div>
      <Tabs places={places} />
      {session.name === DEMO ? <OwnAnswer /> : null}
      <Suspense>
        {isPaletteOpen ? <Palette open onClose={() => setPaletteOpen(false)} /> : null}
        {isHelpOpen ? <KeyHelp open onClose={() => setHelpOpen(false)} /> : null}
      </Suspense>
    </div>
  )
}

const PRELOADED_AFTER_MS = 1_000

/** Where operations are jobs. */
const OPERATIONS = 'pawl.operations'

/** What stands right of a place's name; bold where a person is needed. */
function useNumbers(): Readonly<Record<string, { readonly n: number; readonly isHot: boolean }>> {
  const { data } = useTally()
  const { data: machine } = useMachine()
  const counts = data?.counts ?? []
  const isEnded = (state: string) => machine?.terminal.some((each) => each === state) ?? true
  const sum = (wanted: (state: string) => boolean) =>
    counts.filter(({ state }) => wanted(state)).reduce((total, each) => total + each.count, 0)
  const session = useSession()
  const { data: broken = [] } = useBrokenKeys(session.can('listLimits'))
  const { data: workers = [] } = useWorkers(session.can('listWorkers'))
  const underWay = counts.filter(({ queue, state }) => queue === OPERATIONS && !isEnded(state))
  const letters = sum((state) => state === 'dead_lettered')
  const pending = sum((state) => state === 'pending')
  return {
    '/approvals': { n: pending, isHot: pending > 0 },
    '/jobs': { n: sum((state) => !isEnded(state)), isHot: false },
    '/limits': { n: broken.length, isHot: true },
    '/workers': { n: workers.filter(({ present }) => present).length, isHot: false },
    '/operations': { n: underWay.reduce((total, each) => total + each.count, 0), isHot: false },
    '/dead-letters': { n: letters, isHot: letters > 0 },
    '/queues': { n: new Set(counts.map(({ queue }) => queue)).size, isHot: false },
  }
}

const isAt = (path: string, place: Place): boolean =>
  place.path === '/' ? path === '/' || path === '/sign-in' : path === place.path || path.startsWith(`${place.path}/`)

function Side({ places, isFolded }: { readonly places: readonly Place[]; readonly isFolded: boolean }): ReactNode {
  const [path] = useLocation()
  const numbers = useNumbers()
  const shown = isFolded ? 'hidden' : 'hidden desk:inline'
  let group: string | undefined
  return (
    <nav
      aria-label="Main"
      className={`sticky top-0 hidden h-dvh flex-none flex-col gap-px overflow-y-auto border-r border-line px-2 py-3 phone:flex ${isFolded ? 'w-[52px]' : 'w-[52px] desk:w-[208px]'}`}
    >
      <Link href="/" className="mb-3 flex h-8 items-center gap-2 px-2 text-md font-semibold" aria-label="pawl">
        <Brand />
        <span className={shown}>pawl</span>
      </Link>
      {places.map((place) => {
        const heading = place.group === group ? null : place.group
        group = place.group
        const number = numbers[place.path]
        const on = isAt(path, place)
        return (
          <div key={place.path}>
            {heading == null ? null : (
              <p
                className={`px-2 pt-4 pb-1 text-xs font-medium text-text-3 ${isFolded ? 'invisible' : 'invisible desk:visible'}`}
              >
                {heading}
              </p>
            )}
            <Link
              href={place.path}
              title={place.name}
              aria-current={on ? 'page' : undefined}
              className={`flex h-7 items-center gap-2 rounded-md px-2 hover:bg-hover ${on ? 'bg-hover font-medium text-text' : 'text-text-2'}`}
            >
              <Icon name={place.icon} />
              <span className={shown}>{place.name}</span>
              {number === undefined || number.n === 0 ? null : (
                <span className={`ml-auto text-sm ${shown} ${number.isHot ? 'font-medium text-text' : 'text-text-3'}`}>
                  {count(number.n)}
                </span>
              )}
            </Link>
          </div>
        )
      })}
      <Who isShown={shown} />
    </nav>
  )
}

function Who({ isShown }: { readonly isShown: string }): ReactNode {
  const session = useSession()
  const client = useQueryClient()
  const say = useSay()
  const leave = () =>
    signOut().then(
      () => client.setQueryData(sessionKey, null),
      (error: unknown) => say(refusal(error), true),
    )
  return (
    <div className="mt-auto flex items-center gap-1 px-2 pt-4 text-sm text-text-3">
      <span className={`min-w-0 truncate ${isShown}`} title={`tenant ${session.tenant}`}>
        {session.name} · {session.scope}
      </span>
      {session.by === 'session' ? (
        <button type="button" className="ml-auto icon-button" title="Sign out" aria-label="Sign out" onClick={leave}>
          <Icon name="out" />
        </button>
      ) : null}
    </div>
  )
}

const IN_TABS = 4

/** At the bottom of a phone: the first places, and the rest behind "More". */
function Tabs({ places }: { readonly places: readonly Place[] }): ReactNode {
  const [path] = useLocation()
  const [isOpen, setOpen] = useState(false)
  const numbers = useNumbers()
  return (
    <nav
      aria-label="Places"
      className="fixed inset-x-0 bottom-0 z-30 border-t border-line bg-bg pb-[env(safe-area-inset-bottom)] phone:hidden"
    >
      {isOpen ? (
        <div className="grid grid-cols-2 border-b border-line p-2">
          {places.slice(IN_TABS).map((place) => (
            <Link
              key={place.path}
              href={place.path}
              onClick={() => setOpen(false)}
              className="flex h-11 items-center gap-3 rounded-md px-3"
            >
              <Icon name={place.icon} />
              {place.name}
            </Link>
          ))}
        </div>
      ) : null}
      <div className="flex h-15">
        {places.slice(0, IN_TABS).map((place) => (
          <Link
            key={place.path}
            href={place.path}
            onClick={() => setOpen(false)}
            aria-current={isAt(path, place) ? 'page' : undefined}
            className={`relative flex flex-1 flex-col items-center justify-center gap-1 text-xs ${isAt(path, place) ? 'font-medium' : 'text-text-3'}`}
          >
            <Icon name={place.icon} />
            {place.name}
            {numbers[place.path]?.isHot === true ? (
              <span className="absolute top-1 left-1/2 ml-2 rounded-full bg-ink px-1.5 text-on-ink">
                {count(numbers[place.path]?.n ?? 0)}
              </span>
            ) : null}
          </Link>
        ))}
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          className="flex flex-1 flex-col items-center justify-center gap-1 text-xs text-text-3"
        >
          <Icon name="more" />
          More
        </button>
      </div>
    </nav>
  )
}
