/** A segment as the change that the store is asked for. */
import { assert } from '../core/assert.ts'
import { decide } from '../core/decide.ts'
import { idText } from '../core/id.ts'
import { keyChange } from '../core/keys.ts'
import type { Change, NewJob } from '../store/store.ts'
import type { ExecutorParts } from './execute.ts'
import type { Segment } from './segment.ts'

export function changeOf(segment: Segment, spawn: NewJob | undefined): Change {
  const { before, after, events, bodies, notAfter } = segment
  const { give, take } = keyChange(before, after)
  return { kind: 'move', before, after, events, bodies, notAfter, give, take, spawn }
}

/** A retry that is a new job has the input of the old one, and the key that the old one gives up in the same commit. */
export async function successorOf(parts: ExecutorParts, { before, after, successor }: Segment): Promise<NewJob> {
  assert(successor !== undefined, 'there is a successor')
  const { store, ids, clock } = parts
  const id = idText(await ids.take(before.spec.kind.tenant, 1))
  const wanted = successor.input === undefined ? [] : [successor.input.name]
  const askedMs = clock.asked()
  const { items, now } = await store.load([{ id: before.id, bodies: wanted }])
  clock.heard(now, askedMs)
  const decision = decide(undefined, { ...successor, id }, now)
  assert(decision.kind === 'accepted', 'a successor is enqueued as its predecessor was')
  const [event] = decision.events
  assert(event !== undefined, 'an enqueue is an event')
  return { job: decision.job, event, input: items[0]?.bodies['input'], keys: keyChange(before, after).give }
}
