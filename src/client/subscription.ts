/** Hints over HTTP: the event stream, resumed for as long as somebody listens. Lost hints cost a poll, nothing else. */
import type { Hint } from '../store/store.ts'
import type { Timers } from '../system/timers.ts'
import type { Http } from './http.ts'

const AGAIN_MS = 1_000

export function subscribeTo(http: Http, timers: Timers, wake: (hint: Hint) => void): AsyncDisposable {
  const stop = new AbortController()
  const ended = listen(http, timers, wake, stop.signal)
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await ended
    },
  }
}

async function listen(http: Http, timers: Timers, wake: (hint: Hint) => void, signal: AbortSignal): Promise<void> {
  let position: string | undefined
  while (!signal.aborted) {
    try {
      const resume: Record<string, string> = position === undefined ? {} : { 'last-event-id': position }
      const headers = { ...http.headers(), accept: 'text/event-stream', ...resume }
      const response = await http.fetch(http.url('/v1/events'), { headers, signal })
      if (response.status !== 200 || response.body === null) throw new Error(`it answered ${response.status}`)
      wake({ about: 'anything' })
      for await (const frame of frames(response.body)) {
        position = frame.id ?? position
        if (frame.data !== undefined) for (const hint of hintsOf(frame.data)) wake(hint)
      }
    } catch {
      // Unreachable, cut off, or asked to stop: the loop looks which.
    }
    await timers.sleep(AGAIN_MS, signal)
  }
}

function hintsOf(data: string): readonly Hint[] {
  const { jobId, queue, payload } = JSON.parse(data) as {
    readonly jobId: string
    readonly queue: string
    readonly payload?: { readonly spec?: { readonly tenant?: string } }
  }
  return [
    { about: 'queue', tenant: payload?.spec?.tenant ?? '', queue },
    { about: 'job', id: jobId },
  ]
}

interface Frame {
  readonly id: string | undefined
  readonly data: string | undefined
}

async function* frames(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    let end = text.indexOf('\n\n')
    while (end >= 0) {
      yield frameOf(text.slice(0, end))
      text = text.slice(end + 2)
      end = text.indexOf('\n\n')
    }
  }
}

function frameOf(text: string): Frame {
  const field = (name: string) =>
    text
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2)
  return { id: field('id'), data: field('data') }
}
