/**
 * Whether the gateway answers: what the stream and every request find out, in one place. Live where both do: while only
 * requests are answered, nothing on the page would move, and it must not say that it is live.
 */
import { useSyncExternalStore } from 'react'

export type Connection = { readonly is: 'live' } | { readonly is: 'lost'; readonly since: number }

const LIVE: Connection = { is: 'live' }
const watchers = new Set<() => void>()
let connection: Connection = LIVE

/** Those who ask, each with what it found last. */
export type Way = 'requests' | 'stream'
const cut = new Set<Way>()

export function reached(way: Way): void {
  cut.delete(way)
  if (cut.size === 0) become(LIVE)
}

export function unreached(way: Way): void {
  cut.add(way)
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
