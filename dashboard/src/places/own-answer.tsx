/** Of the demo: hears, wherever they are, that whoever looks has answered about a job that waits to be let in. Rules and other people do so, too. */
import { type ReactNode, useCallback } from 'react'
import { useLive } from '../api/live.ts'
import { useSession } from '../api/session.tsx'
import type { JobEvent } from '../api/wire.ts'
import { keep } from '../words/kept.ts'

/** The name of the token that the demo makes for its link. */
export const DEMO = 'demo'
/** Where it is kept that they have: `yes`. */
export const ANSWERED = 'first-minute-answered'

const ANSWERS: readonly string[] = ['approved', 'admitted', 'denied']

export function OwnAnswer(): ReactNode {
  const { actor } = useSession()
  useLive(
    useCallback(
      (event: JobEvent) => event.actor === actor && ANSWERS.includes(event.type) && keep(ANSWERED, 'yes'),
      [actor],
    ),
  )
  return null
}
