import { assert, unreachable } from '../../core/assert.ts'
import type { Event } from '../../core/event.ts'
import type { Job, Time } from '../../core/job.ts'
import type { Change, Key, KeyMove, MoveChange, Verdict } from '../store.ts'
import { insert } from './insert.ts'
import { keep } from './keep.ts'
import { keyName, keyNameOf, type Shelf, type Shelves } from './shelves.ts'

/** One change, whole or not at all: everything that could forbid it is looked at before anything is touched. */
export function commit(shelves: Shelves, change: Change, now: Time): Verdict {
  switch (change.kind) {
    case 'move':
      return move(shelves, change, now)
    case 'compact':
      return unlessMoved(shelves, change.before, (shelf) => compact(shelf, change.event, change.replaces))
    case 'annotate':
      return annotate(shelves, change)
    case 'purge':
      return unlessMoved(shelves, change.before, (shelf) => shelves.clear(shelf))
    case 'key':
      return moveKey(shelves, change.tenant, change.move)
    case 'mend':
      shelves.hall.mend(change)
      return APPLIED
    default:
      return unreachable(change)
  }
}

function move(shelves: Shelves, change: MoveChange, now: Time): Verdict {
  const { before, after, events, bodies, notAfter, give, take, spawn } = change
  const shelf = shelves.jobs.get(before.id)
  if (shelf === undefined || shelf.job.rev !== before.rev) return CONFLICT
  if (notAfter !== undefined && now >= notAfter) return { status: 'late' }
  const obstacle = takenKey(shelves, change, now)
  if (obstacle !== undefined) return obstacle
  if (spawn !== undefined && shelves.jobs.has(spawn.job.id)) return CONFLICT
  if (change.flow !== undefined && !shelves.hall.mayMove(before.spec.kind.tenant, change.flow)) return CONFLICT
  assert(after.id === before.id && events.at(-1)?.rev === after.rev, 'a change ends at the revision of its last event')

  if (change.births !== undefined) shelves.hall.declare(after.spec.kind.tenant, change.births)
  shelves.place(after, events)
  for (const { name, text } of bodies) shelf.bodies.set(name, text)
  if (change.strips === true) shelf.bodies.clear()
  for (const key of give) shelves.giveUp(shelf, keyNameOf(after, key))
  for (const key of take) shelves.hold(shelf, keyNameOf(after, key), key.until)
  if (spawn !== undefined) {
    const born = insert(shelves, spawn, now)
    assert(born.status === 'inserted', 'a successor was looked at before it was born')
  }
  for (const spend of change.spent ?? []) shelves.hall.spend(after, spend)
  if (change.flow !== undefined) shelves.hall.move(after.spec.kind.tenant, change.flow)
  return APPLIED
}

function moveKey({ hall }: Shelves, tenant: string, move: KeyMove): Verdict {
  if (!hall.mayMove(tenant, move)) return CONFLICT
  hall.move(tenant, move)
  return APPLIED
}

/** The first key wanted, by the job or by its successor, that another job holds and that is not given up here. */
function takenKey(shelves: Shelves, { before, give, take, spawn }: MoveChange, now: Time): Verdict | undefined {
  const released = new Set(give.map((key) => keyNameOf(before, key)))
  const held = (job: Job, key: Key, name = keyNameOf(job, key)): Verdict | undefined => {
    const holder = shelves.holder(name, now)
    const free = holder === undefined || holder === job.id || (holder === before.id && released.has(name))
    return free ? undefined : { status: 'taken', key, holder }
  }
  for (const key of take) {
    const obstacle = held(before, key)
    if (obstacle !== undefined) return obstacle
  }
  if (spawn === undefined) return undefined
  for (const key of spawn.keys) {
    const obstacle = held(spawn.job, key)
    if (obstacle !== undefined) return obstacle
  }
  const { alias, kind } = spawn.job.spec
  const taken = alias === undefined ? undefined : shelves.holder(keyName(kind.tenant, 'alias', alias), now)
  return taken === undefined ? undefined : CONFLICT
}

function unlessMoved(shelves: Shelves, before: Job, apply: (shelf: Shelf) => void): Verdict {
  const shelf = shelves.jobs.get(before.id)
  if (shelf === undefined || shelf.job.rev !== before.rev) return CONFLICT
  apply(shelf)
  return APPLIED
}

/** The record stays as it is: the one event stands for what the others added up to. */
function compact(shelf: Shelf, event: Event, replaces: readonly number[]): void {
  const gone = new Set(replaces)
  const rest = shelf.events.filter((each) => !gone.has(each.rev))
  shelf.events = [...rest, keep(event)].sort((a, b) => a.rev - b.rev)
  shelf.requests = undefined
}

/** A word that came too late is written down once, however often it is repeated. */
function annotate(shelves: Shelves, { annotation }: Extract<Change, { kind: 'annotate' }>): Verdict {
  const shelf = shelves.jobs.get(annotation.jobId)
  if (shelf === undefined) return CONFLICT
  const { generation, attempt, command } = annotation
  const known = shelf.annotations.some(
    (each) => each.generation === generation && each.attempt === attempt && each.command === command,
  )
  if (!known) shelf.annotations.push(keep(annotation))
  return APPLIED
}

const APPLIED: Verdict = { status: 'applied' }
const CONFLICT: Verdict = { status: 'conflict' }
