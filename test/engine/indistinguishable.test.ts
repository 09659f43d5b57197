/**
 * What a store's owner learns about plain texts without the key: nothing but their buckets. Two lives of the same shape, with
 * different texts in every place where a user can write one, are led side by side; everything that passes below the seal, and
 * everything that is stored, must be the same but for ciphertexts of the same length, and those must look like noise.
 */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { HttpEngine } from '../../src/client/client.ts'
import { bodyRef } from '../../src/core/body.ts'
import { digest } from '../../src/core/hash.ts'
import type { Engine, EnqueueRequest, Word } from '../../src/engine/engine.ts'
import { LocalEngine } from '../../src/engine/local.ts'
import { SealedEngine } from '../../src/engine/sealed-engine.ts'
import { startGateway } from '../../src/gateway/serve.ts'
import { aesGcm } from '../../src/library/encryption.ts'
import { openMemoryStore } from '../../src/store/memory/memory.ts'
import type { Body } from '../../src/store/store.ts'
import type { Random } from '../../src/system/random.ts'
import { realTimers } from '../../src/system/timers.ts'
import { scaled } from '../support/scale.ts'
import { kindOf } from './engine-fixture.ts'
import { VirtualClock } from './virtual-clock.ts'

const PAIRS = scaled(200, 10_000)
const OVER_HTTP = scaled(10, 100)
const CIPHERTEXT = /pawl:1:k:([A-Za-z0-9_-]+)/g
const codec = aesGcm({ keys: { k: createHash('sha256').update('a key').digest() }, current: 'k' })
const kind = kindOf({ retry: { base: 1, max: 1 }, onExhausted: 'dead_letter' })

/** The same for both lives of a pair: whatever differs afterwards comes from the texts. */
function seeded(seed: string): Random {
  let n = 0
  const next = () =>
    createHash('sha256')
      .update(`${seed}/${(n += 1)}`)
      .digest('hex')
  return {
    hex64: () => next().slice(0, 16),
    uuid: () => next().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5'),
    secret: () => next().slice(0, 43),
  }
}

/** One text for each place: all different from each other, or all the same, or some of each. */
type Texts = (place: number) => string

/** Says a text wherever one can be said; twice, where that can be done twice. */
async function lead(engine: Engine, clock: VirtualClock, texts: Texts, name: string): Promise<string> {
  let place = 0
  const text = () => texts((place += 1))
  const json = () => JSON.stringify(text())
  const request: EnqueueRequest = { actor: 'p', kind, priority: 5, input: json(), requestId: name, correlationId: 'c' }
  const [answer] = await engine.enqueue([request])
  if (answer?.ok !== true) throw new Error(JSON.stringify(answer))
  const { id } = answer.job
  let said = 0
  const say = async (command: object, bodies: readonly Body[] = []) => {
    const requestId = `${name}/${(said += 1)}`
    const word: Word = { id, bodies, command: { actor: 'a', requestId, ...command } as Word['command'] }
    const [told] = await engine.settle([word])
    if (told?.ok !== true) throw new Error(JSON.stringify(told))
  }
  const claim = async (nth: number) => {
    const lanes = [{ tenant: kind.tenant, queue: kind.queue, priority: 5 }]
    const [assignment] = await engine.claim({ requestId: `${name}/claim/${nth}`, workerId: 'w', lanes, limit: 1 })
    if (assignment === undefined) throw new Error('nothing was claimed')
    await say({ type: 'start', fence: assignment.fence })
    return assignment.fence
  }
  const body = (name: string): Body => ({ name, text: json() })
  const first = await claim(1)
  for (const _ of [1, 2]) {
    const kept = body('checkpoint')
    await say({ type: 'checkpoint', fence: first, body: bodyRef(kept.name, kept.text) }, [kept])
    await say({ type: 'progress', fence: first, progress: { done: 1, message: text() } })
    const sent = body('signal')
    await say({ type: 'signal', name: 'go', body: bodyRef(sent.name, sent.text) }, [sent])
  }
  for (const name of ['one', 'two']) {
    const memo = body(`step/${name}`)
    await say(
      { type: 'record', fence: first, step: { name, body: bodyRef(memo.name, memo.text), compensate: false } },
      [memo],
    )
  }
  const story: Body = { name: 'error/1', text: JSON.stringify({ stack: text() }) }
  const fault = { code: 'E', message: text(), context: { a: text() }, body: bodyRef(story.name, story.text) }
  await say({ type: 'fail', fence: first, fault }, [story])
  clock.advance(10)
  const second = await claim(2)
  await say({ type: 'cancel', mode: 'soft', reason: text() })
  const output = body('output')
  await say({ type: 'complete', fence: second, result: bodyRef(output.name, output.text) }, [output])
  return id
}

