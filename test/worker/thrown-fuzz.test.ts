/** Values that nobody thought of, thrown and answered in every way a handler can; numbers for the soak in `scale.ts`. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { TransientError } from '../../src/core/thrown.ts'
import { scaled } from '../support/scale.ts'
import { definition, openWorkerFixture } from './worker-fixture.ts'

const NAMES: readonly PropertyKey[] = [
  'message',
  'name',
  'stack',
  'code',
  'cause',
  'errors',
  'errorClass',
  'stage',
  'context',
  'retryAfterMs',
  'then',
  'toJSON',
  'toString',
  'constructor',
  'length',
  Symbol.toStringTag,
  Symbol.toPrimitive,
  Symbol.iterator,
]

const anything = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withNullPrototype: true,
  withObjectString: true,
  withTypedArray: true,
  withSparseArray: true,
})

const words = fc.constantFrom('', '__proto__', '\u0000\n\ud800', 'fatal', 'permanent', 'exec', 'x'.repeat(70_000))

type Property = 'throws' | { readonly value: unknown }

const property: fc.Arbitrary<Property> = fc.oneof(
  fc.constant('throws' as const),
  anything.map((value) => ({ value })),
  words.map((value) => ({ value })),
)

const base = fc.constantFrom(
  () => ({}),
  () => Object.create(null) as object,
  () => new Error('an error'),
  () => new TransientError('ours', { context: { a: 'b' } }),
  () => new AggregateError([new Error('one')], 'many'),
  () => () => {},
  () => [] as object,
  () => Promise.resolve(1) as object,
)

const shell = fc.constantFrom<(object: object) => object>(
  (object) => object,
  (object) => new Proxy(object, {}),
  (object) => new Proxy(object, new Proxy({}, { get: () => fail })),
  (object) => {
    const { proxy, revoke } = Proxy.revocable(object, {})
    revoke()
    return proxy
  },
)

function fail(): never {
  throw new Error('do not touch')
}

/** How to make one, and how that reads: fast-check itself could not look at it. */
const odd = fc
  .record({ base, properties: fc.array(fc.tuple(fc.constantFrom(...NAMES), property), { maxLength: 6 }), shell })
  .map(({ base, properties, shell }) => {
    const make = (): object => {
      const object = base()
      for (const [name, each] of properties) {
        const value = each === 'throws' ? { get: fail } : { value: each.value === undefined ? object : each.value }
        Reflect.defineProperty(object, name, { configurable: true, enumerable: true, ...value })
      }
      return shell(object)
    }
    const words = properties.map(([name, each]) => `${String(name)}: ${fc.stringify(each)}`)
    return Object.assign(make, { [fc.toStringMethod]: () => `${shell} of ${base} with ${words.join(', ')}` })
  })

/** How a handler gets rid of it. */
const WAYS: Readonly<
  Record<string, (value: unknown, ctx: { step: (name: string, work: () => never) => unknown }) => unknown>
> = {
  throws: (value) => {
    throw value
  },
  rejects: (value) => Promise.resolve().then(() => Promise.reject(value)),
  'throws in a step': (value, ctx) =>
    ctx.step('odd', () => {
      throw value
    }),
  returns: (value) => value,
  'resolves with it': async (value) => value,
}

const thing = fc.record({
  make: fc.oneof(
    anything.map((value) => () => value),
    odd,
    odd,
    odd,
  ),
  way: fc.constantFrom(...Object.keys(WAYS)),
})

it(
  'a run has one outcome whatever its handler throws or answers, and its neighbours have theirs',
  async () => {
    const rounds = scaled(12, 1_000)
    await fc.assert(
      fc.asyncProperty(fc.array(thing, { minLength: 20, maxLength: 20 }), async (things) => {
        await using fixture = openWorkerFixture()
        const runs = new Map<string, number>()
        const retry = { attempts: 2, base: 1_000, factor: 1, max: 1_000, jitter: 'none' } as const
        const bad = definition(
          (n: never, ctx) => {
            runs.set(ctx.job.id, (runs.get(ctx.job.id) ?? 0) + 1)
            const { make, way } = things[n] as (typeof things)[number]
            return WAYS[way]?.(make(), ctx as never)
          },
          // What is like a promise may never become one: its run ends by its time limit.
          { retry, timeout: '1s' },
          { type: 'bad' },
        )
        const good = definition(async () => 'done', {}, { type: 'good' })
        const ids: string[] = []
        const neighbours: string[] = []
        for (const n of things.keys()) {
          ids.push(await fixture.enqueue(bad, n))
          neighbours.push(await fixture.enqueue(good))
        }
        const { worker } = fixture.work([bad, good])
        await fixture.time.advance(15_000)
        for (const id of ids) {
          const job = await fixture.load(id)
          const ran = runs.get(id) ?? 0
          expect(job.stalls).toBe(0)
          expect(job.attempt).toBe(ran)
          expect(job.failures).toBe(job.state === 'succeeded' ? ran - 1 : ran)
          expect(['succeeded', 'failed', 'dead_lettered', 'retrying']).toContain(job.state)
        }
        for (const id of neighbours) expect((await fixture.load(id)).state).toBe('succeeded')
        expect(worker).toMatchObject({ running: 0, held: 0 })
      }),
      { numRuns: rounds },
    )
  },
  scaled(120_000, 3_600_000),
)
