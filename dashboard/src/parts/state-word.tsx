/** A state: its icon, and the word for it in the vocabulary of the page. */
import type { ReactNode } from 'react'
import type { State } from '../api/wire.ts'
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

export function StatePill({ state, isUndoing }: { readonly state: State; readonly isUndoing: boolean }): ReactNode {
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
      {isUndoing ? <span title="Its steps are being undone">↶ undoing</span> : null}
    </span>
  )
}
