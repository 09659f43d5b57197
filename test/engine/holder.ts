/** A job that holds a dedupe key, brought to where a duplicate is to meet it. */
import type { DuplicatesInput } from '../../src/core/duplicates.ts'
import type { Job, JobId } from '../../src/core/job.ts'
import { resolvePolicy } from '../../src/core/resolve.ts'
import type { EnqueueAnswer } from '../../src/engine/engine.ts'
import type { Pawl } from '../../src/library/pawl.ts'

type Accepted = Extract<EnqueueAnswer, { ok: true }>

interface Way {
  readonly admission?: boolean
  readonly delayMs?: number
  readonly does?: readonly string[]
}

/** What is done to the holder before the duplicate comes. */
const WAYS = {
  pending: { admission: true },
  delayed: { delayMs: 3_600_000 },
  queued: {},
  claimed: { does: ['claim'] },
  running: { does: ['claim', 'start'] },
  retrying: { does: ['claim', 'start', 'fail'] },
  'queued again': { does: ['claim', 'start', 'release'] },
  parked: { does: ['claim', 'start', 'wait'] },
  'undoing its steps': { does: ['claim', 'start', 'step', 'cancelOwn'] },
  succeeded: { does: ['claim', 'start', 'complete'] },
} as const satisfies Readonly<Record<string, Way>>

export type Whereabouts = keyof typeof WAYS

let serial = 0

/** `more`: of its enqueue. */
export async function holderIn(
  pawl: Pawl,
  where: Whereabouts,
  dedupe: DuplicatesInput,
  more: object = {},
): Promise<Holder> {
  const { admission = false, delayMs, does = [] }: Way = WAYS[where]
  const made = new Holder(pawl, dedupe, admission)
  // The first of a debounced one waits for others: what is to be claimed says when it runs.
  const answer = await made.enqueue(1, { ...(delayMs === undefined ? { runAt: 0 } : { delayMs }), ...more })
  made.id = answer.job.id
  await made.say(...does)
  return made
}

export class Holder {
  readonly queue: string
  readonly #pawl: Pawl
  readonly #dedupe: DuplicatesInput
  readonly #admission: boolean
  id: JobId = ''
  fence = ''

  constructor(pawl: Pawl, dedupe: DuplicatesInput, admission = false) {
    serial += 1
    this.#pawl = pawl
    this.queue = `q${serial}`
    this.#dedupe = dedupe
    this.#admission = admission
  }

  async enqueue(n: number, more: object = {}): Promise<Accepted> {
    const resolved = resolvePolicy({ dedupe: this.#dedupe, admission: this.#admission })
    if (!resolved.ok) throw new Error(JSON.stringify(resolved.violations))
    const kind = { tenant: 'default', queue: this.queue, type: this.queue, policy: resolved.policy }
    const asked = { actor: 'producer', kind, priority: 5, dedupeKey: 'k', input: `{"n":${n}}`, ...more }
    const [answer] = await this.#pawl.engine.enqueue([asked])
    if (answer?.ok !== true) throw new Error(JSON.stringify(answer))
    return answer
  }

  async say(...verbs: readonly string[]): Promise<void> {
    for (const verb of verbs) await this.#say(verb)
  }

  async #say(verb: string): Promise<void> {
    const stamp = { actor: 'w', requestId: `r${(serial += 1)}` }
    if (verb === 'claim') {
      const lanes = [{ tenant: 'default', queue: this.queue, priority: 5 }]
      const [given] = await this.#pawl.engine.claim({ requestId: stamp.requestId, workerId: 'w', lanes, limit: 1 })
      this.fence = given?.fence ?? ''
      return
    }
    const { fence } = this
    const words: Readonly<Record<string, object>> = {
      start: { type: 'start', fence },
      fail: { type: 'fail', fence, fault: { code: 'E', message: 'e' } },
      release: { type: 'release', fence, reason: 'handed_back' },
      wait: { type: 'wait', fence, name: 's' },
      step: { type: 'record', fence, step: { name: 's', body: undefined, compensate: true } },
      cancelOwn: { type: 'cancel', mode: 'soft', fence },
      complete: { type: 'complete', fence },
      compensated: { type: 'compensated', fence },
      cancel: { type: 'cancel', mode: 'hard' },
      drop: { type: 'cancel', mode: 'hard', next: 'drop' },
      reopen: { type: 'reopen' },
      deadLetter: { type: 'deadLetter', reason: 'timeout', stage: 'exec' },
    }
    const command = { ...stamp, ...words[verb] } as never
    const [answer] = await this.#pawl.engine.settle([{ id: this.id, command }])
    if (answer?.ok !== true) throw new Error(JSON.stringify(answer))
  }

  async job(id = this.id): Promise<Job> {
    const job = await this.#pawl.get(id)
    if (job === undefined) throw new Error('there is one')
    return job
  }

  async live(): Promise<readonly Job[]> {
    const { jobs } = await this.#pawl.find({ queues: [this.queue] })
    return jobs.filter(({ endedAt }) => endedAt === undefined)
  }
}
