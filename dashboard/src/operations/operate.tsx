/** Something is done to all that a search finds: counted first, then asked, then watched where operations are. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useLocation } from 'wouter'
import { type Action, startOperation } from '../api/operations.ts'
import { useSession } from '../api/session.tsx'
import { Tip } from '../parts/tip.tsx'
import { refusal, useSay } from '../parts/toasts.tsx'
import { count, plural } from '../words/format.ts'
import { parsedFrom } from '../words/json.ts'
import { Counted } from './counted.tsx'
import { type Choices, Options, UNCHANGED } from './options.tsx'
import { useLook } from './use-look.ts'
import { ACTION_WORDS, forbiddenTo } from './words.ts'

/** From here on the number is typed, not clicked. */
const TYPED_FROM = 1_000

export interface OperateProps {
  readonly action: Action
  readonly query: string
  /** Tried first, unless somebody says otherwise. */
  readonly canary?: number
}

export function Operate({ action, query, canary = 0 }: OperateProps): ReactNode {
  const { look, error, again } = useLook(action, query)
  const [choices, setChoices] = useState<Choices>({ ...UNCHANGED, canary: canary === 0 ? '' : String(canary) })
  const [typed, setTyped] = useState('')
  const start = useStart()
  const n = look?.endedAt === undefined ? undefined : look.report.matched
  const wrong = wrongWith(choices, n, typed)
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        if (wrong === undefined && !start.isPending) start.mutate({ action, query, choices })
      }}
    >
      <Counted action={action} look={look} error={error} />
      {n === undefined || n === 0 ? null : (
        <>
          <Options action={action} most={n} choices={choices} onChange={setChoices} />
          {n < TYPED_FROM ? null : (
            <label className="flex items-center gap-2">
              That is many. Type {n} to go on
              <input
                className="field mono w-28"
                value={typed}
                autoComplete="off"
                onChange={(event) => setTyped(event.target.value)}
              />
            </label>
          )}
        </>
      )}
      <div className="flex flex-wrap justify-end gap-2">
        <button type="button" className="btn" onClick={again}>
          Count again
        </button>
        <StartButton action={action} n={n} wrong={wrong} />
      </div>
    </form>
  )
}

interface StartButtonProps {
  readonly action: Action
  readonly n: number | undefined
  readonly wrong: string | undefined
}

/** It repeats the number; who may not, or cannot yet, is told why. */
function StartButton({ action, n, wrong }: StartButtonProps): ReactNode {
  const session = useSession()
  const text = `${ACTION_WORDS[action].verb} ${n === undefined ? 'them' : plural(n, 'job')}`
  const why = forbiddenTo(session, action) ?? wrong
  if (why !== undefined)
    return (
      <Tip text={why}>
        <button type="button" className="btn" aria-disabled="true">
          {text}
        </button>
      </Tip>
    )
  return (
    <button type="submit" className={`btn ${action === 'redrive' ? 'btn-ink' : 'btn-danger'}`}>
      {text}
    </button>
  )
}

function wrongWith({ edit, editText, canary }: Choices, n: number | undefined, typed: string): string | undefined {
  if (n === undefined) return 'It is being counted.'
  if (n === 0) return 'There is nothing to do it to.'
  if (!/^\d*$/.test(canary)) return 'How many go first is a whole number.'
  if (edit !== 'none' && (editText.trim() === '' || !parsedFrom(editText).ok)) return 'The input is not JSON yet.'
  if (n >= TYPED_FROM && typed.trim() !== String(n)) return `Type ${count(n)}, without the comma, first.`
  return undefined
}

interface Started {
  readonly action: Action
  readonly query: string
  readonly choices: Choices
}

function useStart() {
  const [, go] = useLocation()
  const client = useQueryClient()
  const say = useSay()
  // One for as long as this form is open: pressed twice, it is one operation.
  const [requestId] = useState(() => crypto.randomUUID())
  return useMutation({
    mutationFn: ({ action, query, choices: { canary, edit, editText, reason, mode } }: Started) => {
      const edited = parsedFrom(editText)
      return startOperation({
        action,
        query,
        requestId,
        ...(reason === '' ? {} : { reason }),
        ...(action === 'cancel' ? { mode } : {}),
        ...(action === 'redrive' && Number(canary) > 0 ? { canary: Number(canary) } : {}),
        ...(action === 'redrive' && edit !== 'none' && edited.ok ? { [edit]: edited.value } : {}),
      })
    },
    onSuccess: ({ id }) => {
      void client.invalidateQueries({ queryKey: ['operations'] })
      go(`/operations/${encodeURIComponent(id)}`)
    },
    onError: (error) => say(refusal(error), true),
  })
}
