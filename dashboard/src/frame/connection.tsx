/** Says when what is on screen has stopped to follow, and since when. */
import type { ReactNode } from 'react'
import { useConnection } from '../api/connection.ts'
import { clock, span } from '../words/format.ts'
import { useNow } from '../words/now.ts'

/** A reconnect that takes no longer is nobody's business. */
const TOLD_AFTER_MS = 5_000

export function ConnectionBar(): ReactNode {
  const connection = useConnection()
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
        UTC. It is tried again every second.
      </span>
      <button type="button" className="btn ml-auto" onClick={() => location.reload()}>
        Reload
      </button>
    </div>
  )
}
