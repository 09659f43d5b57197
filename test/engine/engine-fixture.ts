/** An engine on a store in memory with a virtual clock, and the few moves most tests are made of. */
import type { Command } from '../../src/core/command.ts'
import type { Event } from '../../src/core/event.ts'
import type { Job, JobId, Kind } from '../../src/core/job.ts'
import { type PolicyInput, resolvePolicy } from '../../src/core/resolve.ts'
import type { Answer, Assignment, Engine, EnqueueAnswer, EnqueueRequest, Word } from '../../src/engine/engine.ts'
import { LocalEngine } from '../../src/engine/local.ts'
import type { Observer } from '../../src/engine/observer.ts'
import { openMemoryStore } from '../../src/store/memory/memory.ts'
import type { Body, Store } from '../../src/store/store.ts'
import type { Log } from '../../src/system/log.ts'
import { realRandom } from '../../src/system/random.ts'
import { realTimers, type Timers } from '../../src/system/timers.ts'
import { VirtualClock } from './virtual-clock.ts'

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

/** A command without its envelope. */
export type Saying = DistributiveOmit<Exclude<Command, { type: 'enqueue' | 'claim' }>, 'actor' | 'requestId'> & {
  readonly requestId?: string
}

export interface EngineFixtureOptions {
  readonly observer?: Observer
  readonly log?: Log
  readonly timers?: Timers
  /** Something between the engine and its store. */
  readonly between?: (store: Store) => Store
}

export function kindOf(policy: PolicyInput = {}, queue = 'q', type = 'work'): Kind {
  const resolved = resolvePolicy(policy)
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.violations))
  return { tenant: 't', queue, type, policy: resolved.policy }
}

export class EngineFixture {
  readonly clock = new VirtualClock()
  readonly store: Store
  readonly engine: LocalEngine
  readonly kind = kindOf()
  #requests = 0

  constructor(options: EngineFixtureOptions = {}) {
    const store = openMemoryStore({ clock: this.clock })
    this.store = options.between?.(store) ?? store
    this.engine = this.another(options)
  }

  /** A second process on the same store. */
  another({ observer, log, timers = realTimers }: Omit<EngineFixtureOptions, 'between'> = {}): LocalEngine {
    const { store, clock } = this
    return new LocalEngine({ store, clock, random: realRandom, timers, observer, log })
  }

  requestId(): string {
    this.#requests += 1
    return `r${this.#requests}`
  }

  async tryEnqueue(request: Partial<EnqueueRequest> = {}, engine: Engine = this.engine): Promise<EnqueueAnswer> {
    const whole = { actor: 'producer', kind: this.kind, priority: 5, input: '{"n":1}', ...request }
    const [answer] = await engine.enqueue([whole])
    return answer as EnqueueAnswer
  }

  async enqueue(request: Partial<EnqueueRequest> = {}): Promise<Job> {
    const answer = await this.tryEnqueue(request)
    if (!answer.ok) throw new Error(JSON.stringify(answer.refusal))
    return answer.job
  }

  claim(
    limit = 1,
    engine: Engine = this.engine,
    queue = 'q',
    requestId = this.requestId(),
  ): Promise<readonly Assignment[]> {
    const lanes = [1, 5, 9].map((priority) => ({ tenant: 't', queue, priority }))
    return engine.claim({ requestId, workerId: 'w1', lanes, limit })
  }

  async claimed(request: Partial<EnqueueRequest> = {}): Promise<Assignment> {
    const job = await this.enqueue(request)
    if (job.state === 'pending') await this.must(job.id, { type: 'admit', rule: 'all', policyHash: 'p1' })
    const [assignment] = await this.claim(1, this.engine, job.spec.kind.queue)
    if (assignment === undefined) throw new Error('nothing was claimed')
    return assignment
  }

  async running(request: Partial<EnqueueRequest> = {}): Promise<Assignment> {
    const assignment = await this.claimed(request)
    await this.must(assignment.job.id, { type: 'start', fence: assignment.fence })
    return assignment
  }

  word(id: JobId, saying: Saying, bodies?: readonly Body[]): Word {
    const requestId = saying.requestId ?? this.requestId()
    return { id, command: { actor: 'tester', ...saying, requestId } as Word['command'], bodies }
  }

  async say(id: JobId, saying: Saying, engine: Engine = this.engine, bodies?: readonly Body[]): Promise<Answer> {
    const [answer] = await engine.settle([this.word(id, saying, bodies)])
    return answer as Answer
  }

  async must(id: JobId, saying: Saying): Promise<Extract<Answer, { ok: true }>> {
    const answer = await this.say(id, saying)
    if (!answer.ok) throw new Error(JSON.stringify(answer.refusal))
    return answer
  }

  async job(id: JobId): Promise<Job> {
    const [found] = (await this.store.load([{ id }])).items
    if (found === undefined) throw new Error(`no job ${id}`)
    return found.job
  }

  async log(id: JobId): Promise<readonly Event[]> {
    return (await this.store.events({ by: 'job', id, afterRev: 0, limit: 1_000 })).events
  }
}
