/** Duplicates that bring something newer: said to the job that holds their key. */
import { assert } from '../core/assert.ts'
import { bodyRef } from '../core/body.ts'
import type { Job, JobId } from '../core/job.ts'
import { type Effect, effectOn } from '../core/newer.ts'
import type { RefusalCode } from '../core/refusal.ts'
import { refuse } from '../core/refuse.ts'
import type { Transaction } from '../store/store.ts'
import type { Random } from '../system/random.ts'
import type { Answer, EnqueueAnswer, EnqueueRequest, Word } from './engine.ts'
import type { ExecutorParts } from './execute.ts'

export interface DuplicatesParts extends Pick<ExecutorParts, 'store' | 'clock'> {
  readonly random: Random
  settle(words: readonly Word[]): Promise<readonly Answer[]>
  /** Where the holder has ended and let go of the key. */
  enqueue(requests: readonly EnqueueRequest[], tx: Transaction | undefined): Promise<readonly EnqueueAnswer[]>
}

/** A holder may be claimed, or end, between two looks at it; more often than this in a row only where somebody sees to it. */
const TRIES = 10
const RETRY_AFTER_MS = 100

type Brought = Exclude<Effect, 'ended'>
type Stamped = EnqueueRequest & { readonly requestId: string }

/** A slot of a schedule is a key as well, and what comes second to it is nothing newer. */
export const bringsNewer = ({ kind, dedupeKey, older }: EnqueueRequest, answer: EnqueueAnswer): boolean =>
  kind.policy.onDuplicate !== undefined && answer.ok && answer.deduped && dedupeKey !== undefined && older !== true

/** Says them one after the other: two duplicates of one job in one call come in their order. */
export async function bringNewer(
  parts: DuplicatesParts,
  requests: readonly EnqueueRequest[],
  answers: readonly EnqueueAnswer[],
  tx: Transaction | undefined,
): Promise<readonly EnqueueAnswer[]> {
  const brought: EnqueueAnswer[] = []
  for (const [i, answer] of answers.entries()) {
    const request = requests[i] as EnqueueRequest
    brought.push(bringsNewer(request, answer) ? await bring(parts, request, answer, tx) : answer)
  }
  return brought
}

async function bring(
  parts: DuplicatesParts,
  request: EnqueueRequest,
  met: EnqueueAnswer,
  tx: Transaction | undefined,
): Promise<EnqueueAnswer> {
  const stamped = { ...request, requestId: request.requestId ?? parts.random.hex64() }
  let answer = met
  for (let n = 0; n < TRIES; n += 1) {
    if (!answer.ok || !bringsNewer(request, answer)) return answer
    const { job } = answer
    const effect = effectOn(job, request)
    if (effect === 'ended') return { ...answer, effect }
    const said = effect === 'gone' ? undefined : await say(parts, stamped, job, effect, tx)
    if (said !== undefined) return said
    answer = (await parts.enqueue([request], tx))[0] as EnqueueAnswer
  }
  const message = `The job that holds the key ${request.dedupeKey} has moved ${TRIES} times while it was spoken to. Nothing was changed.`
  return { ok: false, refusal: refuse('OVERLOADED', { command: 'enqueue', message, retryAfterMs: RETRY_AFTER_MS }) }
}

/** Undefined: the holder is not where it was when it was looked at. Who holds the key is asked anew. */
async function say(
  parts: DuplicatesParts,
  request: Stamped,
  job: Job,
  effect: Brought,
  tx: Transaction | undefined,
): Promise<EnqueueAnswer | undefined> {
  const [said] = await parts.settle([wordOf(parts, request, job.id, effect, tx)])
  assert(said !== undefined, 'every word is answered')
  if (!said.ok) return HAS_MOVED.includes(said.refusal.code) ? undefined : { ok: false, refusal: said.refusal }
  const { items } = await parts.store.load([{ id: job.id }])
  return { ok: true, job: items[0]?.job ?? job, deduped: true, replayed: said.replayed, effect }
}

const HAS_MOVED: readonly RefusalCode[] = ['REV_CONFLICT', 'ENDED']

function wordOf(
  { clock }: DuplicatesParts,
  { requestId, kind, input, actor, runAt, delayMs, flow }: Stamped,
  id: JobId,
  place: Brought,
  tx: Transaction | undefined,
): Word {
  const { onDuplicate } = kind.policy
  const debounce = onDuplicate?.does === 'debounce' ? onDuplicate : undefined
  return {
    id,
    tenant: kind.tenant,
    tx,
    command: {
      type: 'replace',
      actor,
      requestId,
      input: input === undefined ? undefined : bodyRef(place, input),
      flow,
      runAt: delayMs === undefined ? runAt : clock.now() + delayMs,
      debounce: debounce && { withinMs: debounce.withinMs, atMostMs: debounce.atMostMs },
    },
    bodies: input === undefined ? [] : [{ name: place, text: input }],
  }
}
