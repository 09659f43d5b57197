import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { ask, segment } from '../api/http.ts'
import type { Token } from '../api/wire.ts'
import { Ask } from '../parts/ask.tsx'
import { refusal, useSay } from '../parts/toasts.tsx'

/** Ends a token, and the sessions that were made of it. */
export function Revoke({ token }: { readonly token: Token }): ReactNode {
  const client = useQueryClient()
  const say = useSay()
  const [isAsked, setAsked] = useState(false)
  const { mutate, isPending } = useMutation({
    mutationFn: () => ask(`/v1/tokens/${segment(token.id)}`, { method: 'DELETE' }),
    onSuccess: () => {
      setAsked(false)
      say(`${token.name} is good for nothing any more, within seconds everywhere.`)
      void client.invalidateQueries({ queryKey: ['tokens'] })
    },
    onError: (error) => say(refusal(error), true),
  })
  return (
    <>
      <button type="button" className="btn" aria-label={`Revoke ${token.name}`} onClick={() => setAsked(true)}>
        Revoke…
      </button>
      <Ask
        open={isAsked}
        title={`Revoke ${token.name}?`}
        onClose={() => setAsked(false)}
        actions={
          <button type="button" className="btn btn-danger" disabled={isPending} onClick={() => mutate()}>
            Revoke the token
          </button>
        }
      >
        <p>Whoever uses it is refused from then on, browsers that signed in with it too. There is no way back.</p>
      </Ask>
    </>
  )
}
