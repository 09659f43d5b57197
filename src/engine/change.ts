/** A segment as the change that the store is asked for. */
import { assert } from '../core/assert.ts'
import type { Spend } from '../core/command.ts'
import { decide } from '../core/decide.ts'
import type { Event } from '../core/event.ts'
import { idText } from '../core/id.ts'
import { keyChange, keyOf } from '../core/keys.ts'
import { sourceOf } from '../core/newer.ts'
import { isStripping } from '../core/stripped.ts'
import type { Change, Key, KeyMove, NewJob } from '../store/store.ts'
import type { ExecutorParts } from './execute.ts'
import { birthsIn, birthsOf } from './flow-keys.ts'
import type { Segment } from './segment.ts'

export function changeOf(segment: Segment, spawn: NewJob | undefined, flow?: KeyMove | undefined): Change {
  const { before, after, events, bodies, notAfter } = segment
  const { take } = keyChange(before, after)
  const give = given(segment)
  const strips = isStripping(before, after) ? true : undefined
  const change = { kind: 'move', before, after, events, bodies, strips, notAfter, give, take, spawn } as const
  if (after.spec.flow === undefined) return change
  return { ...change, flow, spent: spentIn(events), births: birthsIn(events) }
}

function spentIn(events: readonly Event[]): readonly Spend[] | undefined {
  const spent = events.map((event) => (event.type === 'recorded' ? event.payload.spend : undefined))
  const all = spent.filter((each) => each !== undefined)
  return all.length === 0 ? undefined : all
}

/** What comes next has the key at once, however long it would have been held. */
function given({ before, after, successor }: Segment): readonly Key[] {
  const key = successor !== undefined && sourceOf(successor) === 'next' ? keyOf(before) : undefined
  return key === undefined ? keyChange(before, after).give : [key]
}

/**
 * A retry that is a new job has the input of the old one, what comes next what duplicates have brought; both have the key that
 * the old one gives up in the same commit.
 */
export async function successorOf(parts: ExecutorParts, segment: Segment): Promise<NewJob> {
  const { before, successor } = segment
  assert(successor !== undefined, 'there is a successor')
  const { store, ids, clock } = parts
  const id = idText(await ids.take(before.spec.kind.tenant, 1))
  const source = sourceOf(successor)
  const askedMs = clock.asked()
  const { items, now } = await store.load([{ id: before.id, bodies: successor.input === undefined ? [] : [source] }])
  clock.heard(now, askedMs)
  const decision = decide(undefined, { ...successor, id }, now)
  assert(decision.kind === 'accepted', 'a successor is enqueued as its predecessor was')
  const [event] = decision.events
  assert(event !== undefined, 'an enqueue is an event')
  // Brought in the same breath as the end, it is in no store yet.
  const said = segment.bodies.find(({ name }) => name === source)?.text
  const key = source === 'next' ? keyOf(decision.job) : undefined
  return {
    job: decision.job,
    event,
    input: successor.input && (said ?? items[0]?.bodies[source]),
    keys: key === undefined ? given(segment) : [key],
    flow: birthsOf(decision.job),
  }
}
