/** What a worker sees of the world, until it is struck dead: from then on nothing it says arrives, and no time passes. */
import type { JobId } from '../core/job.ts'
import type { Engine } from '../engine/engine.ts'
import type { Timers } from '../system/timers.ts'

export interface Mortal {
  readonly engine: Engine
  readonly timers: Timers
  kill(): void
  /** No hint reaches it any more. */
  deafen(): void
  /** Heartbeats for this job get lost on the way, until disposed of. */
  silence(id: JobId): Disposable
}

export function mortal(engine: Engine, timers: Timers): Mortal {
  const silenced = new Set<JobId>()
  const subscriptions: AsyncDisposable[] = []
  const death = new AbortController()
  let dead = false
  let deaf = false
  const either = (one: AbortSignal | undefined, other: AbortSignal) =>
    one === undefined ? other : AbortSignal.any([one, other])
  const never = <T>(): Promise<T> => new Promise(() => {})
  const alive = <A extends unknown[], T>(call: (...args: A) => Promise<T>) => {
    return async (...args: A): Promise<T> => {
      if (dead) return never()
      const answer = await call(...args)
      return dead ? never() : answer
    }
  }
  const view: Engine = {
    enqueue: alive((requests, tx, together) => engine.enqueue(requests, tx, together)),
    // Whoever is dead waits for nothing.
    claim: alive((request) => engine.claim({ ...request, signal: either(request.signal, death.signal) })),
    settle: alive((words) => engine.settle(words)),
    heartbeat: alive((beats) => {
      if (beats.some(({ id }) => silenced.has(id))) return Promise.reject(new Error('the heartbeat was lost'))
      return engine.heartbeat(beats)
    }),
    load: alive((items) => engine.load(items)),
    find: alive((query) => engine.find(query)),
    events: alive((query) => engine.events(query)),
    whatHolds: alive((jobs) => engine.whatHolds(jobs)),
    limits: alive((query) => engine.limits(query)),
    sayToLimits: alive((words) => engine.sayToLimits(words)),
    settings: alive((operations) => engine.settings(operations)),
    subscribe: alive(async (wake) => {
      const subscription = await engine.subscribe((hint) => {
        if (!dead && !deaf) wake(hint)
      })
      subscriptions.push(subscription)
      return subscription
    }),
    until: () => view,
    now: () => engine.now(),
    [Symbol.asyncDispose]: async () => {},
  }
  return {
    engine: view,
    timers: {
      sleep: (ms, signal) => (dead ? never() : timers.sleep(ms, signal).then(() => (dead ? never<void>() : undefined))),
      after: (ms, fn) => timers.after(ms, () => (dead ? undefined : fn())),
    },
    kill() {
      dead = true
      death.abort()
      for (const subscription of subscriptions) void subscription[Symbol.asyncDispose]()
    },
    deafen: () => {
      deaf = true
    },
    silence(id) {
      silenced.add(id)
      return { [Symbol.dispose]: () => void silenced.delete(id) }
    },
  }
}