/** What reaches the engine below, in order. */
function overheard(engine: Engine): { readonly engine: Engine; readonly calls: unknown[] } {
  const calls: unknown[] = []
  const listening = new Proxy(engine, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...words: unknown[]) => {
        calls.push([String(name), words])
        return value.apply(target, words)
      }
    },
  })
  return { engine: listening, calls }
}

/** A whole life: all that was said below the seal, and all that a store's owner finds. */
async function traceOf(seed: string, texts: Texts): Promise<string> {
  const clock = new VirtualClock()
  const store = openMemoryStore({ clock })
  const local = new LocalEngine({ store, clock, random: seeded(`${seed}/engine`), timers: realTimers })
  const below = overheard(local)
  const id = await lead(new SealedEngine(below.engine, codec, seeded(`${seed}/seal`)), clock, texts, seed)
  const [found] = (await store.load([{ id, bodies: ['input', 'output', 'checkpoint', 'step/', 'signal/', 'error/'] }]))
    .items
  const { events } = await store.events({ by: 'job', id, afterRev: 0, limit: 1_000 })
  const { feed } = await store.events({ by: 'feed', after: '', limit: 1_000 })
  // A digest is of a ciphertext that is there for everybody, hence tells what that tells.
  const sealed = new Set(textsIn(below.calls).map((text) => `${text.length} ${digest(text)}`))
  for (const ref of refsIn([found, events])) expect(sealed.has(`${ref.size} ${ref.digest}`)).toBe(true)
  return JSON.stringify({ calls: below.calls, found, events, feed })
}

interface Ref {
  readonly size: number
  readonly digest: string
}

function refsIn(value: unknown): readonly Ref[] {
  if (typeof value !== 'object' || value === null) return []
  const own = 'size' in value && 'digest' in value && value.digest !== undefined ? [value as Ref] : []
  return [...own, ...Object.values(value).flatMap(refsIn)]
}

const textsIn = (value: unknown): readonly string[] =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(textsIn)
      : []

/** Ciphertexts by their lengths alone, and digests, which are of them, not at all. */
const masked = (trace: string): string =>
  trace
    .replaceAll(CIPHERTEXT, (_, sealed: string) => `<${sealed.length}>`)
    .replaceAll(/"digest":"[0-9a-z]+"/g, '"digest":"…"')

const ciphertexts = (trace: string): readonly string[] =>
  [...trace.matchAll(CIPHERTEXT)].map(([, sealed]) => sealed ?? '')

/** Where two texts part. */
function difference(one: string, other: string): string {
  if (one === other) return ''
  let at = 0
  while (one[at] === other[at]) at += 1
  return `${one.slice(Math.max(0, at - 80), at + 80)} | ${other.slice(at, at + 80)}`
}

/** Pins, words, empty texts, and texts with a pattern: each pair of one bucket. */
const KINDS: readonly ((n: number) => readonly [Texts, Texts])[] = [
  (n) => [() => String(100_000 + n), () => String(999_999 - n)],
  (n) => [() => '', (place) => `${n}.${place}`],
  () => [() => 'the same in every place', (place) => `another in place ${place}`],
  (n) => [() => 'a'.repeat(n % 24), (place) => createHash('md5').update(`${n}.${place}`).digest('base64')],
  (n) => [(place) => `${n + place}`, () => '\u{1f980}\u{1f980}'],
]

