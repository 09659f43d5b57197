/**
 * In whose words states and events are said: pawl's own, or those of one of the documents. Icons, colours, addresses and the
 * drawing stay as they are.
 */
import { createContext, type ReactNode, useCallback, useContext, useMemo } from 'react'
import { useSearchParams } from 'wouter'
import { useDialect } from '../api/queries.ts'
import type { Dialect, JobEvent, State } from '../api/wire.ts'
import { useKept } from './kept.ts'
import { movesTold, statusOf, type ToldMove } from './told.ts'

export const VOCABULARIES = ['pawl', '000A', '000B', '001', '002', '003', '004'] as const

export interface Vocabulary {
  readonly name: string
  readonly choose: (name: string) => void
  /** A state of a job; on a node `A / B` where it depends on how far a job has come. */
  state(state: State): string
  /** Of this one, exactly. */
  ofJob(job: Parameters<typeof statusOf>[1]): string
  /** The moves that tell these events of one job, by their revisions; undefined in our own words. */
  moves(events: readonly JobEvent[]): ReadonlyMap<number, readonly ToldMove[]> | undefined
  event(type: string): string
  /** What it is called by the document; pawl for ours. */
  readonly title: string | undefined
  /** The document's words, each with the states of ours that it stands for. */
  readonly statuses: readonly (readonly [word: string, states: readonly State[]])[]
}

const Words = createContext<Vocabulary | undefined>(undefined)

export function useWords(): Vocabulary {
  const words = useContext(Words)
  if (words === undefined) throw new Error('No vocabulary: this is shown inside the frame only.')
  return words
}

export function VocabularyProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [kept, keep] = useKept('words', 'pawl')
  const [params, setParams] = useSearchParams()
  // What an address says holds for whoever was sent it; what they choose themselves is theirs again.
  const asked = VOCABULARIES.find((each) => each === params.get('dialect'))
  const name = asked ?? kept
  const choose = useCallback(
    (chosen: string) => {
      keep(chosen)
      if (asked !== undefined) setParams((before) => without(before, 'dialect'), { replace: true })
    },
    [keep, asked, setParams],
  )
  const { data } = useDialect(name)
  const words = useMemo(() => vocabulary(name, choose, name === 'pawl' ? undefined : data), [name, choose, data])
  return <Words value={words}>{children}</Words>
}

function without(params: URLSearchParams, name: string): URLSearchParams {
  const rest = new URLSearchParams(params)
  rest.delete(name)
  return rest
}

function vocabulary(name: string, choose: (name: string) => void, dialect: Dialect | undefined): Vocabulary {
  return {
    name,
    choose,
    state: (state) => (dialect === undefined ? state : stateIn(dialect, state)),
    ofJob: (job) => (dialect === undefined ? job.state : statusOf(dialect, job)),
    moves: (events) => dialect && movesTold(dialect, events),
    event: (type) => dialect?.tells[type] ?? type,
    title: dialect?.title,
    statuses: dialect === undefined ? [] : statusesIn(dialect),
  }
}

function statusesIn({ shows }: Dialect): Vocabulary['statuses'] {
  const found = new Map<string, State[]>()
  for (const [state, shown] of Object.entries(shows) as [State, Dialect['shows'][State]][])
    for (const word of new Set(typeof shown === 'string' ? [shown] : Object.values(shown)))
      found.set(word, [...(found.get(word) ?? []), state])
  return [...found]
}

export function stateIn({ shows }: Dialect, state: State): string {
  const shown = shows[state]
  return typeof shown === 'string' ? shown : [...new Set(Object.values(shown))].join(' / ')
}
