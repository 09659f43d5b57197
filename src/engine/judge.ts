/**
 * A new job met one that has its id, its alias or one of its keys. An id stands for a job, however and for whenever it was
 * asked for; a key stands for one call, and with other words it is another call.
 */
import { assert } from '../core/assert.ts'
import type { Enqueue } from '../core/command.ts'
import { type Birth, birthOf, sameCall } from '../core/decide/enqueue.ts'
import { decide } from '../core/decide.ts'
import type { Job, JobId } from '../core/job.ts'
import type { Refusal } from '../core/refusal.ts'
import { refuse } from '../core/refuse.ts'
import type { Inserted, NewJob, Store } from '../store/store.ts'
import type { EnqueueAnswer, EnqueueRequest } from './engine.ts'
import type { ExecutorParts } from './execute.ts'
import { invalid } from './new-jobs.ts'

const RETRY_AFTER_MS = 1_000

type Met = Exclude<Inserted, { status: 'inserted' }>

/** A new job that has met another, and how it was asked for. */
export interface Newcomer {
  readonly item: NewJob
  readonly command: Enqueue
  readonly request: EnqueueRequest
}

/** Is it the same job? Undefined: its number was given twice. */
export async function judge(
  inserted: Met,
  { item, command, request }: Newcomer,
  parts: ExecutorParts,
): Promise<EnqueueAnswer | undefined> {
  if (inserted.status === 'rejected') return invalid([{ field: inserted.field, rule: inserted.rule }])
  if (inserted.status === 'busy') return { ok: false, refusal: heldBy(command, request) }
  const { job, by } = inserted
  if (isAnother(inserted, item.job)) return undefined
  if (by === 'dedupe' || by === 'slot') return { ok: true, job, deduped: true, replayed: false }
  const byKey = by === 'idempotency' || (await holdsKey(job, request, parts))
  // Where its text is gone, how long it was is all that can be compared.
  const sameInput = inserted.sameInput || job.strippedAt !== undefined
  const same = sameInput && (byKey ? await isSameCall(job, command, request, parts) : isSame(job, command))
  if (same) return { ok: true, job, deduped: false, replayed: true }
  if (by === 'id') return undefined
  return { ok: false, refusal: takenBy(job, byKey, request) }
}

/**
 * Another job has a number that was reserved for this one: a store has lost what it had acknowledged (a standby that knew
 * less took over, a backup was restored under running processes), and gave the number twice.
 */
const isAnother = ({ by, job }: Extract<Met, { status: 'exists' }>, { spec }: Job): boolean =>
  by === 'id' && job.spec.createdAt !== spec.createdAt

/** A job may have both the id and the key; the id is looked up first, and the key promises more. */
async function holdsKey(job: Job, { idempotencyKey }: EnqueueRequest, { store }: ExecutorParts): Promise<boolean> {
  if (idempotencyKey === undefined) return false
  const { tenant } = job.spec.kind
  const [holder] = (await store.load([{ id: idempotencyKey, key: 'idempotency', tenant }])).items
  return holder?.job.id === job.id
}

const isSame = (job: Job, command: Enqueue): boolean =>
  decide(job, { ...command, id: job.id }, job.updatedAt).kind === 'replayed'

async function isSameCall(
  job: Job,
  command: Enqueue,
  { runAt, delayMs }: EnqueueRequest,
  { store }: ExecutorParts,
): Promise<boolean> {
  const birth = birthOf(job) ?? (await firstOf(store, job.id))
  // Removed since: nobody can tell any more, and nothing is lost by saying yes.
  if (birth === undefined) return true
  const then = delayMs === undefined ? runAt : birth.spec.createdAt + delayMs
  return sameCall(job.id, birth, { ...command, runAt: then })
}

async function firstOf(store: Pick<Store, 'events'>, id: JobId): Promise<Birth | undefined> {
  const [first] = (await store.events({ by: 'job', id, afterRev: 0, limit: 1 })).events
  if (first === undefined) return undefined
  assert(first.type === 'enqueued', `the log of job ${id} begins with its birth`)
  return first.payload
}

function heldBy({ dedupeKey, requestId }: Enqueue, { id, idempotencyKey }: EnqueueRequest): Refusal {
  const key = dedupeKey ?? id ?? idempotencyKey ?? requestId
  const message = `The key ${key} is held by a transaction that has not ended.`
  return refuse('KEY_BUSY', { command: 'enqueue', message, retryAfterMs: RETRY_AFTER_MS })
}

function takenBy(job: Job, byKey: boolean, { id, idempotencyKey, requestId }: EnqueueRequest): Refusal {
  const about = { command: 'enqueue', job, holder: job.id } as const
  const taken = (name: string) => `${name} belongs to job ${job.id}, which was enqueued with other words.`
  if (!byKey) return refuse('ID_TAKEN', { ...about, message: taken(`The id ${id}`) })
  if (idempotencyKey === undefined)
    return refuse('REQUEST_ID_REUSED', { ...about, message: taken(`The request id ${requestId}`) })
  return refuse('KEY_REUSED', { ...about, message: taken(`The idempotency key ${idempotencyKey}`) })
}
