/** A state: its icon, and the word for it in the vocabulary of the page. */
import type { ReactNode } from 'react'
import type { Job, State } from '../api/wire.ts'
import { FAMILY } from '../machine/families.ts'
import { useWords } from '../words/vocabulary.tsx'
import { StateIcon } from './state-icon.tsx'

export function StateWord({ state }: { readonly state: State }): ReactNode {
  const words = useWords()
  return (
    <span className="inline-flex items-center gap-1.5 font-medium whitespace-nowrap" title={state}>
      <StateIcon state={state} />
      {words.state(state)}
    </span>
  )
}

/** `undoing`, while its steps are being undone; `undone`, where they were before it ended. */
export type Undo = 'undoing' | 'undone'

export const undoOf = ({ phase, endedAt }: Pick<Job, 'phase' | 'endedAt'>): Undo | undefined =>
  phase === 'compensate' ? (endedAt === undefined ? 'undoing' : 'undone') : undefined

const UNDO: Readonly<Record<Undo, string>> = {
  undoing: 'Its steps are being undone',
  undone: 'Its steps were undone before it ended',
}

export function StatePill({ state, undo }: { readonly state: State; readonly undo?: Undo | undefined }): ReactNode {
  const words = useWords()
  const family = FAMILY[state]
  return (
    <span
      className="inline-flex h-6 items-center gap-1.5 rounded-full pr-2.5 pl-1.5 text-sm font-medium whitespace-nowrap"
      style={
        {
          background: `var(--${family}-bg)`,
          color: `var(--${family})`,
          '--hole': `var(--${family}-bg)`,
        } as React.CSSProperties
      }
    >
      <StateIcon state={state} />
      {words.state(state)}
      {undo === undefined ? null : <span title={UNDO[undo]}>↶ {undo}</span>}
    </span>
  )
}
