import { describe, expect, it } from 'vitest'
import type { Assignment } from '../../src/engine/engine.ts'
import { verify } from '../../src/engine/verify.ts'
import { scaled } from '../support/scale.ts'
import { Between } from './between.ts'
import { EngineFixture, kindOf, type Saying } from './engine-fixture.ts'

/** The same numbers for the same seed (mulberry32). */
function numbersFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

const KINDS = [
  kindOf({ retry: { attempts: 3, base: 1, jitter: 'none' } }),
  kindOf({ deadline: '5m', retry: { attempts: 2, stalls: 1 } }),
  kindOf({ onExhausted: 'failed', dedupe: { for: '1m' } }),
  kindOf({ dialect: '002', retry: { attempts: 2 } }),
]

/**
 * Three processes on one store, random words, answers that get lost and are asked for again, time that passes. Whatever
 * happens, every log folds to its record, every key has one holder, every count is right; and what was acknowledged is
 * there.
 */
async function life(seed: number, steps: number): Promise<void> {
  const random = numbersFrom(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const between = new Between()
  const fixture = new EngineFixture({ between: (store) => between.wrap(store) })
  const engines = [fixture.engine, fixture.another(), fixture.another()]
  const ids: string[] = []
  const owned: Assignment[] = []

  /** At least once: an answer that is lost is asked for again. */
  const insist = async <A>(ask: () => Promise<A>): Promise<A> => {
    for (;;) {
      try {
        return await ask()
      } catch (error) {
        if (!(error instanceof Error) || error.message !== 'connection lost') throw error
      }
    }
  }

  const enqueue = async () => {
    const [dedupeKey, requestId] = [random() < 0.3 ? `k${Math.floor(random() * 5)}` : undefined, fixture.requestId()]
    const request = { kind: pick(KINDS), dedupeKey, requestId, delayMs: random() < 0.2 ? 1_000 : undefined }
    const answer = await insist(() => fixture.tryEnqueue(request, pick(engines)))
    if (answer.ok) ids.push(answer.job.id)
  }
  const claim = async () => {
    const requestId = fixture.requestId()
    owned.push(...(await insist(() => fixture.claim(1 + Math.floor(random() * 4), pick(engines), 'q', requestId))))
  }
  const own = async () => {
    if (owned.length === 0) return
    const { job, fence } = pick(owned)
    const fault = { code: pick(['E_GPU_OOM', 'bad_request', 'E_403_WAF']), message: 'x' }
    const saying = pick<Saying>([
      { type: 'start', fence },
      { type: 'progress', fence, counters: { n: 1 } },
      { type: 'record', fence, step: { name: 's', body: undefined, compensate: random() < 0.3 } },
      { type: 'complete', fence },
      { type: 'complete', fence },
      { type: 'fail', fence, fault },
      { type: 'wait', fence, name: 'go', timeoutMs: random() < 0.5 ? 1_000 : undefined },
      { type: 'release', fence, reason: 'handed_back' },
      { type: 'compensated', fence },
      { type: 'cancel', mode: 'soft', fence },
    ])
    const words = [fixture.word(job.id, saying)]
    if (random() < 0.3) words.unshift(fixture.word(job.id, { type: 'start', fence }))
    await insist(() => pick(engines).settle(words))
  }
  const beat = async () => {
    if (owned.length === 0) return
    const beats = [pick(owned), pick(owned)].map(({ job, fence }) => ({
      id: job.id,
      fence,
      requestId: fixture.requestId(),
    }))
    await insist(() => pick(engines).heartbeat(beats))
  }
  const meddle = async () => {
    if (ids.length === 0) return
    const saying = pick<Saying>([
      { type: 'cancel', mode: 'soft' },
      { type: 'cancel', mode: 'hard' },
      { type: 'signal', name: 'go' },
      { type: 'reopen' },
      { type: 'reschedule', priority: pick([1, 5, 9]) },
      { type: 'deadLetter', reason: 'policy_violation', stage: 'exec' },
      { type: 'stall' },
      { type: 'expire' },
    ])
    const word = fixture.word(pick(ids), saying)
    await insist(() => pick(engines).settle([word]))
  }
  const wait = async () => {
    fixture.clock.advance(Math.floor(random() ** 4 * 60_000))
  }
  const tick = async () => {
    await insist(() => pick(engines).tick(5))
  }

  for (let step = 0; step < steps; step += 1) {
    if (random() < 0.1) between.losing = 1
    const together = [pick([enqueue, claim, own, own, own, beat, meddle, wait, tick])]
    if (random() < 0.3) together.push(pick([own, own, beat, meddle, claim]))
    await Promise.all(together.map((act) => act()))
  }
  between.losing = 0
  expect((await verify(fixture.engine)).discrepancies).toEqual([])
  for (const id of ids) expect(await fixture.job(id)).toBeDefined()
}

describe('whatever happens', () => {
  const seeds = Array.from({ length: scaled(60, 3_000) }, (_, n) => n + 1)
  it.each(seeds.filter((seed) => seed % 20 === 1))('the store stays true (seeds from %i)', async (first) => {
    for (const seed of seeds.filter((each) => each >= first && each < first + 20)) {
      await life(seed, 150).catch((cause: unknown) => {
        throw new Error(`seed ${seed}`, { cause })
      })
    }
  })
})
