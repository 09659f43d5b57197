/**
 * JobResults and cancellations that come over the bus, as the words about jobs that they are. A result is the owner's by its fence: one
 * without, or with that of another attempt, is late, and kept with its note.
 */
import type { Unstamped } from '../core/command.ts'
import { commandOfResult } from '../core/dialects/job-result.ts'
import { missingFence } from '../core/fence.ts'
import type { Answer, Engine, Word } from '../engine/engine.ts'
import { sha256 } from '../system/digest.ts'
import { cancellation, type Read, type Result, read, result, toldOf } from './messages.ts'
import type { Outcome, Spoken } from './spoken.ts'

export interface ResultParts {
  readonly engine: Pick<Engine, 'settle' | 'load'>
  readonly tenant: string
}

type Said = Unstamped<Word['command']> & { readonly actor: string }

export async function resulted(parts: ResultParts, messages: readonly Spoken[]): Promise<readonly Outcome[]> {
  const said = messages.map(({ text }) => read(result, text))
  const fences = await fencesOf(parts, said)
  return await spoken(parts, messages, (_, i) => {
    const each = said[i] as Read<Result>
    if (!each.ok) return each
    const { job_id, worker_id, fence = fences.get(job_id) ?? missingFence(0, 0) } = each.value
    return { ok: true, value: [job_id, { ...commandOfResult({ ...each.value, fence }), actor: `worker:${worker_id}` }] }
  })
}

export const cancelledBy = (parts: ResultParts, messages: readonly Spoken[]): Promise<readonly Outcome[]> =>
  spoken(parts, messages, ({ text }) => {
    const said = read(cancellation, text)
    if (!said.ok) return said
    const { job_id, reason } = said.value
    return { ok: true, value: [job_id, { type: 'cancel', mode: 'hard', reason, actor: 'operator:bus' }] }
  })

/** For results without a fence: one that names the attempt their job is at, and nobody's lease. */
async function fencesOf({ engine, tenant }: ResultParts, said: readonly Read<Result>[]) {
  const ids = said.flatMap((each) => (each.ok && each.value.fence === undefined ? [each.value.job_id] : []))
  const found = ids.length === 0 ? [] : (await engine.load(ids.map((id) => ({ id, tenant })))).items
  return new Map(
    found.flatMap((item, i) =>
      item === undefined ? [] : [[ids[i] ?? '', missingFence(item.job.generation, item.job.attempt)] as const],
    ),
  )
}

async function spoken(
  { engine, tenant }: ResultParts,
  messages: readonly Spoken[],
  understood: (message: Spoken, i: number) => Read<readonly [id: string, said: Said]>,
): Promise<readonly Outcome[]> {
  const read = messages.map(understood)
  const words = read.flatMap((each, i): readonly Word[] => {
    if (!each.ok) return []
    const [id, { actor, ...said }] = each.value
    return [{ id, tenant, command: { ...said, actor, requestId: nameOf(messages[i]?.text ?? '') } as Word['command'] }]
  })
  const answers = words.length === 0 ? [] : await engine.settle(words)
  let at = 0
  return read.map((each) => (each.ok ? outcomeOf(answers[at++], each.value[0]) : each))
}

/** The same words are the same request, however often they come. */
const nameOf = (text: string): string => `bus/${sha256(text).slice(0, 32)}`

function outcomeOf(answer: Answer | undefined, jobId: string): Outcome {
  if (answer === undefined) throw new Error('every word is answered')
  return answer.ok ? { ok: true } : { ok: false, told: toldOf(answer.refusal, jobId) }
}
