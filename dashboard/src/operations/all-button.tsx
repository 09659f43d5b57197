/** Beside a list: do something to all that the query finds, whether or not they are on screen. */
import { type ReactNode, useState } from 'react'
import type { Action } from '../api/operations.ts'
import { useSession } from '../api/session.tsx'
import { Ask } from '../parts/ask.tsx'
import { Tip } from '../parts/tip.tsx'
import { Operate } from './operate.tsx'
import { ACTION_WORDS, ALL_ACTIONS, forbiddenTo } from './words.ts'

export function AllButton({ query }: { readonly query: string }): ReactNode {
  const session = useSession()
  const [isOpen, setOpen] = useState(false)
  if (!session.can('startOperation'))
    return (
      <Tip text={`Your token is of scope ${session.scope}, which may not begin operations. Ask an operator.`}>
        <button type="button" className="btn" aria-disabled="true">
          All of them
        </button>
      </Tip>
    )
  return (
    <>
      <button type="button" className="btn" data-all="" onClick={() => setOpen(true)}>
        All of them…
      </button>
      {isOpen ? <ToAll query={query} onClose={() => setOpen(false)} /> : null}
    </>
  )
}

function ToAll({ query, onClose }: { readonly query: string; readonly onClose: () => void }): ReactNode {
  const session = useSession()
  const [action, setAction] = useState<Action>()
  return (
    <Ask open onClose={onClose} title="To all that match" close="Close" actions={null}>
      <p className="mono break-words">{query === '' ? 'every job' : query}</p>
      <fieldset className="flex gap-1">
        <legend className="sr-only">What</legend>
        {ALL_ACTIONS.map((each) => {
          const why = forbiddenTo(session, each)
          return why === undefined ? (
            <button
              key={each}
              type="button"
              aria-pressed={each === action}
              className={`btn ${each === action ? 'btn-ink' : ''}`}
              onClick={() => setAction(each)}
            >
              {ACTION_WORDS[each].verb}
            </button>
          ) : (
            <Tip key={each} text={why}>
              <button type="button" className="btn" aria-disabled="true">
                {ACTION_WORDS[each].verb}
              </button>
            </Tip>
          )
        })}
      </fieldset>
      {action === undefined ? (
        <p>Choose what is to be done. It is counted first, and nothing happens before you agree to the number.</p>
      ) : (
        <Operate key={action} action={action} query={query} />
      )}
    </Ask>
  )
}
