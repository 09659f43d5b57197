/** A refusal in its place: why, and what has happened since the job was looked at. */
import type { ReactNode } from 'react'
import { refusal } from '../parts/toasts.tsx'
import { useWords } from '../words/vocabulary.tsx'
import type { Refused } from './use-act.ts'

export function Meanwhile({
  refused,
  onClose,
}: {
  readonly refused: Refused
  readonly onClose: () => void
}): ReactNode {
  const words = useWords()
  const { since, problem } = refused
  return (
    <div role="alert" className="card mb-2 max-w-md border-bad p-3 text-sm">
      <p>{refusal(problem)}</p>
      {since.length === 0 ? null : (
        <p className="text-text-2">
          Meanwhile:{' '}
          {since
            .map(
              ({ type, to, actor }) =>
                `${words.event(type)}${to === undefined ? '' : `, now ${words.state(to)}`} by ${actor}`,
            )
            .join('; ')}
          .
        </p>
      )}
      <button type="button" className="btn mt-2" onClick={onClose}>
        I have seen it
      </button>
    </div>
  )
}
