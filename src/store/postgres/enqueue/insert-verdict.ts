import { assert } from '../../../core/assert.ts'
import { askedOf } from '../../../core/recast.ts'
import { mayHaveInputOf } from '../../meeting.ts'
import type { Inserted, KeyPurpose, NewJob } from '../../store.ts'
import type { Row } from '../connection/client.ts'
import { codeOf, LOCK_NOT_AVAILABLE } from '../connection/trouble.ts'

/** Per item of an enqueue: nothing (inserted), or `by:holder`, or why the database cannot keep it. `own`: by id, after a lost try. */
export type InsertVerdict = string | undefined

export interface InsertVerdicts {
  readonly now: number
  readonly verdicts: readonly InsertVerdict[]
}

/**
 * What `enqueue` answers. An id that exists although this very call is the only one to use it was, most likely, inserted by
 * the try that got no answer.
 */
export function verdictsIn([row]: Row[], again: boolean): InsertVerdicts {
  assert(row !== undefined, 'an enqueue is answered')
  const parsed = JSON.parse(String(row[1])) as (string | null)[]
  const verdicts = parsed.map((verdict) =>
    verdict === null ? undefined : again && verdict.startsWith('id:') ? verdict.replace('id', OWN) : verdict,
  )
  return { now: Number(row[0]), verdicts }
}

const OWN = 'own'
export const isOwn = (verdict: InsertVerdict): boolean => verdict?.startsWith(`${OWN}:`) === true

export const BUSY: InsertVerdict = 'busy:'
export const isBusy = (verdict: InsertVerdict): boolean => verdict === BUSY
/** Somebody's lock is nothing that is wrong with a job: whether it is the first is known when that is gone. Any other error is thrown on. */
export function whileLocked(error: unknown): InsertVerdict {
  if (codeOf(error) === LOCK_NOT_AVAILABLE) return BUSY
  throw error
}

export const rejected = (error: unknown): InsertVerdict => `rejected:${error instanceof Error ? error.message : ''}`

export const meetingsIn = (items: readonly NewJob[], verdicts: readonly InsertVerdict[]): readonly Met[] =>
  verdicts.flatMap((verdict, i) =>
    verdict === undefined ? [] : [{ verdict, item: items[i] as NewJob, holder: holderOf(verdict) }],
  )

const holderOf = (verdict: string): number => {
  const number = Number(verdict.slice(verdict.indexOf(':') + 1))
  return Number.isSafeInteger(number) ? number : 0
}

/** An item that was not inserted, and the number of the job that holds its id or key. */
export interface Meeting {
  readonly item: NewJob
  readonly holder: number
}

type Met = Meeting & { readonly verdict: string }

/** The job that holds the id or key, as it is now; with its input where that may equal the newcomer's. */
export type There = Pick<NewJob, 'job' | 'input'>

/** Undefined where the holder is not among those found: it was purged meanwhile. */
export function insertedBy(
  item: NewJob,
  verdict: InsertVerdict,
  found: ReadonlyMap<number, There>,
): Inserted | undefined {
  if (verdict === undefined) return INSERTED
  const [by = ''] = verdict.split(':', 1)
  if (by === 'rejected') return { status: 'rejected', field: 'job', rule: verdict.slice('rejected:'.length) }
  if (by === 'busy') return { status: 'busy' }
  const there = found.get(holderOf(verdict))
  if (by === OWN && (there === undefined || isSame(item, there))) return INSERTED
  if (there === undefined) return undefined
  const { job } = there
  return {
    status: 'exists',
    by: by === OWN ? 'id' : (by as KeyPurpose | 'id' | 'alias'),
    job,
    sameInput: hasInputOf(there, item),
  }
}

export const INSERTED: Inserted = { status: 'inserted' }

/** Numbers may be given twice by a database that has lost what it had acknowledged. */
const isSame = (item: NewJob, there: There): boolean =>
  item.job.spec.createdAt === there.job.spec.createdAt &&
  item.job.spec.kind.type === askedOf(there.job).kind.type &&
  hasInputOf(there, item)

const hasInputOf = ({ job, input }: There, item: NewJob): boolean => mayHaveInputOf(job, item) && input === item.input
