/** A segment as the change that the store is asked for. */
import { assert } from '../core/assert.ts'
import type { Spend } from '../core/command.ts'
import { decide } from '../core/decide.ts'
import type { Event } from '../core/event.ts'
import { idText } from '../core/id.ts'
import { keyChange } from '../core/keys.ts'
import type { Change, KeyMove, NewJob } from '../store/store.ts'
import type { ExecutorParts } from './execute.ts'
import { birthsOf } from './flow-keys.ts'
import type { Segment } from './segment.ts'

export function changeOf(segment: Segment, spawn: NewJob | undefined, flow?: KeyMove | undefined): Change {
  const { before, after, events, bodies, notAfter } = segment
  const { give, take } = keyChange(before, after)
  const change = { kind: 'move', before, after, events, bodies, notAfter, give, take, spawn } as const
  return after.spec.flow === undefined ? change : { ...change, flow, spent: spentIn(events) }
}

function spentIn(events: readonly Event[]): readonly Spend[] | undefined {
  const spent = events.map((event) => (event.type === 'recorded' ? event.payload.spend : undefined))
  const all = spent.filter((each) => each !== undefined)
  return all.length === 0 ? undefined : all
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
  return {
    job: decision.job,
    event,
    input: items[0]?.bodies['input'],
    keys: keyChange(before, after).give,
    flow: birthsOf(decision.job),
  }
}
