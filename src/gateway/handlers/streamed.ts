/** An answer that goes on for as long as its client takes it. */
import type { Call, Parts, Reply } from '../call.ts'
import { type Source, serverSentEvents } from '../waiting/sse.ts'

export const isStreamWanted = ({ headers }: Call): boolean =>
  (headers.get('accept') ?? '').includes('text/event-stream')

export async function streamed(call: Call, parts: Parts, open: () => Promise<Source>): Promise<Reply> {
  const { token, signal, stillWelcome, hangUp } = call
  const { clock, timers, streams } = parts
  const share = streams.share(token, 1)
  const ended = () => share[Symbol.dispose]()
  const source = await open().catch((error: unknown) => {
    ended()
    throw error
  })
  call.leave()
  return {
    status: 200,
    type: 'text/event-stream',
    body: serverSentEvents({ source, stillWelcome, signal, hangUp, ended, clock, timers }),
    headers: { 'X-Accel-Buffering': 'no', 'Cache-Control': 'no-cache' },
  }
}
