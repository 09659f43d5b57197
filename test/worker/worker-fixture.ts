/** A worker on a memory store with time that passes when the test says so, and everything around it. */
import type { Job, JobId } from '../../src/core/job.ts'
import { type PolicyInput, resolvePolicy } from '../../src/core/resolve.ts'
import type { Answer, Engine, Word } from '../../src/engine/engine.ts'
import { LocalEngine } from '../../src/engine/local.ts'
import { Producer } from '../../src/library/producer.ts'
import { spawning } from '../../src/library/spawn.ts'
import { openMemoryStore } from '../../src/store/memory/memory.ts'
import type { Log } from '../../src/system/log.ts'
import { realRandom } from '../../src/system/random.ts'
import { service } from '../../src/system/service.ts'
import { type Mortal, mortal } from '../../src/testing/mortal.ts'
import { VirtualTime } from '../../src/testing/virtual-time.ts'
import type { Context } from '../../src/worker/context.ts'
import { Crew } from '../../src/worker/crew.ts'
import type { JobDefinition } from '../../src/worker/definition.ts'
import { type Surroundings, startWorker, type Worker, type WorkerOptions } from '../../src/worker/worker.ts'

export interface Line {
  readonly level: 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

export interface FixtureWorker {
  readonly worker: Worker
  readonly mortal: Mortal
}

export interface WorkerFixture extends AsyncDisposable {
  readonly time: VirtualTime
  readonly engine: LocalEngine
  readonly lines: Line[]
  /** For workers that are to be of one process; each has one of its own otherwise. */
  readonly crew: Crew
  /** Over the fixture's own engine, or over what a test made of it. */
  work(definitions: readonly JobDefinition[], options?: WorkerOptions & Surroundings, engine?: Engine): FixtureWorker
  enqueue(
    definition: JobDefinition,
    input?: unknown,
    more?: { priority?: number; delayMs?: number; keys?: readonly string[] },
  ): Promise<JobId>
  load(id: JobId): Promise<Job>
  body(id: JobId, name: string): Promise<unknown>
  settle(id: JobId, command: object): Promise<Answer>
}

export function definition(
  run: (input: never, ctx: Context) => unknown,
  policy: PolicyInput = {},
  more: Partial<Pick<JobDefinition, 'type' | 'tenant' | 'queue' | 'input' | 'output'>> = {},
): JobDefinition {
  const resolved = resolvePolicy({ lease: '2s', ...policy })
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.violations))
  return {
    type: 'job',
    tenant: 'default',
    queue: 'default',
    ...more,
    policy: resolved.policy,
    run: run as JobDefinition['run'],
  }
}

export function openWorkerFixture(): WorkerFixture {
  const time = new VirtualTime(Date.UTC(2030, 0, 1))
  const store = openMemoryStore({ clock: time, timers: time })
  const engine = new LocalEngine({ store, clock: time, random: realRandom, timers: time })
  const lines: Line[] = []
  const at =
    (level: Line['level']): Log['info'] =>
    (message, fields = {}) =>
      void lines.push({ level, message, fields })
  const log: Log = { info: at('info'), warn: at('warn'), error: at('error') }
  const ticker = service({
    name: 'ticker',
    everyMs: 500,
    timers: time,
    log,
    round: async () => void (await engine.tick(100)),
  })
  ticker.start()
  const workers: FixtureWorker[] = []
  let requests = 0
  return {
    time,
    engine,
    lines,
    crew: new Crew(),
    work(definitions, options = {}, over = engine) {
      const world = mortal(over, time)
      const spawn = spawning(new Producer(world.engine), world.engine, false)
      const clocks = { clock: time, machineMs: () => time.monotonicMs(), timers: world.timers }
      const around: Surroundings = { ...clocks, log, spawn, crew: new Crew() }
      const made = { worker: startWorker(world.engine, definitions, { ...around, ...options }), mortal: world }
      workers.push(made)
      return made
    },
    async enqueue({ tenant = 'default', queue, type, policy }, input, { priority = 5, delayMs, keys } = {}) {
      const text = input === undefined ? undefined : JSON.stringify(input)
      const kind = { tenant, queue, type, policy }
      const flow = keys && { keys, fair: undefined }
      const [answer] = await engine.enqueue([{ actor: 'test', kind, priority, input: text, delayMs, flow }])
      if (answer?.ok !== true) throw new Error(JSON.stringify(answer))
      return answer.job.id
    },
    async load(id) {
      const [found] = (await engine.load([{ id }])).items
      if (found === undefined) throw new Error(`no job ${id}`)
      return found.job
    },
    async body(id, name) {
      const text = (await engine.load([{ id, bodies: [name] }])).items[0]?.bodies[name]
      return text === undefined ? undefined : JSON.parse(text)
    },
    async settle(id, command) {
      requests += 1
      const asked = { actor: 'test', requestId: `test/${requests}`, ...command }
      const [answer] = await engine.settle([{ id, command: asked as Word['command'] }])
      if (answer === undefined) throw new Error('no answer')
      return answer
    },
    async [Symbol.asyncDispose]() {
      for (const { mortal: world } of workers) world.kill()
      await ticker.stop()
      await engine[Symbol.asyncDispose]()
    },
  }
}
