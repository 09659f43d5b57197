/**
 * What happens, as it happens: one stream for the whole page, open while somebody listens and the page is seen. The browser
 * reconnects and says where it had come to; how the connection is doing is told to whoever shows it.
 */
import { useEffect } from 'react'
import { reached, unreached } from './connection.ts'
import { BASE } from './http.ts'
import { LIVE_TYPES } from './live-types.ts'
import type { JobEvent } from './wire.ts'

type Listener = (event: JobEvent) => void

class Live {
  readonly #listeners = new Set<Listener>()
  #source: EventSource | undefined
  #position: string | undefined

  constructor() {
    document.addEventListener('visibilitychange', () => this.#settle())
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    this.#settle()
    return () => {
      this.#listeners.delete(listener)
      this.#settle()
    }
  }

  /** At once, where it would wait for its turn to try. */
  again(): void {
    if (this.#source === undefined || this.#source.readyState === EventSource.OPEN) return
    this.#source.close()
    this.#source = undefined
    this.#settle()
  }

  /** Open exactly while somebody listens and somebody looks. */
  #settle(): void {
    const wanted = this.#listeners.size > 0 && document.visibilityState === 'visible'
    if (wanted && this.#source === undefined) this.#open()
    if (!wanted && this.#source !== undefined) {
      this.#source.close()
      this.#source = undefined
      // Nobody needs it: that it was cut is nobody's trouble.
      reached('stream')
    }
  }

  #open(): void {
    const from = this.#position === undefined ? '' : `&last_event_id=${encodeURIComponent(this.#position)}`
    const source = new EventSource(`${BASE}/v1/events?type=${LIVE_TYPES.join(',')}${from}`)
    this.#source = source
    source.onopen = () => reached('stream')
    source.onerror = () => {
      unreached('stream')
      if (source.readyState !== EventSource.CLOSED || this.#source !== source) return
      // Refused, not cut: the browser does not come back by itself.
      this.#source = undefined
      setTimeout(() => this.#settle(), 3_000)
    }
    for (const type of LIVE_TYPES) source.addEventListener(type, (message) => this.#heard(message))
  }

  #heard(message: MessageEvent<string>): void {
    this.#position = message.lastEventId
    const event = JSON.parse(message.data) as JobEvent
    for (const listener of this.#listeners) listener(event)
  }
}

export const live = new Live()

export function useLive(listener: Listener): void {
  useEffect(() => live.listen(listener), [listener])
}
