/** Jobs that have left the server come back from the ledger, because something is to be done with them. */
import { assert } from '../../../core/assert.ts'
import { commandsFor } from '../../ledger/image.ts'
import type { EvictedRead } from '../connection/backing.ts'
import type { Calls } from '../connection/calls.ts'
import { word } from '../connection/reply.ts'
import { lettersIn, portions } from '../script/portions.ts'

/** Answers with the digits of those that the ledger has; the others are gone for good. */
export async function restore(calls: Calls, digits: readonly string[]): Promise<ReadonlySet<string>> {
  assert(calls.evicted !== undefined, 'jobs leave for a ledger')
  const there = new Set<string>()
  for (const some of portions([...new Set(digits)], () => 0)) {
    for (let isDone = false; !isDone; ) {
      const read = await calls.evicted.read(some, 0)
      for (const id of read.jobs.keys()) there.add(id)
      isDone = await isRestored(calls, read)
    }
  }
  return there
}

/** Refused where a job has left since they were read: it may have been one of these, back and changed meanwhile. */
async function isRestored(calls: Calls, { entry, jobs }: EvictedRead): Promise<boolean> {
  const items = [...jobs].map(([id, pieces]) => [id, JSON.stringify(commandsFor(pieces))])
  for (const some of portions(items, lettersIn)) {
    const [, said] = await calls.call('restore', [String(entry), ...some.flat()])
    if (word(said) !== 'yes') return false
  }
  return true
}
