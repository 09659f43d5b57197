/** How orders reach a player and its answers come back. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Player } from './acting/player.ts'
import { CONTENDERS, type ContenderName } from './contenders.ts'
import type { FromActor, Order } from './orders.ts'
import { within } from './within.ts'

const ACTOR = new URL('./actor.ts', import.meta.url)
const COMPILED = fileURLToPath(new URL('./dist/compiled/', import.meta.url))

export interface Line {
  ask(order: Order): Promise<unknown>
  started(): number
  end(withinMs: number): Promise<void>
}

/** A process of its own, so that its CPU is nobody else's. */
export function toProcess(contender: ContenderName): Line {
  const profiled = process.env['PAWL_BENCH_PROFILE']
  const execArgv = profiled === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profiled}`]
  const child = fork(ACTOR, [contender], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: ['--no-warnings', ...execArgv],
    // What a process compiles before it is asked for anything is nobody's figure: the next one finds it done.
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED },
  })
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let started = 0
  let errors = ''
  child.stderr?.on('data', (data: Buffer) => {
    errors = (errors + data.toString()).slice(-4_000)
  })
  child.on('message', (message: FromActor) => {
    if ('started' in message) {
      started = message.started
      return
    }
    const asked = waiting.get(message.id)
    waiting.delete(message.id)
    if ('error' in message) asked?.reject(new Error(message.error))
    else asked?.resolve(message.answer)
  })
  const gone = new Promise<void>((resolve) => {
    child.once('exit', (code) => {
      const error = new Error(`${contender}: its process ended (${code})\n${errors}`)
      for (const { reject } of waiting.values()) reject(error)
      waiting.clear()
      resolve()
    })
  })
  let orders = 0
  return {
    ask(order) {
      const asked = Promise.withResolvers<unknown>()
      const id = ++orders
      waiting.set(id, asked)
      child.send({ id, order }, (error) => error && asked.reject(error))
      return asked.promise
    },
    started: () => started,
    async end(withinMs) {
      if (child.connected) child.disconnect()
      await within(withinMs, gone)
      if (child.exitCode === null) child.kill('SIGKILL')
      await gone
    },
  }
}

/** This very process. */
export function toOwnProcess(contender: ContenderName): Line {
  let player: Player | undefined
  const ready = CONTENDERS[contender]().then((known) => {
    player = new Player(known)
    return player
  })
  return {
    ask: async (order) => (await ready).play(order),
    started: () => player?.started ?? 0,
    end: async () => {},
  }
}
