/**
 * A safety kernel: somebody else's service, asked over HTTP about every job that the rules would let in. It can only forbid: where it allows, what the rules say holds.
 *
 * Modes: *closed* (each job is asked about; one whose question failed waits, and comes again), *open* (after so many failures in a row,
 * for a while: what would have been asked about is denied) and *probing* (the while is over: one question decides which it is).
 * An answer is kept for a while for the policy and the job it was about, since a job that waited for an approval is judged twice.
 */
import { z } from 'zod'
import type { Judged } from '../core/admission.ts'
import type { Job } from '../core/job.ts'
import { jobHashOf } from '../core/job-hash.ts'
import { LENGTHS } from '../core/limits.ts'
import { isSegment, SEGMENT_RULE } from '../core/name.ts'
import { reasonOf } from '../core/reason.ts'
import type { Log } from '../system/log.ts'
import type { Timers } from '../system/timers.ts'
import { JobFacts } from './facts.ts'
import type { PolicyJudge, WhoIsThere } from './judge.ts'
import { Line } from './line.ts'

export const KERNEL_BOUNDS = {
  /** How long it may take to answer. */
  answerMs: 2_000,
  /** Failures in a row after which nobody waits for it any more. */
  failures: 5,
  /** For how long it is not asked then. */
  openMs: 10_000,
  /** How long an answer holds. */
  keptMs: 60_000,
  /** How many of them. */
  kept: 10_000,
  /** Questions under way at a time; others stand in line. */
  atOnce: 16,
  /** Of those, about jobs of one tenant: what takes long of one leaves places for others. */
  ofATenant: 8,
  /** Letters of an answer. */
  letters: 16_384,
} as const

/** Whose word it is where the kernel names no rule. */
export const KERNEL_RULE = 'safety_kernel'

const answerSchema = z.object({
  decision: z.enum(['allow', 'deny']),
  rule: z.string().min(1).max(LENGTHS.name).refine(isSegment, SEGMENT_RULE).optional(),
  reason: z.string().max(LENGTHS.message).optional(),
})
type Answer = z.output<typeof answerSchema>

/** Throws where it is none. */
export function kernelUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && (url.username !== '' || url.password !== ''))
    throw new TypeError('kernel: the URL of a safety kernel has no credentials in it, which are told wherever a URL is')
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new TypeError('kernel: the URL of a safety kernel begins with http:// or https://')
}

export interface KernelParts {
  readonly url: URL
  readonly fetch: typeof globalThis.fetch
  readonly timers: Timers
  readonly monotonicMs: () => number
  readonly log: Log
}

export class SafetyKernel {
  readonly #parts: KernelParts
  readonly #line = new Line(KERNEL_BOUNDS.atOnce, KERNEL_BOUNDS.ofATenant)
  readonly #kept = new Map<string, { readonly answer: Answer; readonly untilMs: number }>()
  #failures = 0
  /** Open until then, and while a probe is under way. */
  #openUntilMs = Number.NEGATIVE_INFINITY

  constructor(parts: KernelParts) {
    this.#parts = parts
  }

  /** What becomes of a job that the rules have judged. Throws where that cannot be told: the job waits, as it does where its turn to be asked about came too late. */
  async judge(job: Job, judged: Judged, leftMs: () => number): Promise<Judged | undefined> {
    if (!judged.letsIn) return judged
    const answer = await this.#answer(job, judged, leftMs)
    if (answer === undefined || answer.decision === 'allow') return answer && judged
    const { rule = KERNEL_RULE, reason } = answer
    const { policyHash } = judged
    return {
      letsIn: false,
      rule,
      policyHash,
      reason: reason && withoutQuery(reason, job.spec.contextPtr),
      terms: undefined,
      approval: undefined,
    }
  }

  async #answer(job: Job, judged: Judged, leftMs: () => number): Promise<Answer | undefined> {
    const jobHash = jobHashOf(job)
    const name = `${judged.policyHash} ${jobHash}`
    const kept = this.#kept.get(name)
    if (kept !== undefined && this.#parts.monotonicMs() < kept.untilMs) return kept.answer
    return this.#line.take(job.spec.kind.tenant, async () => {
      // By the time of an answer somebody else might have been handed the job, and ask about it, too.
      if (leftMs() < KERNEL_BOUNDS.answerMs) return undefined
      const nowMs = this.#parts.monotonicMs()
      if (nowMs < this.#openUntilMs) return NOT_ASKED
      // Others that come while a probe is under way do not wait for what it finds.
      if (this.#isTripped) this.#openUntilMs = nowMs + KERNEL_BOUNDS.answerMs
      const answer = await this.#asked(job, judged, jobHash)
      this.#keep(name, answer)
      return answer
    })
  }

