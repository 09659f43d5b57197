/** Hints over HTTP, for as long as somebody listens. Those that are lost while nobody is heard cost a poll, nothing else. */
import type { HintFrame } from '../gateway/contract/hints.ts'
import type { Hint } from '../store/store.ts'
import type { Timers } from '../system/timers.ts'
import type { Http } from './http.ts'

const AGAIN_MS = 1_000
const HINTS = { method: 'GET', path: '/v1/hints', accept: 'text/event-stream' }
/** A gateway that has nothing to tell says so every three seconds. */
const SILENT_MS = 10_000

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
  while (!signal.aborted) {
    try {
      using answer = await http.try(HINTS, signal, SILENT_MS)
      if (answer.status !== 200) throw new Error(`it answered ${answer.status}`)
      wake({ about: 'anything' })
      for await (const frame of frames(answer.body)) for (const hint of hintsIn(frame)) wake(hint)
    } catch {
      // Unreachable, cut off, silent, or asked to stop: the loop looks which.
    }
    await timers.sleep(AGAIN_MS, signal)
  }
}

const DATA = 'data: '

/** Comments, and how long to wait, are not among them. */
async function* frames(body: AsyncIterable<Uint8Array>): AsyncGenerator<HintFrame> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    const parts = (text + decoder.decode(chunk, { stream: true })).split('\n\n')
    text = parts.pop() ?? ''
    for (const part of parts) if (part.startsWith(DATA)) yield JSON.parse(part.slice(DATA.length)) as HintFrame
  }
}

export function* hintsIn({ tenant, work, jobs, anything }: HintFrame): Generator<Hint> {
  if (anything) yield { about: 'anything' }
  for (const queue of work) yield { about: 'queue', tenant, queue }
  for (const [queue, ids] of Object.entries(jobs)) for (const id of ids) yield { about: 'job', id, tenant, queue }
}
