/** The other end of an actor: a process per producer, worker or gateway. */
import { type ChildProcess, fork } from 'node:child_process'
import type { Purpose, Role } from './contender.ts'
import type { ContenderName } from './contenders.ts'
import type { Answers, FromActor, Order, Usage } from './orders.ts'

const ACTOR = new URL('./actor.ts', import.meta.url)
const LEAVE_WITHIN_MS = 5_000

export class Actor implements AsyncDisposable {
  /** Handlers it has started so far. */
  started = 0
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  #orders = 0
  #errors = ''
  readonly #gone: Promise<void>

  constructor(contender: ContenderName) {
    const profiled = process.env['PAWL_BENCH_PROFILE']
    const execArgv = profiled === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profiled}`]
    this.#child = fork(ACTOR, [contender], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      execArgv: ['--no-warnings', ...execArgv],
    })
    this.#child.stderr?.on('data', (data: Buffer) => {
      this.#errors = (this.#errors + data.toString()).slice(-4_000)
    })
    this.#child.on('message', (message: FromActor) => this.#hear(message))
    this.#gone = new Promise((resolve) => {
      this.#child.once('exit', (code) => {
        const error = new Error(`${contender}: its process ended (${code})\n${this.#errors}`)
        for (const { reject } of this.#waiting.values()) reject(error)
        this.#waiting.clear()
        resolve()
      })
    })
  }

  /** Ready to produce or to work. */
  static async connected(
    contender: ContenderName,
    url: string,
    role: Role,
    purpose: Purpose = 'throughput',
  ): Promise<Actor> {
    const actor = new Actor(contender)
    await actor.ask({ op: 'connect', url, role, purpose })
    return actor
  }

  ask<O extends Order>(order: O): Promise<Answers[O['op']]> {
    const asked = Promise.withResolvers<unknown>()
    const id = ++this.#orders
    this.#waiting.set(id, asked)
    this.#child.send({ id, order }, (error) => error && asked.reject(error))
    return asked.promise as Promise<Answers[O['op']]>
  }

  mark(): Promise<undefined> {
    return this.ask({ op: 'mark' })
  }

  usage(): Promise<Usage> {
    return this.ask({ op: 'usage' })
  }

  /** Politely, then by its process id. */
  async [Symbol.asyncDispose](): Promise<void> {
    const asked = this.ask({ op: 'stop' }).catch(() => {})
    await within(LEAVE_WITHIN_MS, asked)
    if (this.#child.connected) this.#child.disconnect()
    await within(LEAVE_WITHIN_MS, this.#gone)
    if (this.#child.exitCode === null) this.#child.kill('SIGKILL')
    await this.#gone
  }

  #hear(message: FromActor): void {
    if ('started' in message) {
      this.started = message.started
      return
    }
    const asked = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    if ('error' in message) asked?.reject(new Error(message.error))
    else asked?.resolve(message.answer)
  }
}

/** Whether it ended in time. */
export async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(() => resolve(false), ms)
  try {
    return await Promise.race([work.then(() => true), promise])
  } finally {
    clearTimeout(timer)
  }
}