  get #isTripped(): boolean {
    return this.#failures >= KERNEL_BOUNDS.failures
  }

  async #asked(job: Job, judged: Judged, jobHash: string): Promise<Answer> {
    const { log, url } = this.#parts
    try {
      const answer = await this.#said(job, judged, jobHash)
      if (this.#isTripped) log.info('the safety kernel answers again', { kernel: url.host })
      this.#failures = 0
      this.#openUntilMs = Number.NEGATIVE_INFINITY
      return answer
    } catch (error) {
      this.#failures += 1
      if (this.#isTripped) {
        this.#openUntilMs = this.#parts.monotonicMs() + KERNEL_BOUNDS.openMs
        log.error('the safety kernel does not answer: jobs are denied', { kernel: url.host, reason: reasonOf(error) })
      }
      throw error
    }
  }

  async #said(job: Job, judged: Judged, jobHash: string): Promise<Answer> {
    const late = new AbortController()
    using _ = this.#parts.timers.after(KERNEL_BOUNDS.answerMs, () => late.abort(new Error(LATE)))
    const { url } = this.#parts
    const response = await this.#parts.fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(questionOf(job, judged, jobHash), asNumber),
      // Who answers for the kernel is who was named.
      redirect: 'error',
      signal: late.signal,
    })
    if (response.status !== 200) throw new Error(`the safety kernel answered with ${response.status}`)
    return answerIn(await textOf(response))
  }

  #keep(name: string, answer: Answer): void {
    if (this.#kept.size >= KERNEL_BOUNDS.kept) this.#kept.clear()
    this.#kept.set(name, { answer, untilMs: this.#parts.monotonicMs() + KERNEL_BOUNDS.keptMs })
  }
}

/**
 * A job as it would be let in: of the topic that it is sent to, and with the labels that it is given, so that nobody gets past the kernel by way of
 * a redirect. `redirectedFrom`: what it was asked for.
 */
function questionOf({ spec, ...job }: Job, { policyHash, redirect, recast }: Judged, jobHash: string): object {
  const labels = recast?.labels === undefined ? spec.labels : { ...spec.labels, ...recast.labels }
  const facts = new JobFacts({ ...job, spec: { ...spec, labels } }, redirect?.to)
  return { policyHash, jobHash, job: facts, redirectedFrom: redirect?.from }
}

/** What is wrong with an answer is told without it: it may say again what it was asked. */
function answerIn(text: string): Answer {
  let said: unknown
  try {
    said = JSON.parse(text)
  } catch {
    throw new Error('the safety kernel’s answer is no JSON')
  }
  const answer = answerSchema.safeParse(said)
  if (answer.success) return answer.data
  const fields = answer.error.issues.map(({ path }) => path.join('.') || 'all of it')
  throw new Error(`the safety kernel’s answer cannot be understood: ${fields.join(', ')}`)
}

/** Pointers are kept without their query wherever they are told. */
function withoutQuery(text: string, pointer: string | undefined): string {
  const from = pointer?.indexOf('?') ?? -1
  return pointer === undefined || from === -1 ? text : text.replaceAll(pointer.slice(from), '?…')
}

const LATE = `the safety kernel said nothing within ${KERNEL_BOUNDS.answerMs} ms`

const NOT_ASKED: Answer = { decision: 'deny', reason: 'The safety kernel cannot be asked now.' }

const asNumber = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value)

/** Not more than an answer has, whatever comes. */
async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of response.body ?? []) {
    text += decoder.decode(piece, { stream: true })
    if (text.length > KERNEL_BOUNDS.letters)
      throw new Error(`the safety kernel answered with more than ${KERNEL_BOUNDS.letters} letters`)
  }
  return text
}

/** A judge whose word counts only where a kernel does not forbid it. */
export class KernelJudge {
  readonly #rules: Pick<PolicyJudge, 'look' | 'judge'>
  readonly #kernel: SafetyKernel

  constructor(rules: Pick<PolicyJudge, 'look' | 'judge'>, parts: KernelParts) {
    this.#rules = rules
    this.#kernel = new SafetyKernel(parts)
  }

  look(): Promise<boolean> {
    return this.#rules.look()
  }

  async judge(job: Job, whoIsThere: WhoIsThere, leftMs: () => number): Promise<Judged | undefined> {
    const judged = await this.#rules.judge(job, whoIsThere)
    return judged && (await this.#kernel.judge(job, judged, leftMs))
  }
}
