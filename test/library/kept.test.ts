// biome-ignore-all lint/suspicious/noThenProperty: what is like a promise is tested too
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { type Context, defineJob, defineSpec, Invalid, JobFailed } from '../../src/index.ts'
import { openTesting, type Testing } from '../../src/testing/testing.ts'

const circle: Record<string, unknown> = {}
circle['round'] = { circle }

/** What JSON would change or lose, and where a refusal must point. */
const LOST: readonly (readonly [what: string, value: unknown, place: string, rule: string])[] = [
  ['a Map', { m: new Map([[1, 2]]) }, '.m', 'a Map would be lost'],
  ['a Set', { deep: [{ s: new Set([1]) }] }, '.deep.0.s', 'a Set would be lost'],
  ['NaN', { x: Number.NaN }, '.x', 'NaN cannot be kept'],
  ['Infinity', [Number.POSITIVE_INFINITY], '.0', 'Infinity cannot be kept'],
  ['a bigint', { n: 1n }, '.n', 'a bigint cannot be kept'],
  ['a function', { f: () => 1 }, '.f', 'a function cannot be kept'],
  ['a cycle', circle, '.round.circle', 'a cycle cannot be kept'],
  ['64 MB', 'x'.repeat(64 * 1024 * 1024), '', '33554432 characters as JSON (JSON_LENGTH_MAX)'],
]

async function failure(testing: Testing, job: { readonly id: string; result(): Promise<unknown> }) {
  await testing.drain()
  const error = await job.result().catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(JobFailed)
  const found = await testing.pawl.get(job.id)
  expect([found?.state, found?.attempt]).toEqual(['failed', 1])
  return found?.error
}

describe.each(LOST)('%s', (_, value, place, rule) => {
  const ends: readonly (readonly [what: string, root: string, stage: string, run: (ctx: Context) => unknown])[] = [
    ['as a result', 'result', 'output', () => value],
    ['as a step’s answer', 'value', 'exec', (ctx) => ctx.step('make', () => value)],
    ['as a checkpoint', 'checkpoint', 'exec', (ctx) => ctx.checkpoint(value)],
  ]

  it.each(ends)('%s ends the job for good, with the place', async (_, root, stage, run) => {
    const job = defineJob({ type: 'job', run: (_: undefined, ctx) => run(ctx) })
    await using testing = await openTesting([job])
    const error = await failure(testing, await testing.pawl.enqueue(job))
    expect(error).toMatchObject({ code: 'not_json', class: 'permanent', stage, context: { path: `${root}${place}` } })
    expect(error?.message).toContain(`${root}${place}: `)
    expect(error?.message).toContain(rule)
  })

  it('as an input or a signal’s payload is refused before anything is sent', async () => {
    const plain = defineSpec({ type: 'plain' })
    await using testing = await openTesting([])
    const { pawl } = testing
    await expect(pawl.enqueue(plain, value)).rejects.toThrow(rule)
    await expect(pawl.enqueueMany(plain, [1, value])).rejects.toThrow(`inputs.1${place}: `)
    const { id } = await pawl.enqueue(plain, 1)
    await expect(pawl.signal(id, 'note', value)).rejects.toThrow(`payload${place}: `)
  })

  it('as a child’s input ends its parent for good, with the place', async () => {
    const plain = defineSpec({ type: 'plain' })
    const parent = defineJob({ type: 'parent', run: (_: undefined, ctx) => ctx.spawn(plain, value) })
    await using testing = await openTesting([parent])
    const error = await failure(testing, await testing.pawl.enqueue(parent))
    expect(error).toMatchObject({ code: 'E_CHILD_REFUSED', class: 'permanent' })
    expect(error?.message).toContain(`input${place}: `)
  })
})

