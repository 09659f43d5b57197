// biome-ignore-all lint/suspicious/noThenProperty: what is like a promise is what is tested
/** Whatever a handler throws, or answers with, becomes one failure of one run; nobody else notices. */
import { runInNewContext } from 'node:vm'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { describe, expect, it } from 'vitest'
import type { Job } from '../../src/core/job.ts'
import { PermanentError, TransientError, ValidationError } from '../../src/core/thrown.ts'
import { withoutOwnFrames } from '../../src/worker/own-frames.ts'
import { definition, openWorkerFixture } from './worker-fixture.ts'

const retry = { attempts: 2, base: 1_000, factor: 1, max: 1_000, jitter: 'none' } as const

function thrower(): never {
  throw new Error('the getter threw')
}

/** An error whose property cannot be read. */
const unreadable = (name: PropertyKey, error: object = new Error('still readable')): object =>
  Object.defineProperty(error, name, { get: thrower, enumerable: true })

/** What answers with a promise, as a proxy for something elsewhere does. Nobody listens to this one, and it is rejected. */
const broken = (): Promise<never> => Promise.reject(new Error('the connection is gone'))
const promising = (name: PropertyKey, error: object = new Error('still readable')): object =>
  Object.defineProperty(error, name, { get: broken })

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {})
  revoke()
  return proxy
}

/** A proxy that answers no question at all. */
const silent = (target: object): object =>
  new Proxy(target, new Proxy({}, { get: () => thrower }) as ProxyHandler<object>)

function circular(): Error {
  const error = new Error('circular', { cause: new Error('inner') })
  ;(error.cause as Error).cause = error
  return error
}

function deep(levels: number): Error {
  let error = new Error('the innermost')
  for (let i = 0; i < levels; i += 1) error = new Error(`level ${i}`, { cause: error })
  return error
}

const HUGE = 100 * 1024 * 1024

interface Expected {
  readonly code?: string
  readonly message?: RegExp
  readonly class?: string
}

