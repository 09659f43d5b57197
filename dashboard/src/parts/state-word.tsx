/** A state: its icon, and the word for it in the vocabulary of the page. */
import type { ReactNode } from 'react'
import type { Job, State } from '../api/wire.ts'
import { FAMILY } from '../machine/families.ts'
import { useWords } from '../words/vocabulary.tsx'
import { StateIcon } from './state-icon.tsx'

/** Of one job: its exact word, and the document that it is bound to. */
export function JobState({ job }: { readonly job: Job }): ReactNode {
  const words = useWords()
  return (
    <span className="inline-flex items-center gap-1.5 font-medium whitespace-nowrap" title={job.state}>
      <StateIcon state={job.state} />
      {words.ofJob(job)}
      <BoundTo job={job} />
    </span>
  )
}

export function BoundTo({ job: { dialect } }: { readonly job: Pick<Job, 'dialect'> }): ReactNode {
  if (dialect === undefined) return null
  return (
    <span
      className="rounded-sm border border-line px-1 text-xs font-normal text-text-2"
      title={`Bound to document ${dialect}: it keeps that to the letter`}
    >
      {dialect}
    </span>
  )
}

export function StateWord({ state }: { readonly state: State }): ReactNode {
  const words = useWords()
  return (
    <span className="inline-flex items-center gap-1.5 align-middle font-medium whitespace-nowrap" title={state}>
      <StateIcon state={state} />
      {words.state(state)}
    </span>
  )
}

/** `undoing`, while its steps are being undone; `undone`, where they were before it ended. */
type Undo = 'undoing' | 'undone'

const undoOf = ({ phase, endedAt }: Pick<Job, 'phase' | 'endedAt'>): Undo | undefined =>
  phase === 'compensate' ? (endedAt === undefined ? 'undoing' : 'undone') : undefined

const UNDO: Readonly<Record<Undo, string>> = {
  undoing: 'Its steps are being undone',
  undone: 'Its steps were undone before it ended',
}

export function StatePill({ job }: { readonly job: Job }): ReactNode {
  const words = useWords()
  const { state } = job
  const undo = undoOf(job)
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
      {words.ofJob(job)}
      {undo === undefined ? null : <span title={UNDO[undo]}>↶ {undo}</span>}
    </span>
  )
}
