import { assert } from '../../core/assert.ts'
import type { Job, Time } from '../../core/job.ts'
import { mayHaveInputOf } from '../meeting.ts'
import type { Inserted, KeyPurpose, NewJob } from '../store.ts'
import { keyName, keyNameOf, type Shelf, type Shelves } from './shelves.ts'

/** A new job, or the one that was first with its id, its alias or one of its keys. */
export function insert(shelves: Shelves, item: NewJob, now: Time): Inserted {
  const first = somebodyFirst(shelves, item, now)
  if (first !== undefined) return met(item, first.by, first.shelf.job, first.shelf.bodies.get('input'))
  const { job, event, input, keys, flow } = item
  assert(event.jobId === job.id && event.rev === job.rev, 'a job is inserted at its first event')
  if (flow !== undefined) shelves.hall.declare(job.spec.kind.tenant, flow)
  const shelf = shelves.place(job, [event])
  if (input !== undefined) shelf.bodies.set('input', input)
  const { alias, kind } = job.spec
  if (alias !== undefined) shelves.hold(shelf, keyName(kind.tenant, 'alias', alias), undefined)
  for (const key of keys) shelves.hold(shelf, keyNameOf(job, key), key.until)
  return { status: 'inserted' }
}

/** For each item the job that holds its id or one of its keys, items before it included; undefined where all are free. */
export function meetings(shelves: Shelves, items: readonly NewJob[], now: Time): readonly Inserted[] | undefined {
  const earlier = new Map<string, NewJob>()
  const answers = items.map((item): Inserted => {
    const first = somebodyFirst(shelves, item, now)
    if (first !== undefined) return met(item, first.by, first.shelf.job, first.shelf.bodies.get('input'))
    const names: readonly Wanted[] = [{ by: 'id', name: item.job.id }, ...wantedBy(item)]
    const twin = names.find(({ name }) => earlier.has(name))
    const other = twin && earlier.get(twin.name)
    if (twin !== undefined && other !== undefined) return met(item, twin.by, other.job, other.input)
    for (const { name } of names) earlier.set(name, item)
    return { status: 'inserted' }
  })
  return answers.every(({ status }) => status === 'inserted') ? undefined : answers
}

const met = (item: NewJob, by: First['by'], job: Job, input: string | undefined): Inserted => ({
  status: 'exists',
  by,
  job,
  sameInput: mayHaveInputOf(job, item) && input === item.input,
})

function somebodyFirst(shelves: Shelves, item: NewJob, now: Time): First | undefined {
  const same = shelves.jobs.get(item.job.id)
  if (same !== undefined) return { by: 'id', shelf: same }
  for (const { by, name } of wantedBy(item)) {
    const shelf = shelves.jobs.get(shelves.holder(name, now) ?? '')
    if (shelf !== undefined) return { by, shelf }
  }
  return undefined
}

function wantedBy({ job, keys }: NewJob): readonly Wanted[] {
  const wanted: Wanted[] = keys.map((key) => ({ by: key.purpose, name: keyNameOf(job, key) }))
  const { alias, kind } = job.spec
  if (alias !== undefined) wanted.unshift({ by: 'alias', name: keyName(kind.tenant, 'alias', alias) })
  return wanted
}

interface First {
  readonly by: 'id' | 'alias' | KeyPurpose
  readonly shelf: Shelf
}

interface Wanted {
  readonly by: First['by']
  readonly name: string
}
