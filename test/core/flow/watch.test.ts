import { describe, expect, it } from 'vitest'
import { gateOf } from '../../../src/core/flow/gate.ts'
import { atRest } from '../../../src/core/flow/key.ts'
import type { Counted } from '../../../src/core/flow/slots.ts'
import { overlooked, type Watch } from '../../../src/core/flow/watch.ts'

const NOW = 1_000_000
const none = { taken: 0, takenSince: 0, started: 0, oldestStart: undefined, spent: 0 }
const full: Counted = { gate: gateOf(atRest('k'), { concurrency: 1 }), count: { ...none, taken: 1 } }
const free: Counted = { ...full, count: none }
const paced: Counted = {
  gate: gateOf(atRest('k'), { rate: { most: 1, perMs: 10_000 } }),
  count: { ...none, started: 1, oldestStart: NOW - 1_000 },
}
const atKey = (wakeAt?: number): Watch => ({ by: 'key', key: 'k', wakeAt })

describe('somebody will look at a flow', () => {
  it.each<readonly [string, Watch, Counted | undefined]>([
    ['that has just come', { by: 'arrival' }, undefined],
    ['that has a time', { by: 'time', at: NOW + 9 }, undefined],
    ['that waits at its lane', { by: 'lane' }, undefined],
    ['whose queue is paused', { by: 'queue', isPaused: true }, undefined],
    ['that waits at a key without room: whoever frees a slot', atKey(), full],
    ['that waits at a key whose time has come: the ticker', atKey(NOW), free],
    ['that waits at a key which may have room by itself, then or sooner', atKey(NOW + 9_000), paced],
  ])('%s', (_, watch, key) => {
    expect(overlooked(watch, key, NOW)).toBeUndefined()
  })
})

describe('nobody will look at a flow', () => {
  it.each<readonly [string, Watch | undefined, Counted | undefined, string]>([
    ['that waits nowhere', undefined, undefined, 'waits nowhere'],
    ['that waits for a queue which is not paused', { by: 'queue', isPaused: false }, undefined, 'not paused'],
    ['that waits at a key which is not there', atKey(), undefined, 'not there'],
    ['that waits at a key which has room', atKey(NOW + 1), free, 'has room'],
    ['that waits at a key where nobody looks by the clock', atKey(), paced, 'nobody looks'],
    ['that waits at a key where somebody looks too late', atKey(NOW + 9_001), paced, 'nobody looks'],
  ])('%s', (_, watch, key, why) => {
    expect(overlooked(watch, key, NOW)).toContain(why)
  })
})
