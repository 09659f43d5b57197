/** What came of an action, for a while, at the bottom; read aloud by screen readers. */
import { createContext, type ReactNode, useCallback, useContext, useState } from 'react'
import { Problem } from '../api/http.ts'

interface Said {
  readonly n: number
  readonly text: ReactNode
  readonly isBad: boolean
}

type Say = (text: ReactNode, isBad?: boolean) => void

const SHOWN_MS = 8_000
const Saying = createContext<Say>(() => {})
export const useSay = (): Say => useContext(Saying)

let numbers = 0

export function Toasts({ children }: { readonly children: ReactNode }): ReactNode {
  const [said, setSaid] = useState<readonly Said[]>([])
  const say = useCallback<Say>((text, isBad = false) => {
    numbers += 1
    const n = numbers
    setSaid((before) => [...before.slice(-2), { n, text, isBad }])
    setTimeout(() => setSaid((before) => before.filter((each) => each.n !== n)), SHOWN_MS)
  }, [])
  return (
    <Saying value={say}>
      {children}
      <div
        aria-live="polite"
        className="pointer-events-none fixed inset-x-0 bottom-20 z-50 flex flex-col items-center gap-2 phone:bottom-6"
      >
        {said.map(({ n, text, isBad }) => (
          <div key={n} className={`floats pointer-events-auto max-w-[90vw] px-4 py-2 ${isBad ? 'text-bad' : ''}`}>
            {text}
          </div>
        ))}
      </div>
    </Saying>
  )
}

/** A refusal in one line: what, and what to do. */
export function refusal(error: unknown): ReactNode {
  if (!(error instanceof Problem)) return String(error)
  return (
    <>
      {error.body.detail} <span className="text-text-2">{error.body.next}</span>{' '}
      <span className="mono text-text-3">{error.body.code}</span>
    </>
  )
}
