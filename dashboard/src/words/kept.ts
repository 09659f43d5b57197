/** What a person has chosen, kept in this browser. */
import { useCallback, useSyncExternalStore } from 'react'

const watchers = new Set<() => void>()

function read(name: string): string | null {
  try {
    return localStorage.getItem(`pawl.${name}`)
  } catch {
    // Some browsers keep nothing for some pages: then nothing is kept.
    return null
  }
}

export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(`pawl.${name}`, value)
  } catch {}
  for (const watcher of watchers) watcher()
}

export const kept = (name: string, otherwise: string): string => read(name) ?? otherwise

function watch(watcher: () => void): () => void {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

export function useKept(name: string, otherwise: string): readonly [string, (value: string) => void] {
  const value = useSyncExternalStore(watch, () => kept(name, otherwise))
  const set = useCallback((next: string) => keep(name, next), [name])
  return [value, set]
}
