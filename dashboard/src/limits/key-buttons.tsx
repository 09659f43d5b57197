/** What a person may say to a key that was pushed back. What the table has no cell for is greyed, and says where it has one. */
import { type ReactNode, useState } from 'react'
import type { LimitKey } from '../api/limits.ts'
import { useMachine } from '../api/queries.ts'
import { useSession } from '../api/session.tsx'
import { Ask } from '../parts/ask.tsx'
import { Tip } from '../parts/tip.tsx'
import { useKeyAct } from './use-key-act.ts'

interface Word {
  readonly word: 'probe' | 'reset'
  readonly route: string
  readonly text: string
  readonly told: string
}

const WORDS: readonly Word[] = [
  {
    word: 'probe',
    route: 'probeLimit',
    text: 'Try one now',
    told: 'One job finds out now; the others wait for its answer.',
  },
  { word: 'reset', route: 'resetLimit', text: 'Open the key…', told: 'Open: all that its limit has is let in.' },
]

export function KeyButtons({ limit }: { readonly limit: LimitKey }): ReactNode {
  const [isAsking, setAsking] = useState(false)
  const { act, isPending } = useKeyAct(limit.key)
  const refused = useRefused(limit)
  const says = (word: Word) => act({ method: 'POST', path: `/${word.word}`, told: word.told })
  return (
    <div className="flex flex-wrap gap-2">
      {WORDS.map((word) => {
        const why = refused(word)
        return why === undefined ? (
          <button
            key={word.word}
            type="button"
            className="btn"
            disabled={isPending}
            onClick={() => (word.word === 'reset' ? setAsking(true) : says(word))}
          >
            {word.text}
          </button>
        ) : (
          <Tip key={word.word} text={why}>
            <button type="button" className="btn" aria-disabled="true">
              {word.text.replace('…', '')}
            </button>
          </Tip>
        )
      })}
      <Ask
        open={isAsking}
        onClose={() => setAsking(false)}
        title={`Open ${limit.key}?`}
        actions={
          <button
            type="button"
            className="btn btn-ink"
            onClick={() => {
              setAsking(false)
              for (const word of WORDS) if (word.word === 'reset') says(word)
            }}
          >
            Open the key
          </button>
        }
      >
        <p>
          As if it had never been pushed back: all that its limit has is let in at once. If whoever is behind it still
          says no, it is slowed again by the first answer.
        </p>
      </Ask>
    </div>
  )
}

function useRefused({ state }: LimitKey): (word: Word) => string | undefined {
  const session = useSession()
  const { data: machine } = useMachine()
  return ({ word, route }) => {
    if (!session.can(route)) return `Your token is of scope ${session.scope}, which may not change limits.`
    const cells = machine?.keys[word] ?? {}
    if (cells[state] !== undefined) return undefined
    return `Not while it is ${state}. ${word} works on keys that are ${Object.keys(cells).join(', ')}.`
  }
}
