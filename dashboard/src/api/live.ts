/**
 * What happens, as it happens: one stream for the whole browser. Of the pages that are seen and listen one holds it and tells the others;
 * when it is closed, or hidden, the next takes over where it had come to. A browser has six connections to a gateway, whichever window
 * they are of: one stream a window would leave the seventh with none to ask by.
 */
import { useEffect } from 'react'
import { reached, unreached } from './connection.ts'
import { BASE } from './http.ts'
import { LIVE_TYPES } from './live-types.ts'
import type { JobEvent } from './wire.ts'

type Listener = (event: JobEvent) => void

/** What the one with the stream tells the others. */
interface Told {
  readonly events: readonly JobEvent[]
  /** Up to where that is. */
  readonly position: string | undefined
  readonly isOpen: boolean
}

/** Events that are told together: what comes within a frame is shown at once. */
const TELL_EVERY_MS = 50
const AGAIN_AFTER_MS = 3_000

class Live {
  readonly #listeners = new Set<Listener>()
  #channel: BroadcastChannel | undefined
  #name = ''
  #source: EventSource | undefined
  /** Set while this page wants the stream: gives it up, or its place in the line for it. */
  #leave: (() => void) | undefined
  #position: string | undefined
  #untold: JobEvent[] = []
  #isOpen = true

  constructor() {
    document.addEventListener('visibilitychange', () => this.#settle())
  }

  /** Whose events they are: what one may see is no business of somebody else in the same browser. */
  belongTo(name: string): void {
    if (name === this.#name) return
    this.#leave?.()
    this.#leave = undefined
    this.#channel?.close()
    this.#position = undefined
    this.#name = `pawl live ${BASE} ${name}`
    this.#channel = new BroadcastChannel(this.#name)
    this.#channel.onmessage = ({ data }: MessageEvent<Told>) => this.#told(data)
    this.#settle()
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
    this.#open()
  }

  /** In the line for the stream exactly while somebody listens and somebody looks. */
  #settle(): void {
    const wanted = this.#name !== '' && this.#listeners.size > 0 && document.visibilityState === 'visible'
    if (wanted && this.#leave === undefined) this.#leave = inTurn(this.#name, () => this.#lead())
    if (wanted || this.#leave === undefined) return
    this.#leave()
    this.#leave = undefined
    // Nobody needs it: that it was cut is nobody's trouble.
    this.#isOpen = true
    reached('stream')
  }

  /** It is this page's turn; ends it. */
  #lead(): () => void {
    this.#open()
    return () => {
      this.#tell()
      this.#source?.close()
      this.#source = undefined
    }
  }

  #open(): void {
    const from = this.#position === undefined ? '' : `&last_event_id=${encodeURIComponent(this.#position)}`
    const source = new EventSource(`${BASE}/v1/events?type=${LIVE_TYPES.join(',')}${from}`)
    this.#source = source
    source.onopen = () => this.#is(true)
    source.onerror = () => {
      this.#is(false)
      // Refused, not cut: the browser does not come back by itself.
      if (source.readyState === EventSource.CLOSED)
        setTimeout(() => (this.#source === source ? this.#open() : undefined), AGAIN_AFTER_MS)
    }
    for (const type of LIVE_TYPES) source.addEventListener(type, (message) => this.#heard(message))
  }

  #heard(message: MessageEvent<string>): void {
    this.#position = message.lastEventId
    if (this.#untold.push(JSON.parse(message.data) as JobEvent) === 1) setTimeout(() => this.#tell(), TELL_EVERY_MS)
  }

  #is(isOpen: boolean): void {
    this.#tell()
    this.#isOpen = isOpen
    this.#mark(isOpen)
    this.#channel?.postMessage({ events: [], position: this.#position, isOpen } satisfies Told)
  }

  #mark(isOpen: boolean): void {
    if (isOpen) reached('stream')
    else unreached('stream')
  }

  /** To the others, and to those who listen here. */
  #tell(): void {
    if (this.#untold.length === 0) return
    const events = this.#untold.splice(0)
    this.#channel?.postMessage({ events, position: this.#position, isOpen: this.#isOpen } satisfies Told)
    this.#hear(events)
  }

  #told({ events, position, isOpen }: Told): void {
    this.#position = position
    if (document.visibilityState !== 'visible') return
    if (this.#listeners.size > 0) this.#mark(isOpen)
    this.#hear(events)
  }

  #hear(events: readonly JobEvent[]): void {
    for (const event of events) for (const listener of this.#listeners) listener(event)
  }
}

/**
 * Leads when no other page with this name does; what is returned gives it up. Where pages cannot line up, which takes an address with
 * https or of this machine, each leads for itself.
 */
function inTurn(name: string, lead: () => () => void): () => void {
  const left = Promise.withResolvers<void>()
  const over = new AbortController()
  const turn = async () => {
    if (over.signal.aborted) return
    const end = lead()
    await left.promise
    end()
  }
  // An older kind of address has no locks, whatever the types say.
  const locks: LockManager | undefined = navigator.locks
  if (locks === undefined) void turn()
  else locks.request(name, { signal: over.signal }, turn).catch(() => undefined)
  return () => {
    over.abort()
    left.resolve()
  }
}

export const live = new Live()

export function useLive(listener: Listener): void {
  useEffect(() => live.listen(listener), [listener])
}
