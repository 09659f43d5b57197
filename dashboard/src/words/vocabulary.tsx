/**
 * In whose words states and events are said: pawl's own, or those of one of the documents. Icons, colours, addresses and the
 * drawing stay as they are.
 */
import { createContext, type ReactNode, useContext, useMemo } from 'react'
import { useDialect } from '../api/queries.ts'
import type { Dialect, State } from '../api/wire.ts'
import { useKept } from './kept.ts'

export const VOCABULARIES = ['pawl', '000A', '000B', '001', '002', '003', '004'] as const

export interface Vocabulary {
  readonly name: string
  readonly choose: (name: string) => void
  /** A state of a job; on a node `A / B` where it depends on how far a job has come. */
  state(state: State): string
  event(type: string): string
}

const Words = createContext<Vocabulary | undefined>(undefined)

export function useWords(): Vocabulary {
  const words = useContext(Words)
  if (words === undefined) throw new Error('No vocabulary: this is shown inside the frame only.')
  return words
}

export function VocabularyProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [name, choose] = useKept('words', 'pawl')
  const { data } = useDialect(name)
  const words = useMemo(() => vocabulary(name, choose, name === 'pawl' ? undefined : data), [name, choose, data])
  return <Words value={words}>{children}</Words>
}

function vocabulary(name: string, choose: (name: string) => void, dialect: Dialect | undefined): Vocabulary {
  return {
    name,
    choose,
    state: (state) => (dialect === undefined ? state : stateIn(dialect, state)),
    event: (type) => dialect?.tells[type] ?? type,
  }
}

export function stateIn({ shows }: Dialect, state: State): string {
  const shown = shows[state]
  return typeof shown === 'string' ? shown : [...new Set(Object.values(shown))].join(' / ')
}
