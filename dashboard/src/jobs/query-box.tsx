/** The query, as text: what a list shows is what stands here. Completion knows the fields, and names with their counts. */
import { type KeyboardEvent, type ReactNode, type SubmitEvent, useEffect, useId, useRef, useState } from 'react'
import type { TallyAnswer } from '../api/wire.ts'
import { Icon } from '../parts/icon.tsx'
import { count } from '../words/format.ts'
import { FIELD_NAMES, FIELDS, PREFIXES, parseSearch, type Search } from './query.ts'

export interface QueryBoxProps {
  readonly query: string
  readonly tally: TallyAnswer | undefined
  readonly onSearch: (query: string) => void
}

interface Offer {
  readonly text: string
  readonly note: string
}

export function QueryBox({ query, tally, onSearch }: QueryBoxProps): ReactNode {
  const [text, setText] = useState(query)
  const [chosen, setChosen] = useState(-1)
  const [isOpen, setOpen] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const list = useId()
  useEffect(() => setText(query), [query])
  const search = parseSearch(text)
  const offers = isOpen ? offersFor(text, tally) : []

  const go = (next: string) => {
    setOpen(false)
    if (parseSearch(next).ok) onSearch(next.trim())
  }
  const take = (offer: Offer) => {
    const begun = text.slice(0, text.length - lastWord(text).length)
    const next = `${begun}${offer.text}${offer.text.endsWith(':') || offer.text.endsWith('.') ? '' : ' '}`
    setText(next)
    setChosen(-1)
    input.current?.focus()
    if (!offer.text.endsWith(':') && !offer.text.endsWith('.')) go(next)
    else setOpen(true)
  }
  const pressed = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (by !== 0 && offers.length > 0) {
      event.preventDefault()
      setChosen((before) => Math.max(-1, Math.min(offers.length - 1, before + by)))
    }
    const offer = offers[chosen] ?? (event.key === 'Tab' && lastWord(text) !== '' ? offers[0] : undefined)
    if ((event.key === 'Tab' || event.key === 'Enter') && offer !== undefined) {
      event.preventDefault()
      take(offer)
    }
    if (event.key === 'Escape') {
      setOpen(false)
      input.current?.blur()
    }
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    go(text)
  }
  return (
    <form role="search" onSubmit={submit} className="relative min-w-0 flex-1">
      <div
        className={`flex h-9 items-center gap-2 rounded-lg border bg-surface px-3 focus-within:outline-2 focus-within:outline-focus ${search.ok ? 'border-edge' : 'border-bad'}`}
      >
        <Icon name="search" />
        <input
          ref={input}
          data-query=""
          role="combobox"
          aria-label="Query"
          aria-expanded={offers.length > 0}
          aria-controls={list}
          aria-activedescendant={chosen < 0 ? undefined : `${list}-${chosen}`}
          aria-invalid={!search.ok}
          autoComplete="off"
          spellCheck={false}
          className="mono h-full min-w-0 flex-1 bg-transparent outline-none"
          placeholder="state:failed code:E_429 input.url:*example*"
          value={text}
          onChange={(event) => {
            setText(event.target.value)
            setOpen(true)
            setChosen(-1)
          }}
          onFocus={() => setOpen(true)}
          onBlur={() => setTimeout(() => setOpen(false), 150)}
          onKeyDown={pressed}
        />
        {text === '' ? (
          <kbd>/</kbd>
        ) : (
          <button
            type="button"
            aria-label="Clear the query"
            className="rounded-md p-1 hover:bg-hover"
            onClick={() => go('')}
          >
            <Icon name="close" size={14} />
          </button>
        )}
      </div>
      {offers.length === 0 ? null : (
        <div
          id={list}
          role="listbox"
          aria-label="Completions"
          className="floats absolute inset-x-0 top-10 z-30 max-h-80 overflow-y-auto p-1"
        >
          {offers.map((offer, n) => (
            <button
              key={offer.text}
              id={`${list}-${n}`}
              type="button"
              role="option"
              aria-selected={n === chosen}
              tabIndex={-1}
              className={`flex h-8 w-full items-center gap-3 rounded-md px-2 text-left ${n === chosen ? 'bg-hover' : 'hover:bg-hover'}`}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => take(offer)}
            >
              <span className="mono">{offer.text}</span>
              <span className="ml-auto text-sm text-text-3">{offer.note}</span>
            </button>
          ))}
        </div>
      )}
      <Complaint search={search} isWriting={isOpen} onTake={(instead) => go(instead)} text={text} />
    </form>
  )
}

interface ComplaintProps {
  readonly search: Search
  readonly isWriting: boolean
  readonly text: string
  readonly onTake: (query: string) => void
}

function Complaint({ search, isWriting, text, onTake }: ComplaintProps): ReactNode {
  if (search.ok || (isWriting && !/\s$/.test(text) && search.term.endsWith(':'))) return null
  return (
    <p role="alert" className="pt-1 text-sm text-bad">
      {search.message}{' '}
      {search.instead === undefined ? null : (
        <>
          Did you mean{' '}
          <button
            type="button"
            className="font-medium underline"
            onClick={() => onTake(text.replace(search.term, search.instead ?? ''))}
          >
            {search.instead}
          </button>
          ?
        </>
      )}
    </p>
  )
}

const lastWord = (text: string): string => /\S*$/.exec(text)?.[0] ?? ''
const OFFERED = 12

function offersFor(text: string, tally: TallyAnswer | undefined): readonly Offer[] {
  const word = lastWord(text)
  const minus = word.startsWith('-') ? '-' : ''
  const [field = '', value] = word.slice(minus.length).split(':')
  if (value === undefined) {
    const fields = FIELD_NAMES.filter((name) => name.startsWith(field)).map((name) => ({
      text: `${minus}${name}:`,
      note: FIELDS[name].means,
    }))
    const prefixes = Object.entries(PREFIXES)
      .filter(([name]) => name.startsWith(field))
      .map(([name, { means }]) => ({ text: `${name}.`, note: means }))
    return [...fields, ...prefixes]
  }
  if (field !== 'state' && field !== 'queue' && field !== 'type') return []
  const before = value.includes(',') ? value.slice(0, value.lastIndexOf(',') + 1) : ''
  const begun = value.slice(before.length)
  const counts = new Map<string, number>()
  for (const each of tally?.counts ?? []) counts.set(each[field], (counts.get(each[field]) ?? 0) + each.count)
  return [...counts]
    .filter(([name]) => name.startsWith(begun))
    .sort(([, a], [, b]) => b - a)
    .slice(0, OFFERED)
    .map(([name, n]) => ({ text: `${minus}${field}:${before}${name}`, note: count(n) }))
}
