/** Queries under a name: a few that everybody needs, and ten of one's own, kept in this browser. */
import { type ReactNode, useState } from 'react'
import { Icon } from '../parts/icon.tsx'
import { parsedFrom } from '../words/json.ts'
import { useKept } from '../words/kept.ts'

interface View {
  readonly name: string
  readonly q: string
}

const BUILT_IN: readonly View[] = [
  { name: 'Needs a person', q: 'state:pending,dead_lettered' },
  { name: 'Running long', q: 'state:running created:>10m' },
  { name: 'Held', q: 'is:held,paused' },
  { name: 'Failed today', q: 'state:failed,timed_out,dead_lettered ended:<1d' },
]
const OWN_MOST = 10

export interface ViewsProps {
  readonly query: string
  readonly onSearch: (query: string) => void
}

export function Views({ query, onSearch }: ViewsProps): ReactNode {
  const [kept, keep] = useKept('views', '[]')
  const [name, setName] = useState<string>()
  const own = viewsIn(kept)
  const isKnown = query === '' || [...BUILT_IN, ...own].some(({ q }) => q === query)
  const save = () => {
    if (name === undefined || name.trim() === '') return
    const rest = own.filter((view) => view.name !== name.trim())
    keep(JSON.stringify([...rest, { name: name.trim(), q: query }].slice(-OWN_MOST)))
    setName(undefined)
  }
  return (
    <section aria-label="Views">
      <p className="mb-1 text-xs font-medium text-text-3">Views</p>
      {[...BUILT_IN, ...own].map((view) => (
        <div key={view.name} className="flex items-center">
          <button
            type="button"
            title={view.q}
            aria-pressed={view.q === query}
            className={`min-w-0 flex-1 truncate rounded-md text-left hover:bg-hover ${view.q === query ? 'font-medium' : ''}`}
            onClick={() => onSearch(view.q)}
          >
            {view.name}
          </button>
          {own.includes(view) ? (
            <button
              type="button"
              aria-label={`Forget the view ${view.name}`}
              className="icon-button"
              onClick={() => keep(JSON.stringify(own.filter((each) => each !== view)))}
            >
              <Icon name="close" size={12} />
            </button>
          ) : null}
        </div>
      ))}
      {isKnown ? null : name === undefined ? (
        <button type="button" className="link text-sm" onClick={() => setName('')}>
          Keep this query as a view
        </button>
      ) : (
        <form
          className="mt-1 flex gap-1"
          onSubmit={(event) => {
            event.preventDefault()
            save()
          }}
        >
          <input
            // biome-ignore lint/a11y/noAutofocus: it was asked for
            autoFocus
            className="field min-w-0 flex-1"
            aria-label="Name of the view"
            placeholder="Its name"
            maxLength={40}
            value={name}
            onChange={(event) => setName(event.target.value)}
            onKeyDown={(event) => (event.key === 'Escape' ? setName(undefined) : undefined)}
          />
          <button type="submit" className="btn">
            Keep
          </button>
        </form>
      )}
    </section>
  )
}

/** What another version has kept, or a hand has changed, is left out. */
function viewsIn(text: string): readonly View[] {
  const parsed = parsedFrom(text)
  return parsed.ok && Array.isArray(parsed.value) ? parsed.value.filter(isView) : []
}

const isView = (view: unknown): view is View =>
  typeof view === 'object' &&
  view !== null &&
  'name' in view &&
  'q' in view &&
  typeof view.name === 'string' &&
  typeof view.q === 'string'
