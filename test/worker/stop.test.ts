/** Stopping takes the drain and a moment, whatever does not answer. */
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { definition, openWorkerFixture } from './worker-fixture.ts'

const DRAIN_MS = 2_000
const MOMENT_MS = 5_000

const CALLS = ['enqueue', 'claim', 'settle', 'heartbeat', 'load', 'settings', 'subscribe'] as const

/** The same engine, some of whose calls are never answered once it is told so. */
function silenced(engine: Engine, silent: readonly string[]) {
  let fallen = false
  const view = new Proxy(engine, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...words: unknown[]) =>
        fallen && silent.includes(String(name)) ? new Promise(() => {}) : value.apply(target, words)
    },
  })
  return {
    view,
    fall: () => {
      fallen = true
    },
  }
}

describe.each([['everything', CALLS] as const, ...CALLS.map((call) => [call, [call]] as const)])(
  'where %s is not answered any more',
  (_, silent) => {
    it.each(['before it starts', 'while handlers run'])('a worker stops in time: %s', async (when) => {
      await using fixture = openWorkerFixture()
      const endless = definition(() => new Promise(() => {}))
      const brief = definition(() => 1, {}, { type: 'brief' })
      for (const job of [endless, brief, endless, brief]) await fixture.enqueue(job)
      const { view, fall } = silenced(fixture.engine, silent)
      if (when === 'before it starts') fall()
      const { worker } = fixture.work([endless, brief], { drain: DRAIN_MS, concurrency: 1 }, view)
      await fixture.time.advance(1_000)
      fall()
      let stopped = false
      void worker.stop().then(() => {
        stopped = true
      })
      await fixture.time.advance(DRAIN_MS + MOMENT_MS)
      expect(stopped).toBe(true)
    })
  },
)
