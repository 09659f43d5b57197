/** The time of the store, once a second for everybody who shows it. */
import { useSyncExternalStore } from 'react'
import { serverNow } from '../api/http.ts'

const EVERY_MS = 1_000
const watchers = new Set<() => void>()
let timer: number | undefined
let last = serverNow()

function watch(watcher: () => void): () => void {
  watchers.add(watcher)
  timer ??= window.setInterval(() => {
    last = serverNow()
    for (const each of watchers) each()
  }, EVERY_MS)
  return () => {
    watchers.delete(watcher)
    if (watchers.size > 0) return
    window.clearInterval(timer)
    timer = undefined
  }
}

export const useNow = (): number => useSyncExternalStore(watch, () => last)
