/** Says when what is on screen has stopped to follow, and since when. */
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useCallback, useEffect, useState } from 'react'
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

/** So often it is tried, besides what each part of the page asks by itself. */
const TRY_EVERY_MS = 5_000

export function ConnectionBar(): ReactNode {
  const connection = useConnection()
  const client = useQueryClient()
  const [triedAt, setTriedAt] = useState(0)
  const [isTrying, setTrying] = useState(false)
  useNow()
  const since = connection.is === 'lost' ? connection.since : undefined
  const forMs = since === undefined ? 0 : Date.now() - since
  const isTold = forMs >= TOLD_AFTER_MS
  const leftMs = Math.max(0, Math.max(triedAt, since ?? 0) + TRY_EVERY_MS - Date.now())
  const again = useCallback(async () => {
    setTrying(true)
    live.again()
    await client.refetchQueries({ type: 'active' }).finally(() => {
      setTriedAt(Date.now())
      setTrying(false)
    })
  }, [client])
  const isDue = isTold && leftMs === 0 && !isTrying
  useEffect(() => {
    if (isDue) void again()
  }, [isDue, again])
  // What is on screen is from before: its numbers say so.
  useEffect(() => {
    document.documentElement.toggleAttribute('data-lost', isTold)
    return () => void document.documentElement.removeAttribute('data-lost')
  }, [isTold])
  if (since === undefined || !isTold) return null
  return (
    <div
      role="status"
      className="flex items-center gap-3 border-b border-line px-6 py-2"
      style={{ background: 'var(--again-bg)' }}
    >
      <span>
        <b className="font-medium">Connection lost {span(forMs)} ago.</b> What you see is from {clock(since)} UTC.{' '}
        {isTrying ? 'Trying now.' : `Trying again in ${Math.ceil(leftMs / 1_000)} s.`}
      </span>
      <button type="button" className="btn ml-auto" disabled={isTrying} onClick={() => void again()}>
        Try now
      </button>
    </div>
  )
}
