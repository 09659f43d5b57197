import { describe, expect, it, vi } from 'vitest'
import { timersOn } from '../../src/system/timers.ts'

const DAY_MS = 86_400_000
/** On what vitest has replaced; the real ones are on what nobody replaces. */
const faked = () => timersOn(globalThis)

describe('sleep', () => {
  it('ends after its time', async () => {
    vi.useFakeTimers()
    try {
      let over = false
      const slept = faked()
        .sleep(1000)
        .then(() => {
          over = true
        })
      await vi.advanceTimersByTimeAsync(999)
      expect(over).toBe(false)
      await vi.advanceTimersByTimeAsync(1)
      await slept
      expect(over).toBe(true)
    } finally {
      vi.useRealTimers()
    }
  })

  it('can be longer than the platform’s timers', async () => {
    vi.useFakeTimers()
    try {
      let over = false
      const slept = faked()
        .sleep(60 * DAY_MS)
        .then(() => {
          over = true
        })
      await vi.advanceTimersByTimeAsync(59 * DAY_MS)
      expect(over).toBe(false)
      await vi.advanceTimersByTimeAsync(DAY_MS)
      await slept
    } finally {
      vi.useRealTimers()
    }
  })

  it('ends at once when aborted, before or during, and leaves no listener and no timer', async () => {
    vi.useFakeTimers()
    try {
      const controller = new AbortController()
      const removed = vi.spyOn(controller.signal, 'removeEventListener')
      const slept = faked().sleep(DAY_MS, controller.signal)
      expect(vi.getTimerCount()).toBe(1)
      controller.abort()
      await slept
      expect(vi.getTimerCount()).toBe(0)
      expect(removed).toHaveBeenCalledTimes(1)
      await faked().sleep(DAY_MS, controller.signal)
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('after', () => {
  it('calls once, unless disposed of before', async () => {
    vi.useFakeTimers()
    try {
      const called = vi.fn()
      faked().after(10, called)
      faked().after(10, called)[Symbol.dispose]()
      await vi.advanceTimersByTimeAsync(100)
      expect(called).toHaveBeenCalledTimes(1)
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })
})
