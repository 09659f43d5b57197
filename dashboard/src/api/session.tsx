/** Who looks at this page, and what they may. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react'
import { ask, carryCsrf, onSignedOut, Problem } from './http.ts'
import { live } from './live.ts'
import type { SessionAnswer } from './wire.ts'

export interface Session extends SessionAnswer {
  /** Whether this route is open to them, by its name. */
  can(route: string): boolean
  /** They may look, and change nothing. */
  readonly isReadOnly: boolean
}

const Current = createContext<Session | undefined>(undefined)

/** Of somebody who is signed in: nothing below the gate is shown to anybody else. */
export function useSession(): Session {
  const session = useContext(Current)
  if (session === undefined) throw new Error('There is nobody: this is shown behind the gate only.')
  return session
}

export const sessionKey = ['session'] as const

export function SessionGate({
  children,
  signIn,
  again,
}: {
  readonly children: ReactNode
  readonly signIn: ReactNode
  /** The same over a page whose session has ended. */
  readonly again: ReactNode
}): ReactNode {
  const client = useQueryClient()
  const { data, error, isPending } = useQuery({
    queryKey: sessionKey,
    queryFn: () => readSession(),
    retry: (count, thrown) => !(thrown instanceof Problem && thrown.body.status === 401) && count < 5,
    staleTime: Number.POSITIVE_INFINITY,
  })
  /** The answer that a session was begun with, and that has ended since by itself: what is on screen stays until somebody signs in again. */
  const [ended, setEnded] = useState<SessionAnswer>()
  useEffect(
    () => onSignedOut(() => setEnded(client.getQueryData<SessionAnswer | null>(sessionKey) ?? undefined)),
    [client],
  )
  const session = useMemo(() => (data ? sessionOf(data) : undefined), [data])
  if (isPending) return null
  if (session === undefined || error) return signIn
  return (
    <Current value={session}>
      {children}
      {data === ended ? (
        <div
          role="dialog"
          aria-modal="true"
          aria-label="Your session has ended"
          className="fixed inset-0 z-50 flex flex-col items-center justify-center bg-bg/80"
        >
          <div className="floats p-2">
            <p className="px-6 pt-4 font-medium">Your session has ended. Sign in to go on here.</p>
            {again}
          </div>
        </div>
      ) : null}
    </Current>
  )
}

async function readSession(): Promise<SessionAnswer | null> {
  try {
    return heard(await ask<SessionAnswer>('/v1/session'))
  } catch (error) {
    if (error instanceof Problem && error.body.status === 401) return null
    throw error
  }
}

export async function signInWith(token: string): Promise<SessionAnswer> {
  return heard(await ask<SessionAnswer>('/v1/session', { method: 'POST', token }))
}

export async function signOut(): Promise<void> {
  await ask('/v1/session', { method: 'DELETE' })
  carryCsrf(undefined)
}

function heard(answer: SessionAnswer): SessionAnswer {
  const { csrf, tenant, actor, scope } = answer
  carryCsrf(csrf)
  live.belongTo([tenant, scope, actor, csrf].join(' '))
  return answer
}

const ACTS = ['cancelJob', 'signalJob', 'reopenJob', 'pauseQueue']

function sessionOf(answer: SessionAnswer): Session {
  const may = new Set(answer.may)
  return { ...answer, can: (route) => may.has(route), isReadOnly: !ACTS.some((route) => may.has(route)) }
}
