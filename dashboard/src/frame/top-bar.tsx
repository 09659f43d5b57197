import type { ReactNode } from 'react'
import { useConnection } from '../api/connection.ts'
import { useSession } from '../api/session.tsx'
import { Icon } from '../parts/icon.tsx'
import { useKept } from '../words/kept.ts'
import { useWords, VOCABULARIES } from '../words/vocabulary.tsx'
import { THEMES, wear } from './theme.ts'
import { TITLE_ID } from './title.tsx'

export function TopBar({ onFind }: { readonly onFind: () => void }): ReactNode {
  const { isReadOnly, scope } = useSession()
  return (
    <header className="sticky top-0 z-20 flex h-12 flex-none items-center gap-3 border-b border-line bg-bg px-4 phone:px-6">
      <div id={TITLE_ID} className="min-w-0 flex-1 truncate" />
      {isReadOnly ? (
        <span
          className="flex flex-none items-center gap-1 text-sm text-text-2"
          title={`Your token is of scope ${scope}; ask an operator to act.`}
        >
          <Icon name="lock" size={14} />
          <span className="hidden phone:inline">Read only</span>
        </span>
      ) : null}
      <LiveDot />
      <button
        type="button"
        onClick={onFind}
        className="flex h-7 flex-none items-center gap-2 rounded-md border-line whitespace-nowrap bg-surface px-2 text-sm text-text-3 phone:w-56 phone:border"
      >
        <Icon name="search" size={14} />
        <span className="sr-only phone:not-sr-only phone:whitespace-nowrap">Find a job, go, do</span>
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
    <span
      className="inline-flex flex-none items-center gap-1.5 text-sm text-text-2"
      title={is === 'live' ? 'The gateway answers' : 'The gateway does not answer'}
    >
      <span
        className="size-[7px] rounded-full"
        style={{
          background: LIVE_COLOUR[is],
          boxShadow: `0 0 0 3px color-mix(in srgb, ${LIVE_COLOUR[is]} 22%, transparent)`,
        }}
      />
      <span className="hidden phone:inline">{LIVE_WORD[is]}</span>
    </span>
  )
}

/** A select of the browser's own: it works on a phone as on a desk, and weighs nothing. */
function WordsMenu(): ReactNode {
  const words = useWords()
  return (
    <label className="flex flex-none items-center gap-1 text-sm text-text-2">
      <span className="hidden phone:inline">Words:</span>
      <select
        aria-label="Words"
        className="h-7 rounded-md bg-transparent font-medium text-text hover:bg-hover"
        value={words.name}
        onChange={(event) => words.choose(event.target.value)}
      >
        {VOCABULARIES.map((name) => (
          <option key={name} className="bg-surface">
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

function ThemeButton(): ReactNode {
  const [theme] = useKept('theme', 'system')
  const next = THEMES[(THEMES.indexOf(theme as (typeof THEMES)[number]) + 1) % THEMES.length] ?? 'system'
  return (
    <button
      type="button"
      className="icon-button hidden phone:inline-flex"
      onClick={() => wear(next)}
      title={`Theme: ${theme}. Change to ${next}.`}
      aria-label={`Theme: ${theme}`}
    >
      <Icon name="sun" />
    </button>
  )
}
