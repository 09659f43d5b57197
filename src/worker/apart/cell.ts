/**
 * A cell: a process that runs the handlers of one module, one job at a time, seen from its worker.
 *
 *   starting  the module is being imported; the first run waits for it.
 *   idle      ready for the next run.
 *   busy      a run is under way. Leaves when it is answered; or by the end of the process, which is a crash.
 *   gone      the process has ended, or is being ended.
 *
 * A run that its worker has given up on (a lost lease, a hard cancel, a time limit, shutdown) is asked to stop and has a
 * moment to do so; then the process is killed, which is the one way to stop a handler that does not listen.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { type ChildProcess, fork } from 'node:child_process'
import { execArgv } from 'node:process'
import { assert } from '../../core/assert.ts'
import { reasonOf } from '../../core/reason.ts'
import type { Timers } from '../../system/timers.ts'
import { ThrownElsewhere } from '../fault.ts'
import type { Run } from '../run.ts'
import { crashOf, type Exit } from './crash.ts'
import type { CellData, FromCell, Order, ToCell } from './messages.ts'
import { sentError } from './sent-error.ts'

export interface CellOptions {
  /** The module that the process starts with: ours. */
  readonly entry: URL
  /** The module whose handlers it runs: the user's. */
  readonly module: string
  /** The bound of V8's heap in a cell; Node's own unless given. */
  readonly memoryMb: number | undefined
  readonly timers: Timers
}

/** The cell cannot run what it is there for, and never could: nothing has begun. */
export class Unusable extends Error {
  override readonly name = 'Unusable'
}

interface Turn {
  readonly order: Order
  readonly run: Run
  /** Runs something where the run was begun: inside the span that is its, where there is one. */
  readonly inside: <T>(work: () => T) => T
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: unknown) => void
}

const LET_GO_WITHIN_MS = 1_000

export class Cell {
  readonly exited: Promise<void>
  readonly #timers: Timers
  readonly #process: ChildProcess
  /** Present exactly while busy. */
  #turn: Turn | undefined
  #ready = false
  #gone = false
  #unusable: string | undefined
  #dying: Exit['dying']

  constructor({ entry, module, memoryMb, timers }: CellOptions) {
    this.#timers = timers
    const data: CellData = { module }
    this.#process = fork(entry, [JSON.stringify(data)], {
      execArgv: [
        ...execArgv.filter(isInherited),
        ...(memoryMb === undefined ? [] : [`--max-old-space-size=${memoryMb}`]),
      ],
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.#process.on('message', (message: FromCell) => this.#hear(message))
    this.exited = new Promise((resolve) => {
      this.#process.once('error', (error) => {
        this.#unusable ??= `the process could not be started: ${reasonOf(error)}`
        this.#end({ code: null, signal: null, dying: undefined })
        resolve()
      })
      this.#process.once('exit', (code, signal) => {
        this.#end({ code, signal, dying: this.#dying })
        resolve()
      })
    })
  }

  get isGone(): boolean {
    return this.#gone
  }

  /** Resolves with what the handler answered; rejects with what it threw, or with how the process ended. */
  run(order: Order, run: Run): Promise<unknown> {
    assert(this.#turn === undefined && !this.#gone, 'a cell runs one job at a time')
    return new Promise((resolve, reject) => {
      this.#turn = { order, run, inside: AsyncLocalStorage.snapshot(), resolve, reject }
      run.signal.addEventListener('abort', () => this.#interrupt(run))
      if (this.#ready) this.#begin()
    })
  }

  /** The worker has no use any more for what this run may come to. */
  leave(run: Run): void {
    if (this.#turn?.run !== run) return
    this.#interrupt(run)
    this.#gone = true
    const patience = this.#timers.after(LET_GO_WITHIN_MS, () => this.kill())
    void this.exited.then(() => patience[Symbol.dispose]())
  }

  kill(): void {
    this.#gone = true
    this.#process.kill('SIGKILL')
  }

  #begin(): void {
    const { order, run, reject } = this.#turn as Turn
    try {
      this.#say({ run: order })
      if (run.signal.aborted) this.#interrupt(run)
    } catch (error) {
      this.#turn = undefined
      reject(error)
    }
  }

  #interrupt(run: Run): void {
    if (this.#turn?.run === run && this.#ready) this.#say({ interrupt: sentError(run.signal.reason) })
  }

  #hear(message: FromCell): void {
    if ('ready' in message) {
      this.#ready = true
      if (this.#turn !== undefined) this.#begin()
    } else if ('unusable' in message) this.#unusable = message.unusable
    else if ('dying' in message) this.#dying = message.dying
    else if (this.#turn !== undefined) this.#serve(this.#turn, message)
  }

  #serve(
    { run, inside, resolve, reject }: Turn,
    message: Exclude<FromCell, { ready: true } | { unusable: string } | { dying: unknown }>,
  ): void {
    if ('ask' in message) {
      const { ask } = message
      inside(() => this.#ask(run, message))
        .then((value) => this.#say({ reply: ask, value }))
        .catch((error: unknown) => this.#say({ reply: ask, error: sentError(error) }))
    } else if ('choose' in message) attempt(() => run.choose(message.choose, message.fields))
    else if ('doom' in message) run.doom(new ThrownElsewhere(message.doom))
    else if ('progress' in message) run.tidings.progress(message.progress)
    else if ('count' in message) run.tidings.count(message.count, message.by)
    else if ('log' in message) run.desk.log[message.log](message.message, message.fields)
    else {
      this.#turn = undefined
      if ('answer' in message) resolve(message.answer)
      else reject(new ThrownElsewhere(message.threw))
    }
  }

  async #ask(run: Run, message: Extract<FromCell, { ask: number }>): Promise<unknown> {
    if ('say' in message) return run.say(message.say, message.fields, message.bodies)
    const { engine, args } = message
    return Reflect.apply(run.desk.engine[engine], run.desk.engine, args)
  }

  #say(message: ToCell): void {
    // A process that has just ended does not listen; its end says so.
    if (this.#process.connected) this.#process.send(message, () => {})
  }

  #end(exit: Exit): void {
    this.#gone = true
    const turn = this.#turn
    this.#turn = undefined
    if (turn === undefined) return
    turn.reject(this.#ready ? crashOf(exit) : new Unusable(this.#unusable ?? crashOf(exit).message))
  }
}

/** A debugger's port is its own, and cannot be listened on twice. */
const isInherited = (flag: string): boolean => !flag.startsWith('--inspect')

/** Passes on what a cell says for its run. Where the run is over already that throws, and the cell hears of it by its end. */
function attempt(speak: () => void): void {
  try {
    speak()
  } catch {
    // The run is over.
  }
}