describe('what is kept', () => {
  it('comes back as it was: -0, and text that JSON escapes', async () => {
    const exact = { zero: -0, text: '\u2028\ud800"', list: [null, [], {}] }
    const echo = defineJob({
      type: 'echo',
      async run(input: typeof exact, ctx) {
        const stepped = await ctx.step('same', () => input)
        await ctx.checkpoint(stepped)
        return stepped
      },
    })
    await using testing = await openTesting([echo])
    const job = await testing.pawl.enqueue(echo, exact)
    await testing.drain()
    expect(await job.result()).toEqual(exact)
    expect(await job.input()).toEqual(exact)
    expect(await testing.pawl.body(job.id, 'checkpoint')).toEqual(exact)
    expect(await testing.pawl.body(job.id, 'step/same#1')).toEqual({ step: true, value: exact })
  })

  it('is what a value says of itself: a Date is text, in the first run as in the second, and in its type', async () => {
    const at = new Date(0)
    const dated = defineJob({
      type: 'dated',
      async run(_: undefined, ctx) {
        const step = await ctx.step('when', () => ({
          at,
          tags: ['x'] as readonly string[],
          note: undefined as string | undefined,
        }))
        expectTypeOf(step).toEqualTypeOf<{ at: string; tags: readonly string[]; note: string | undefined }>()
        expect(step.at).toBe('1970-01-01T00:00:00.000Z')
        return { at }
      },
    })
    await using testing = await openTesting([dated])
    const job = await testing.pawl.enqueue(dated)
    await testing.drain()
    const result = await job.result()
    expectTypeOf(result).toEqualTypeOf<{ at: string }>()
    expect(result).toEqual({ at: '1970-01-01T00:00:00.000Z' })
  })

  it('must pass the schema again: what it would refuse at the worker is refused at the producer', async () => {
    const strict = defineJob({ type: 'strict', input: z.object({ at: z.date() }), run: ({ at }) => at.getTime() })
    const lenient = defineJob({
      type: 'lenient',
      input: z.object({ at: z.coerce.date() }),
      run: ({ at }) => at.getTime(),
    })
    const slow = defineJob({
      type: 'slow',
      input: z.object({ at: z.date().refine(async () => true) }),
      run: ({ at }) => at.getTime(),
    })
    const { validate } = strict.input?.['~standard'] ?? {}
    // As good as a promise, and of no class that we know.
    const foreign = defineSpec({
      type: 'foreign',
      input: {
        '~standard': {
          version: 1,
          vendor: 'test',
          validate: (value) => ({ then: (resolve: (answer: unknown) => void) => resolve(validate?.(value)) }) as never,
        },
      } satisfies StandardSchemaV1<{ at: Date }>,
    })
    await using testing = await openTesting([strict, lenient, slow])
    const { pawl } = testing
    for (const job of [strict, slow, foreign]) {
      const error = await pawl.enqueue(job, { at: new Date(5) }).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(Invalid)
      expect((error as Invalid).violations).toEqual([
        { field: 'input.at', rule: expect.stringMatching(/expected date.*as it is kept: in JSON a Date is text/) },
      ])
    }
    const job = await pawl.enqueue(lenient, { at: new Date(5) })
    await testing.drain()
    expect(await job.result()).toBe(5)
  })

  it('is looked at once more only where JSON says something else than the value', async () => {
    let looks = 0
    const counted = defineSpec({ type: 'counted', input: z.object({ n: z.number() }).refine(() => (looks += 1) > 0) })
    await using testing = await openTesting([])
    await testing.pawl.enqueue(counted, { n: 1 })
    expect(looks).toBe(1)
    await testing.pawl.enqueue(counted, { n: -0 })
    expect(looks).toBe(3)
  })

  it('is told at once where a counter or a progress is no number', async () => {
    const wrong = defineJob({
      type: 'wrong',
      run(how: 'count' | 'done' | 'total', ctx) {
        if (how === 'count') ctx.count('pages', Number.NaN)
        else ctx.progress(how === 'done' ? { done: Number.NaN } : { done: 1, total: Number.POSITIVE_INFINITY })
      },
    })
    await using testing = await openTesting([wrong])
    for (const [how, name] of [
      ['count', 'by'],
      ['done', 'done'],
      ['total', 'total'],
    ] as const) {
      const job = await testing.pawl.enqueue(wrong, how)
      await testing.drain()
      expect((await job.job())?.error?.message).toBe(`${name} must be a finite number.`)
    }
  })
})