describe('without the key', () => {
  it(`${PAIRS} pairs of lives cannot be told apart by anything that is said or stored`, async () => {
    const noise = [new Noise(), new Noise()] as const
    for (let n = 0; n < PAIRS; n += 1) {
      const pair = KINDS[n % KINDS.length]?.(n)
      if (pair === undefined) throw new Error('there are kinds')
      const traces = await Promise.all(pair.map((texts) => traceOf(String(n), texts)))
      const [one = '', other = ''] = traces
      expect(difference(masked(one), masked(other)), `pair ${n}`).toBe('')
      for (const [i, trace] of traces.entries()) {
        const all = ciphertexts(trace)
        // Each is said and stored, and events say it again; but no two texts look alike, not even the same one twice.
        expect(new Set(all).size).toBe(PLACES)
        for (const sealed of new Set(all)) noise[i as 0 | 1].add(sealed)
      }
    }
    for (const each of noise) expect(each.chiSquared).toBeLessThan(CHI_SQUARED_MOST)
    expect(noise[0].bytes).toBe(noise[1].bytes)
  }, 600_000)

  it('a pin cannot be found by trying', async () => {
    const trace = await traceOf('pin', () => '314159')
    const digests = new Set([...trace.matchAll(/"digest":"([0-9a-z]+)"/g)].map(([, found]) => found))
    expect(digests.size).toBeGreaterThan(10)
    for (let pin = 300_000; pin < 330_000; pin += 1) {
      for (const text of [String(pin), JSON.stringify(String(pin)), JSON.stringify({ stack: String(pin) })])
        expect(digests.has(digest(text))).toBe(false)
    }
  })

  it('pairs of lives cannot be told apart on the way to a gateway', async () => {
    const clock = new VirtualClock()
    const store = openMemoryStore({ clock })
    const served = new LocalEngine({ store, clock, random: seeded('gateway'), timers: realTimers })
    await using gateway = await startGateway({ engine: served, port: 0, auth: false })
    for (let n = 0; n < OVER_HTTP; n += 1) {
      const pair = KINDS[n % KINDS.length]?.(n) ?? []
      const traces: string[] = []
      for (const texts of pair) {
        const sent: string[] = []
        const fetch: typeof globalThis.fetch = (url, init) => {
          sent.push(String(init?.body ?? ''))
          return globalThis.fetch(url, init)
        }
        await using http = new HttpEngine({ url: gateway.url, fetch, random: seeded(String(n)) })
        const name = `${n}/${traces.length}`
        await lead(new SealedEngine(http, codec, seeded(name)), clock, texts, name)
        // Ids, fences and names are the gateway's and the producer's, and no two jobs have the same.
        const told = masked(sent.join('\n')).replaceAll(/pj_\w+|\d+\/[01]|[0-9a-f]{16}|[0-9a-f]{8}-[0-9a-f-]{27}/g, '#')
        traces.push(told)
      }
      expect(difference(traces[0] ?? '', traces[1] ?? '')).toBe('')
      expect(traces[0]).toMatch(/<\d+>/)
    }
  })
})

/** How many texts `lead` says. */
const PLACES = 13
/** Of 256 kinds of bytes that are equally likely, so much is exceeded once in a million times. */
const CHI_SQUARED_MOST = 380

class Noise {
  readonly #counts = new Array<number>(256).fill(0)
  bytes = 0

  add(sealed: string): void {
    for (const byte of Buffer.from(sealed, 'base64url')) this.#counts[byte] = (this.#counts[byte] ?? 0) + 1
    this.bytes = this.#counts.reduce((sum, count) => sum + count, 0)
  }

  get chiSquared(): number {
    const expected = this.bytes / 256
    return this.#counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
  }
}
