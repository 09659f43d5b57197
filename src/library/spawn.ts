/** Spawning is enqueueing: by the same producer, hence with the child's schema, its dedupe, its queue and its policy. */
import { PermanentError, TransientError } from '../core/thrown.ts'
import type { Engine } from '../engine/engine.ts'
import type { Spawn, SpawnWish } from '../worker/spawn.ts'
import { Invalid, Refused } from './errors.ts'
import type { Producer } from './producer.ts'

/** `traced`: whoever observes the engine knows the span that the handler runs in, and makes it the child's parent. */
export const spawning =
  (producer: Producer, engine: Pick<Engine, 'enqueue' | 'load'>, traced: boolean): Spawn =>
  async ({ parent, definition, input, options, key, actor }) => {
    const { kind, correlationId, workflowId, traceparent } = parent.spec
    const whose = typeof definition === 'string' ? undefined : definition.tenant
    const inherited = { tenant: whose ?? kind.tenant, correlationId, workflowId, ...(traced ? {} : { traceparent }) }
    const own = { parentId: parent.id, idempotencyKey: key, actor }
    try {
      return (await producer.enqueue(engine, definition, input, { ...inherited, ...options, ...own })).id
    } catch (error) {
      return refused(error, engine, definition)
    }
  }

/** What was refused now will be refused again, unless there is too much to do; what failed may succeed. */
async function refused(
  error: unknown,
  engine: Pick<Engine, 'load'>,
  definition: SpawnWish['definition'],
): Promise<string> {
  if (!(error instanceof Refused || error instanceof Invalid)) throw error
  const type = typeof definition === 'string' ? definition : definition.type
  if (error instanceof Refused) {
    const { code, holder, retryAfterMs } = error.refusal
    if (code === 'OVERLOADED') throw new TransientError(error.message, { code, retryAfterMs, cause: error })
    // An earlier run spawned it and was gone before it could remember; what it asked for then stands.
    if (code === 'KEY_REUSED' && holder !== undefined && (await typeOf(engine, holder)) === type) return holder
  }
  throw new PermanentError(`The child ${type} was not accepted: ${error.message}`, {
    code: 'E_CHILD_REFUSED',
    cause: error,
  })
}

async function typeOf(engine: Pick<Engine, 'load'>, id: string): Promise<string | undefined> {
  const [found] = (await engine.load([{ id }])).items
  return found?.job.spec.kind.type
}
