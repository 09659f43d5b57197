/** The way in: by the link that was printed, without a word; else with a token. */
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, type SubmitEvent, useEffect, useState } from 'react'
import { useLocation } from 'wouter'
import { sessionKey, signInWith } from '../api/session.tsx'
import { Brand } from '../parts/icon.tsx'
import { refusal } from '../parts/toasts.tsx'

/** Taken out of the address at once: it works once, and belongs into no history. */
function takeLink(): string | undefined {
  const secret = location.hash.slice(1)
  if (!secret.startsWith('pawl_')) return undefined
  history.replaceState(null, '', location.pathname + location.search)
  return secret
}

const link = takeLink()

/** `isAgain`: over a page that somebody was signed in to. */
export function SignIn({ isAgain = false }: { readonly isAgain?: boolean }): ReactNode {
  const client = useQueryClient()
  const [path, go] = useLocation()
  const [problem, setProblem] = useState<ReactNode>()
  const [isBusy, setBusy] = useState(link !== undefined && !isAgain)

  const enter = async (secret: string) => {
    setBusy(true)
    try {
      client.setQueryData(sessionKey, await signInWith(secret))
      // What was refused meanwhile is asked for again.
      if (isAgain) void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] })
      if (path === '/sign-in') go('/', { replace: true })
    } catch (error) {
      setProblem(refusal(error))
    }
    setBusy(false)
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: the link is taken once, when the page comes
  useEffect(() => {
    if (link !== undefined && !isAgain) void enter(link)
  }, [])

  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    void enter(String(new FormData(event.currentTarget).get('token')).trim())
  }

  const Place = isAgain ? 'div' : 'main'
  return (
    <Place className={`mx-auto flex max-w-sm flex-col justify-center gap-4 p-6 ${isAgain ? '' : 'min-h-dvh'}`}>
      <h1 className="flex items-center gap-2 text-lg font-semibold">
        <Brand />
        pawl
      </h1>
      {isBusy ? (
        <p>Signing in…</p>
      ) : (
        <form onSubmit={submit} className="flex flex-col gap-3">
          <label className="flex flex-col gap-1">
            <span className="font-medium">Token</span>
            <input
              className="field mono"
              name="token"
              type="password"
              autoComplete="off"
              required
              placeholder="pawl_…"
            />
          </label>
          <button type="submit" className="btn btn-ink">
            Sign in
          </button>
          {problem === undefined ? null : (
            <p role="alert" className="text-bad">
              {problem}
            </p>
          )}
          <p className="text-sm text-text-2">
            The token is exchanged for a cookie of this browser, and kept nowhere.{' '}
            <code className="mono">pawl token create --scope operator</code> makes one; the link that was printed when
            the gateway started works once.
          </p>
        </form>
      )}
    </Place>
  )
}
