/** Whether the gateway answers: what the stream and every request find out, in one place. */
import { useSyncExternalStore } from 'react'

export type Connection = { readonly is: 'live' } | { readonly is: 'lost'; readonly since: number }

const LIVE: Connection = { is: 'live' }
const watchers = new Set<() => void>()
let connection: Connection = LIVE

export const reached = (): void => become(LIVE)

export function unreached(): void {
  if (connection.is === 'live') become({ is: 'lost', since: Date.now() })
}

function become(next: Connection): void {
  if (next === connection) return
  connection = next
  for (const watcher of watchers) watcher()
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

export const useConnection = (): Connection => useSyncExternalStore(watch, () => connection)
