import { useCallback, useEffect, useRef, useState } from 'react'
import { useLive } from '../api/live.ts'
import type { JobEvent } from '../api/wire.ts'

/** In memory: of thousands a second nobody reads all, and each must find those that are looked for. */
const KEPT = 2_000
/** Nobody reads faster. */
const SHOW_EVERY_MS = 150

export interface Tail {
  /** Oldest first. */
  readonly events: readonly JobEvent[]
  /** How many have come since it was paused. */
  readonly behind: number
}

/** What happens from now on. */
export function useTail(isPaused: boolean): Tail {
  const [events, setEvents] = useState<readonly JobEvent[]>([])
  const [behind, setBehind] = useState(0)
  const come = useRef<JobEvent[]>([])
  const heard = useCallback((event: JobEvent) => {
    come.current.push(event)
    if (come.current.length > 2 * KEPT) come.current.splice(0, KEPT)
  }, [])
  useLive(heard)
  useEffect(() => {
    const timer = setInterval(() => {
      if (come.current.length === 0) return
      if (isPaused) return setBehind(come.current.length)
      const latest = come.current.splice(0)
      setBehind(0)
      setEvents((before) => [...before, ...latest].slice(-KEPT))
    }, SHOW_EVERY_MS)
    return () => clearInterval(timer)
  }, [isPaused])
  return { events, behind }
}
