/** Says when what is on screen has stopped to follow, and since when. */
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { useConnection } from '../api/connection.ts'
import { live } from '../api/live.ts'
import { clock, span } from '../words/format.ts'
import { useNow } from '../words/now.ts'
import { useWords } from '../words/vocabulary.tsx'

/** A reconnect that takes no longer is nobody's business. */
const TOLD_AFTER_MS = 5_000

/** Whose words are spoken, where they are not ours: nobody should wonder why a state is called otherwise. */
export function WordsBar(): ReactNode {
  const words = useWords()
  if (words.name === 'pawl') return null
  return (
    <div
      role="note"
      className="flex flex-wrap items-center gap-3 border-b border-line bg-sunken px-4 py-1.5 text-sm phone:px-6"
    >
      <span>
        <b className="font-medium">Words of {words.name}</b>
        {words.title === undefined ? '' : `, ${words.title}`}. Icons, colours and addresses stay pawl’s.
      </span>
      <Link className="link" href="/machine">
        All vocabularies
      </Link>
      <button type="button" className="btn ml-auto" onClick={() => words.choose('pawl')}>
        Speak as pawl
      </button>
    </div>
  )
}

export function ConnectionBar(): ReactNode {
  const connection = useConnection()
  const client = useQueryClient()
  const [isTrying, setTrying] = useState(false)
  useNow()
  if (connection.is !== 'lost') return null
  const forMs = Date.now() - connection.since
  if (forMs < TOLD_AFTER_MS) return null
  return (
    <div
      role="status"
      className="flex items-center gap-3 border-b border-line px-6 py-2"
      style={{ background: 'var(--again-bg)' }}
    >
      <span>
        <b className="font-medium">Connection lost {span(forMs)} ago.</b> What you see is from {clock(connection.since)}{' '}
        UTC. It is tried again every few seconds; what was missed is read then.
      </span>
      <button
        type="button"
        className="btn ml-auto"
        disabled={isTrying}
        onClick={async () => {
          setTrying(true)
          live.again()
          await client.refetchQueries({ type: 'active' }).finally(() => setTrying(false))
        }}
      >
        Try now
      </button>
    </div>
  )
}
