import { useCallback, useEffect, useRef } from 'react'

/** Soon after the first call, and however many come, once in a while from then on. */
const SOON_MS = 100
const ONCE_IN_MS = 2_000

export function useSparingly(act: () => void): () => void {
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined)
  const last = useRef(0)
  useEffect(() => () => clearTimeout(waiting.current), [])
  return useCallback(() => {
    if (waiting.current !== undefined) return
    const inMs = Math.max(SOON_MS, last.current + ONCE_IN_MS - performance.now())
    waiting.current = setTimeout(() => {
      waiting.current = undefined
      last.current = performance.now()
      act()
    }, inMs)
  }, [act])
}
