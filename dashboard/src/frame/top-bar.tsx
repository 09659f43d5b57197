import { Menu } from '@base-ui/react/menu'
import type { ReactNode } from 'react'
import { useConnection } from '../api/connection.ts'
import { useSession } from '../api/session.tsx'
import { Icon } from '../parts/icon.tsx'
import { Tip } from '../parts/tip.tsx'
import { useKept } from '../words/kept.ts'
import { useWords, VOCABULARIES } from '../words/vocabulary.tsx'
import { TITLE_ID } from './title.tsx'

export function TopBar({ onFind }: { readonly onFind: () => void }): ReactNode {
  const { isReadOnly, scope } = useSession()
  return (
    <header className="sticky top-0 z-20 flex h-12 flex-none items-center gap-3 border-b border-line bg-bg px-4 phone:px-6">
      <div id={TITLE_ID} className="min-w-0 flex-1 truncate" />
      {isReadOnly ? (
        <Tip text={`Read only. Your token is of scope ${scope}; ask an operator to act.`}>
          <button type="button" className="flex items-center gap-1 text-sm text-text-2">
            <Icon name="lock" size={14} />
            <span className="hidden phone:inline">Read only</span>
          </button>
        </Tip>
      ) : null}
      <LiveDot />
      <button type="button" onClick={onFind} aria-label="Find a job, go, do" className="flex h-7 flex-none items-center gap-2 rounded-md border-line whitespace-nowrap bg-surface px-2 text-sm text-text-3 phone:w-56 phone:border">
        <Icon name="search" size={14} />
        <span className="hidden phone:inline">Find a job, go, do</span>
        <kbd className="ml-auto hidden phone:inline">Ctrl K</kbd>
      </button>
      <WordsMenu />
      <ThemeButton />
    </header>
  )
}

const LIVE_WORD = { live: 'Live', lost: 'Connection lost' } as const
const LIVE_COLOUR = { live: 'var(--good)', lost: 'var(--again)' } as const

function LiveDot(): ReactNode {
  const { is } = useConnection()
  return (
    <span className="inline-flex flex-none items-center gap-1.5 text-sm text-text-2" title={is === 'live' ? 'The gateway answers' : 'The gateway does not answer'}>
      <span className="size-[7px] rounded-full" style={{ background: LIVE_COLOUR[is], boxShadow: `0 0 0 3px color-mix(in srgb, ${LIVE_COLOUR[is]} 22%, transparent)` }} />
      <span className="hidden phone:inline">{LIVE_WORD[is]}</span>
    </span>
  )
}

function WordsMenu(): ReactNode {
  const words = useWords()
  return (
    <Menu.Root>
      <Menu.Trigger className="btn btn-ghost">
        <span className="hidden phone:inline">Words:</span> {words.name}
        <Icon name="down" size={14} />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} align="end" className="z-40">
          <Menu.Popup className="floats min-w-44 p-1">
            <Menu.RadioGroup value={words.name} onValueChange={(name: string) => words.choose(name)}>
              {VOCABULARIES.map((name) => (
                <Menu.RadioItem key={name} value={name} closeOnClick className="flex h-8 items-center gap-3 rounded-md px-2 data-highlighted:bg-hover">
                  <span className="mono w-10">{name}</span>
                  <span className="text-sm text-text-3">{name === 'pawl' ? 'our own words' : `document ${name}`}</span>
                  <Menu.RadioItemIndicator className="ml-auto">✓</Menu.RadioItemIndicator>
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}

const THEMES = ['system', 'light', 'dark'] as const

function ThemeButton(): ReactNode {
  const [theme, setTheme] = useKept('theme', 'system')
  const next = THEMES[(THEMES.indexOf(theme as (typeof THEMES)[number]) + 1) % THEMES.length] ?? 'system'
  const turn = () => {
    setTheme(next)
    if (next === 'system') delete document.documentElement.dataset['theme']
    else document.documentElement.dataset['theme'] = next
  }
  return (
    <button type="button" className="hidden rounded-md p-1 text-text-2 hover:bg-hover phone:block" onClick={turn} title={`Theme: ${theme}. Change to ${next}.`} aria-label={`Theme: ${theme}`}>
      <Icon name="sun" />
    </button>
  )
}
