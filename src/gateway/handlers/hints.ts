/** `GET /hints`: that there may be work, or news of a job, as it happens. */
import type { Handler } from '../call.ts'
import { Objected, objection } from '../problem.ts'
import { isStreamWanted, streamed } from './streamed.ts'

export const streamHints: Handler = async (call, parts) => {
  // A client that does not ask for a stream would wait for the end of the answer for ever.
  if (!isStreamWanted(call))
    throw new Objected(
      objection('MALFORMED', 'Hints come as a stream.', [
        { field: 'header.accept', rule: 'must be text/event-stream' },
      ]),
    )
  const { tenant, queues } = call.token
  return await streamed(call, parts, async () => parts.hearing.listen({ tenant, queues }))
}
