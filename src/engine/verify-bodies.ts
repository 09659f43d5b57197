/** Whether the texts beside records are those that their logs tell of: as long, and with the same digest. */

import { stepBody } from '../core/body.ts'
import type { Event } from '../core/event.ts'
import { digest } from '../core/hash.ts'
import type { BodyRef, Job } from '../core/job.ts'
import type { Discrepancy } from './discrepancy.ts'
import type { Engine } from './engine.ts'

/** Read at a time, about. */
const BYTES = 4 << 20
const NAMES = 1_000

interface Wanted {
  readonly record: Job
  readonly refs: readonly BodyRef[]
}

export async function alteredBodies(
  engine: Pick<Engine, 'load'>,
  seen: readonly { readonly record: Job; readonly log: readonly Event[] }[],
): Promise<readonly Discrepancy[]> {
  const found: Discrepancy[] = []
  let some: Wanted[] = []
  let bytes = 0
  let names = 0
  const look = async () => {
    if (some.length > 0) found.push(...(await altered(engine, some)))
    some = []
    bytes = 0
    names = 0
  }
  for (const { record, log } of seen) {
    const refs = bodiesIn(log)
    if (refs.length === 0) continue
    some.push({ record, refs })
    bytes += refs.reduce((sum, { size }) => sum + size, 0)
    names += refs.length
    if (bytes > BYTES || names > NAMES) await look()
  }
  await look()
  return found
}

async function altered(engine: Pick<Engine, 'load'>, some: readonly Wanted[]): Promise<readonly Discrepancy[]> {
  const asked = some.map(({ record, refs }) => ({ id: record.id, bodies: refs.map(({ name }) => name) }))
  const { items } = await engine.load(asked)
  return some.flatMap(({ record, refs }, i): readonly Discrepancy[] => {
    const there = items[i]
    // A job that has moved since, or is gone, is compared by the next verification.
    if (there?.job.rev !== record.rev) return []
    return refs.flatMap((ref): readonly Discrepancy[] => {
      const text = there.bodies[ref.name]
      const wrong = record.strippedAt === undefined ? wrongWith(text, ref) : left(text, ref)
      return wrong === undefined ? [] : [{ job: record.id, about: 'body', invariant: undefined, what: wrong }]
    })
  })
}

function wrongWith(text: string | undefined, { name, size, digest: written }: BodyRef): string | undefined {
  if (text === undefined) return `${name} is not there`
  if (text.length !== size) return `${name} is ${text.length} long, and was written as ${size}`
  return written === undefined || digest(text) === written ? undefined : `${name} is not what was written`
}

/** Of a job that was stripped, nothing should be there. */
const left = (text: string | undefined, { name }: BodyRef): string | undefined =>
  text === undefined ? undefined : `${name} is there, and was removed`

/** The last that the log says of each body. The input is the store's own to check. */
function bodiesIn(log: readonly Event[]): readonly BodyRef[] {
  const last = new Map<string, BodyRef>()
  const add = (ref: BodyRef | undefined) => {
    // An end without a result names its output and has none.
    if (ref !== undefined && (ref.size > 0 || ref.digest !== undefined)) last.set(ref.name, ref)
  }
  for (const event of log) {
    switch (event.type) {
      case 'checkpointed':
        add(event.payload.body)
        break
      case 'recorded':
        add(event.payload.step?.body)
        // The memo of an undone step is rewritten by core, whose event names no text.
        if (event.payload.undone !== undefined) last.delete(stepBody(event.payload.undone))
        break
      case 'signalled':
      case 'signal_stored':
        add(event.payload.signal.body)
        break
      case 'compacted':
        add(event.payload.checkpoint)
        break
      case 'succeeded':
        add(event.payload.result.body)
        break
      case 'retry_scheduled':
      case 'failed':
      case 'timed_out':
      case 'dead_lettered':
        add(event.payload.failure.body)
        break
      default:
    }
  }
  return [...last.values()]
}
