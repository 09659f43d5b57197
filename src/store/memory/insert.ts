import { assert } from '../../core/assert.ts'
import type { Time } from '../../core/job.ts'
import type { Inserted, KeyPurpose, NewJob } from '../store.ts'
import { keyName, keyNameOf, type Shelf, type Shelves } from './shelves.ts'

/** A new job, or the one that was first with its id, its alias or one of its keys. */
export function insert(shelves: Shelves, item: NewJob, now: Time): Inserted {
  const first = somebodyFirst(shelves, item, now)
  if (first !== undefined) {
    return { status: 'exists', by: first.by, job: first.shelf.job, input: first.shelf.bodies.get('input') }
  }
  const { job, event, input, keys } = item
  assert(event.jobId === job.id && event.rev === job.rev, 'a job is inserted at its first event')
  const shelf = shelves.place(job, [event])
  if (input !== undefined) shelf.bodies.set('input', input)
  const { alias, kind } = job.spec
  if (alias !== undefined) shelves.hold(shelf, keyName(kind.tenant, 'alias', alias), undefined)
  for (const key of keys) shelves.hold(shelf, keyNameOf(job, key), key.until)
  return { status: 'inserted' }
}

function somebodyFirst(shelves: Shelves, { job, keys }: NewJob, now: Time): First | undefined {
  const same = shelves.jobs.get(job.id)
  if (same !== undefined) return { by: 'id', shelf: same }
  const wanted: { by: First['by']; name: string }[] = keys.map((key) => ({
    by: key.purpose,
    name: keyNameOf(job, key),
  }))
  const { alias, kind } = job.spec
  if (alias !== undefined) wanted.unshift({ by: 'alias', name: keyName(kind.tenant, 'alias', alias) })
  for (const { by, name } of wanted) {
    const shelf = shelves.jobs.get(shelves.holder(name, now) ?? '')
    if (shelf !== undefined) return { by, shelf }
  }
  return undefined
}

interface First {
  readonly by: 'id' | 'alias' | KeyPurpose
  readonly shelf: Shelf
}
