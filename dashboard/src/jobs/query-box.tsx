/** The query, term by term: what a list shows is what stands here. What is finished is a chip; what is being written is completed. */
import { type KeyboardEvent, type ReactNode, type SubmitEvent, useEffect, useId, useRef, useState } from 'react'
import { useKeyNames } from '../api/limits.ts'
import { useCodes, useInputPaths } from '../api/queries.ts'
import { useSession } from '../api/session.tsx'
import type { TallyAnswer } from '../api/wire.ts'
import { Icon } from '../parts/icon.tsx'
import { useWords } from '../words/vocabulary.tsx'
import { Chips } from './chips.tsx'
import { type Draft, draftOf, queryIn, takenUp, without, written } from './draft.ts'
import { before, type Known, type Offer, offersFor } from './offers.ts'
import { namesWithin, parseSearch, type Search } from './query.ts'

export interface QueryBoxProps {
  readonly query: string
  readonly tally: TallyAnswer | undefined
  readonly onSearch: (query: string) => void
}

export function QueryBox({ query, tally, onSearch }: QueryBoxProps): ReactNode {
  const [draft, setDraft] = useState(() => draftOf(query))
  const [chosen, setChosen] = useState(-1)
  const [isOpen, setOpen] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const list = useId()
  useEffect(() => setDraft(draftOf(query)), [query])
  const whole = queryIn(draft)
  const search = parseSearch(whole)
  const known = useKnown(draft, tally, isOpen)
  const offers = isOpen ? offersFor(draft.text, known) : []

  const write = (next: Draft) => {
    setDraft(next)
    setChosen(-1)
    setOpen(true)
  }
  const go = (next: Draft) => {
    setDraft(next)
    const text = queryIn(next)
    if (!parseSearch(text).ok) return
    setOpen(false)
    setChosen(-1)
    onSearch(text)
  }
  const take = (offer: Offer) => {
    input.current?.focus()
    const text = `${before(draft.text)}${offer.text}`
    if (offer.isOpen) write({ ...draft, text })
    else go(written(draft, `${text} `))
  }
  const edit = (n: number) => {
    write(takenUp(draft, n))
    input.current?.focus()
  }
  const remove = (n: number) => {
    go(without(draft, n))
    input.current?.focus()
  }
  const pressed = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (by !== 0 && offers.length > 0) {
      event.preventDefault()
      setChosen((at) => Math.max(-1, Math.min(offers.length - 1, at + by)))
    }
    const offer = offers[chosen] ?? (event.key === 'Tab' && draft.text !== '' ? offers[0] : undefined)
    if ((event.key === 'Tab' || event.key === 'Enter') && offer !== undefined) {
      event.preventDefault()
      take(offer)
    }
    if (event.key === 'Backspace' && draft.text === '' && draft.chips.length > 0) {
      event.preventDefault()
      edit(draft.chips.length - 1)
    }
    if (event.key === 'Escape') {
      if (offers.length === 0) input.current?.blur()
      setOpen(false)
    }
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    go(draft)
  }
  return (
    <form role="search" onSubmit={submit} className="relative min-w-0 flex-1">
      <div
        className={`flex min-h-9 flex-wrap items-center gap-x-2 gap-y-1 rounded-lg border bg-surface py-1 pr-9 pl-3 focus-within:outline-2 focus-within:outline-focus ${search.ok ? 'border-edge' : 'border-bad'}`}
      >
        <Icon name="search" />
        <Chips chips={draft.chips} onEdit={edit} onRemove={remove} />
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
          className={`mono h-6 min-w-24 flex-1 bg-transparent outline-none ${search.ok ? '' : 'underline decoration-bad decoration-wavy'}`}
          placeholder={draft.chips.length === 0 ? 'state:failed code:E_429 input.url:*example*' : ''}
          value={draft.text}
          onChange={(event) => write(written(draft, event.target.value))}
          onFocus={() => setOpen(true)}
          onBlur={() => setTimeout(() => setOpen(false), 150)}
          onKeyDown={pressed}
        />
        {whole === '' ? (
          <kbd className="absolute top-2 right-3">/</kbd>
        ) : (
          <button
            type="button"
            aria-label="Clear the query"
            className="absolute top-1.5 right-2 icon-button"
            onClick={() => go({ chips: [], text: '' })}
          >
            <Icon name="close" size={14} />
          </button>
        )}
      </div>
      <Offers id={list} offers={offers} chosen={chosen} onTake={take} />
      <Complaint search={search} isWriting={isOpen} onTake={(instead) => go(draftOf(instead))} text={whole} />
    </form>
  )
}

/** What completion needs, asked for when somebody is about to need it. */
function useKnown(draft: Draft, tally: TallyAnswer | undefined, isOpen: boolean): Known {
  const { text } = draft
  const session = useSession()
  const words = useWords()
  const { data: failures = [] } = useCodes(isOpen)
  const { data: keys = [] } = useKeyNames(isOpen && /(?:^|\s)-?key:\S*$/.test(text) && session.can('listLimits'))
  // What is being written is no term yet.
  const finished = parseSearch(queryIn({ ...draft, text: before(text) }))
  const types = namesWithin(finished.ok ? finished.terms : [], tally, 'type')
  const isInput = /(?:^|\s)input\.[^\s:]*$/.test(text)
  const { data: inputs = [] } = useInputPaths(types, isOpen && isInput && session.can('showType'))
  return { tally, failures, keys, inputs, words: words.statuses }
}

interface OffersProps {
  readonly id: string
  readonly offers: readonly Offer[]
  readonly chosen: number
  readonly onTake: (offer: Offer) => void
}

function Offers({ id, offers, chosen, onTake }: OffersProps): ReactNode {
  if (offers.length === 0) return null
  return (
    <div
      id={id}
      role="listbox"
      aria-label="Completions"
      className="floats absolute inset-x-0 top-full z-30 mt-1 max-h-80 overflow-y-auto p-1"
    >
      {offers.map((offer, n) => (
        <button
          key={offer.text}
          id={`${id}-${n}`}
          type="button"
          role="option"
          aria-selected={n === chosen}
          tabIndex={-1}
          className={`flex h-8 w-full items-center gap-3 rounded-md px-2 text-left ${n === chosen ? 'bg-hover' : 'hover:bg-hover'}`}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onTake(offer)}
        >
          <span className="mono truncate">{offer.text}</span>
          <span className="ml-auto truncate text-sm text-text-3">{offer.note}</span>
        </button>
      ))}
    </div>
  )
}

interface ComplaintProps {
  readonly search: Search
  readonly isWriting: boolean
  readonly text: string
  readonly onTake: (query: string) => void
}

function Complaint({ search, isWriting, text, onTake }: ComplaintProps): ReactNode {
  if (search.ok || (isWriting && search.term.endsWith(':'))) return null
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