/** What is thrown, and what the record says about it. */
const SHAPES: readonly (readonly [name: string, make: () => unknown, expected: Expected])[] = [
  ['an error', () => new TypeError('plain'), { code: 'TypeError', message: /^plain$/ }],
  ['text', () => 'just text', { code: 'thrown', message: /^just text$/ }],
  ['nothing', () => undefined, { code: 'thrown', message: /^undefined$/ }],
  ['null', () => null, { code: 'thrown', message: /^null$/ }],
  ['a number', () => Number.NaN, { code: 'thrown', message: /^NaN$/ }],
  ['a bigint', () => 7n, { code: 'thrown', message: /^7n$/ }],
  ['a symbol', () => Symbol('why'), { code: 'thrown', message: /Symbol\(why\)/ }],
  ['a function', () => function guilty() {}, { code: 'thrown', message: /guilty/ }],
  ['a plain object', () => ({ odd: true }), { code: 'thrown', message: /odd: true/ }],
  ['an object that speaks like an error', () => ({ message: 'I am', code: 'E_LIKE' }), { code: 'E_LIKE' }],
  ['an object without a prototype', () => Object.assign(Object.create(null), { a: 1 }), { code: 'thrown' }],
  ['an error without a prototype', () => Object.setPrototypeOf(new Error('orphan'), null), { message: /orphan/ }],
  ['an error of another realm', () => runInNewContext(`new RangeError('far away')`), { code: 'RangeError' }],
  ['context: null', () => new TransientError('x', { context: null as never }), { code: 'transient', message: /^x$/ }],
  ['context that is text', () => new TransientError('x', { context: 'y' as never }), { code: 'transient' }],
  [
    'context that cannot be read',
    () => new TransientError('x', { context: unreadable('a', { b: 1 }) as never }),
    { code: 'transient' },
  ],
  [
    'a class nobody knows',
    () => Object.assign(new Error('fatal!'), { errorClass: 'fatal', code: 'E_OWN' }),
    { code: 'E_OWN', message: /^fatal!$/, class: 'transient' },
  ],
  ['a stage nobody knows', () => new TransientError('x', { stage: 'midnight' as never }), { code: 'transient' }],
  [
    'a retry after nobody knows when',
    () => new TransientError('x', { retryAfterMs: 'soon' as never }),
    { code: 'transient' },
  ],
  ['a code that is a number', () => Object.assign(new Error('x'), { code: 11_000 }), { code: 'Error' }],
  ['a code with a line break', () => Object.assign(new Error('x'), { code: 'a\nb\u0000c' }), { code: 'abc' }],
  ['a code that is cut in two', () => Object.assign(new Error('x'), { code: `${'c'.repeat(127)}😀` }), {}],
  ['a code called __proto__', () => Object.assign(new Error('x'), { code: '__proto__' }), { code: 'error' }],
  ['a message that throws', () => unreadable('message', new RangeError()), { code: 'RangeError' }],
  ['a stack that throws', () => unreadable('stack'), { message: /still readable/ }],
  ['a code that throws', () => unreadable('code'), { message: /still readable/ }],
  ['a cause that throws', () => unreadable('cause'), { message: /still readable/ }],
  ['a name that throws', () => unreadable('name'), { code: 'Error', message: /still readable/ }],
  ['a toStringTag that throws', () => unreadable(Symbol.toStringTag, {}), { code: 'thrown' }],
  ['a then that throws', () => unreadable('then'), { message: /still readable/ }],
  ['a toString that throws', () => ({ toString: thrower, toJSON: thrower }), { code: 'thrown' }],
  ['a revoked proxy', () => revoked({}), { code: 'thrown' }],
  ['a revoked proxy of a function', () => revoked(thrower), { code: 'thrown' }],
  ['a proxy that answers nothing', () => silent(new Error('x')), {}],
  ['a cause that leads back', circular, { message: /^circular$/ }],
  ['a cause of a thousand causes', () => deep(1_000), { message: /^level 999$/ }],
  ['a revoked proxy as the cause', () => new Error('outer', { cause: revoked({}) }), { message: /^outer$/ }],
  ['many errors in one', () => new AggregateError([new Error('a'), revoked([])], 'all'), { code: 'AggregateError' }],
  ['a message that is promised in vain', () => promising('message', {}), { code: 'thrown' }],
  ['an error’s message that is promised in vain', () => promising('message'), { code: 'Error' }],
  ['an error’s name that is promised in vain', () => promising('name'), { message: /still readable/ }],
  ['a toStringTag that is promised in vain', () => promising(Symbol.toStringTag, { a: 1 }), { message: /a: 1/ }],
  ['a toString that is promised in vain', () => promising('toString', {}), { code: 'thrown' }],
  ['an error inside that is promised in vain', () => ({ in: promising('message') }), { message: /in: \[Error/ }],
  ['a cause that is promised in vain', () => promising('cause'), { message: /still readable/ }],
  ['a stage that is promised in vain', () => promising('stage', new TransientError('x')), { code: 'transient' }],
  ['headers that are asked for in vain', () => Object.assign(new Error('x'), { headers: { get: broken } }), {}],
  ['a proxy that asks elsewhere', () => new Proxy(new Error('far'), { get: broken }), { message: /far/ }],
  ['a list of holes', () => Object.assign([], { length: 2 ** 32 - 1 }), { message: /^\[\s+undefined/ }],
  ['a long bigint', () => 1n << 10_000_000n, { message: /more than 1024 bits/ }],
  ['a hundred megabytes', () => new Error('m'.repeat(HUGE)), { message: /^m+…$/ }],
  ['a hundred megabytes of text', () => 'm'.repeat(HUGE), { code: 'thrown', message: /^m+…$/ }],
]

describe('whatever a handler throws', () => {
  it('comes in more shapes than anybody would write tests for', () => {
    expect(SHAPES.length).toBeGreaterThanOrEqual(32)
  })

  const WAYS = ['at once', 'later'] as const
  it.each(SHAPES.flatMap((shape) => WAYS.map((way) => [...shape, way] as const)))(
    'is a failure: %s',
    async (_, make, expected, way) => {
      await using fixture = openWorkerFixture()
      let runs = 0
      const bad = definition(
        () => {
          runs += 1
          const value = make()
          if (way === 'later') return Promise.resolve().then(() => Promise.reject(value))
          throw value
        },
        { retry },
        { type: 'bad' },
      )
      const good = definition(async () => 'done', {}, { type: 'good' })
      const before = await fixture.enqueue(good)
      const id = await fixture.enqueue(bad)
      const { worker } = fixture.work([bad, good])
      await fixture.time.advance(5_000)
      const after = await fixture.enqueue(good)
      await fixture.time.advance(2_000)
      const job = await fixture.load(id)
      expect(job).toMatchObject({ state: 'dead_lettered', failures: 2, stalls: 0, attempt: 2 })
      expect(runs).toBe(2)
      expect(job.error?.code).toBe(expected.code ?? job.error?.code)
      expect(job.error?.class).toBe(expected.class ?? 'transient')
      if (expected.message !== undefined) expect(job.error?.message).toMatch(expected.message)
      for (const attempt of [1, 2]) expect(await fixture.body(id, `error/${attempt}`)).toHaveProperty('message')
      for (const neighbour of [before, after]) expect((await fixture.load(neighbour)).state).toBe('succeeded')
      expect(worker).toMatchObject({ running: 0, held: 0 })
    },
  )

  it('keeps causes and the errors in an error with its stack', async () => {
    await using fixture = openWorkerFixture()
    const bad = definition(() => {
      throw new AggregateError([new Error('first'), 'second'], 'all', { cause: new Error('the cause') })
    })
    const id = await fixture.enqueue(bad)
    fixture.work([bad])
    await fixture.time.settle()
    expect(await fixture.body(id, 'error/1')).toMatchObject({
      name: 'AggregateError',
      cause: { message: 'the cause', stack: expect.stringContaining('at ') },
      errors: [{ message: 'first' }, { message: 'second' }],
    })
  })

  it('is kept with the frames of the handler, and not with those of the worker that called it', async () => {
    await using fixture = openWorkerFixture()
    const bad = definition(async (_input, ctx) =>
      ctx.step('deep', function inAStep() {
        throw new Error('deep')
      }),
    )
    const id = await fixture.enqueue(bad)
    fixture.work([bad])
    await fixture.time.settle()
    const { stack } = (await fixture.body(id, 'error/1')) as { stack: string }
    expect(stack).toMatch(/^Error: deep\n {4}at .*inAStep .*thrown\.test\.ts/)
    expect(stack).not.toMatch(/src\/worker|node:internal/)
  })
})

describe('the frames of the worker', () => {
  const here = '/app/node_modules/pawl/dist/worker/'
  const own = `run (file://${here}execution.js:1:1)`
  const users = 'Object.run (file:///app/mail.js:3:1)'
  const inNode = 'process.processTicksAndRejections (node:internal/process/task_queues:104:5)'
  const stackOf = (...frames: string[]) => ['Error: no', ...frames].join('\n    at ')

  it.each([
    ['beneath a handler’s', [users, own, inNode], [users]],
    ['between a handler’s', [users, own, users, own], [users, users]],
    ['and none but those, or Node’s', [own, inNode], [own, inNode]],
    ['without any', [users, inNode], [users, inNode]],
  ])('%s', (_, frames, left) => {
    expect(withoutOwnFrames(stackOf(...frames), here)).toBe(stackOf(...left))
  })

  it('are not told apart in a bundle', () => {
    expect(withoutOwnFrames(stackOf(users, own), '')).toBe(stackOf(users, own))
  })
})

const circle: { self?: unknown } = {}
circle.self = circle

/** What a handler answers with, and how its job ends. */
const ANSWERS: readonly (readonly [
  name: string,
  make: () => unknown,
  state: Job['state'],
  code: string | undefined,
])[] = [
  ['a promise of another realm', () => runInNewContext(`Promise.resolve('far')`), 'succeeded', undefined],
  ['a thenable', () => ({ then: (done: (value: string) => void) => done('late') }), 'succeeded', undefined],
  [
    'a function that is a thenable',
    () => Object.assign(() => {}, { then: (done: () => void) => done() }),
    'succeeded',
    undefined,
  ],
  ['a thenable that throws', () => ({ then: thrower }), 'retrying', 'Error'],
  ['a then that cannot be read', () => unreadable('then', {}), 'retrying', 'Error'],
  ['a promise whose then throws', () => Object.assign(Promise.resolve(1), { then: thrower }), 'retrying', 'Error'],
  ['something that only looks like a promise', () => Object.create(Promise.prototype), 'retrying', 'TypeError'],
  ['a revoked proxy', () => revoked({}), 'retrying', 'TypeError'],
  ['a promise of a revoked proxy', async () => revoked({}), 'retrying', 'TypeError'],
  ['a proxy that answers nothing', () => silent({}), 'retrying', 'Error'],
  ['a circle', () => Object.assign([], { 0: circle }), 'failed', undefined],
  ['a toJSON that throws', () => ({ toJSON: thrower }), 'failed', undefined],
  ['a property that cannot be read', () => ({ in: unreadable('a', {}) }), 'failed', undefined],
]

describe('whatever a handler answers', () => {
  it.each(ANSWERS)('ends its run, and no other: %s', async (_, make, state, code) => {
    await using fixture = openWorkerFixture()
    let runs = 0
    const odd = definition(
      () => {
        runs += 1
        return make()
      },
      { retry },
      { type: 'odd' },
    )
    const good = definition(async () => 'done', {}, { type: 'good' })
    const [id, neighbour] = [await fixture.enqueue(odd), await fixture.enqueue(good)]
    fixture.work([odd, good])
    await fixture.time.advance(500)
    const job = await fixture.load(id)
    expect(job).toMatchObject({ state, stalls: 0, attempt: 1, failures: state === 'succeeded' ? 0 : 1 })
    if (code !== undefined) expect((job.error ?? job.lastFailure)?.code).toBe(code)
    expect(runs).toBe(1)
    expect((await fixture.load(neighbour)).state).toBe('succeeded')
  })
})

const schema = (validate: (value: unknown) => unknown): StandardSchemaV1 => ({
  '~standard': { version: 1, vendor: 'test', validate: validate as StandardSchemaV1['~standard']['validate'] },
})

/** What a schema does, and how a job of its type fails: at the input before anything has run, at the output afterwards. */
const SCHEMAS: readonly (readonly [name: string, validate: (value: unknown) => unknown, code: string])[] = [
  ['throws', thrower, 'Error'],
  ['rejects', () => Promise.reject(new Error('later')), 'Error'],
  ['throws something odd', () => Promise.reject(revoked({})), 'thrown'],
  ['says that it is invalid by throwing', () => Promise.reject(new PermanentError('no', { code: 'E_NO' })), 'E_NO'],
  ['answers with nothing', () => undefined, 'bad_schema'],
  ['answers with nothing, later', async () => null, 'bad_schema'],
  ['answers with a proxy that was revoked', () => revoked({}), 'TypeError'],
  ['has issues that are no list', () => ({ issues: 7 }), 'TypeError'],
  ['has an issue that cannot be read', () => ({ issues: [unreadable('message', {})] }), 'Error'],
]

describe.each(['input', 'output'] as const)('a schema of the %s', (place) => {
  it.each(SCHEMAS)('that %s fails the job, and no other', async (_, validate, code) => {
    await using fixture = openWorkerFixture()
    const checked = definition(() => 'x', { retry: { ...retry, attempts: 1 } }, { [place]: schema(validate) })
    const good = definition(async () => 'done', {}, { type: 'good' })
    const [id, neighbour] = [await fixture.enqueue(checked, { a: 1 }), await fixture.enqueue(good)]
    fixture.work([checked, good])
    await fixture.time.advance(500)
    const job = await fixture.load(id)
    expect(job).toMatchObject({ stalls: 0, failures: 1, error: { code, stage: place } })
    expect((await fixture.load(neighbour)).state).toBe('succeeded')
  })

  it('that answers with a thenable is waited for', async () => {
    await using fixture = openWorkerFixture()
    const verdict = { issues: [{ message: 'too late' }] }
    const thenable = { then: (done: (value: object) => void) => done(verdict) }
    const checked = definition(() => 'x', {}, { [place]: schema(() => thenable) })
    const id = await fixture.enqueue(checked, { a: 1 })
    fixture.work([checked])
    await fixture.time.advance(500)
    expect(await fixture.load(id)).toMatchObject({ state: 'dead_lettered', error: { code: 'validation_failed' } })
  })
})

it('an error of the job’s own copy of pawl means what it says', async () => {
  await using fixture = openWorkerFixture()
  class Copied extends Error {
    readonly errorClass = 'validation'
    readonly code = 'validation_failed'
  }
  const bad = definition(() => {
    throw new Copied('not one of ours')
  })
  const real = definition(
    () => {
      throw new ValidationError('one of ours')
    },
    {},
    { type: 'real' },
  )
  const ids = [await fixture.enqueue(bad), await fixture.enqueue(real)]
  fixture.work([bad, real])
  await fixture.time.settle()
  for (const id of ids) {
    expect(await fixture.load(id)).toMatchObject({ state: 'dead_lettered', error: { class: 'validation' } })
  }
})
