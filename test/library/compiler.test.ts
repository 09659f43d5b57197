import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import type { Jsonify } from '../../src/engine.ts'
import { type DefinedJob, defineJob, type InputOf, type JobHandle, type OutputOf } from '../../src/index.ts'

const MISTAKES = 'test/library/mistakes/mistakes.ts'

describe('what the compiler says', () => {
  it('of each mistake, where it was made, and of nothing else', () => {
    const tsc = ['node_modules/typescript/bin/tsc', '-p', 'test/library/mistakes', '--pretty', 'false']
    const { stdout } = spawnSync(process.execPath, tsc, { encoding: 'utf8' })
    const found = [...stdout.matchAll(/^\S*mistakes\.ts\((\d+),\d+\): error/gm)].map(([, line]) => Number(line))
    const marked = readFileSync(MISTAKES, 'utf8')
      .split('\n')
      .flatMap((line, i) => (line.endsWith('// ✗') ? [i + 1] : []))
    expect(marked.length).toBeGreaterThan(20)
    expect([...new Set(found)]).toEqual(marked)
    expect(stdout.match(/^\S+\(\d+,\d+\): error/gm)?.filter((line) => !line.includes('mistakes.ts'))).toEqual([])
  })
})

describe('types', () => {
  it('of a job are inferred from its schemas, or from its handler', () => {
    const both = defineJob({
      type: 'both',
      input: z.object({ n: z.string().transform(Number) }),
      output: z.object({ m: z.number() }),
      run: ({ n }) => ({ m: n, more: true }),
    })
    expectTypeOf<InputOf<typeof both>>().toEqualTypeOf<{ n: string }>()
    expectTypeOf<OutputOf<typeof both>>().toEqualTypeOf<{ m: number }>()
    const neither = defineJob({ type: 'neither', run: async (input: { a: number }) => ({ b: input.a }) })
    expectTypeOf(neither).toEqualTypeOf<DefinedJob<'neither', { a: number }, { b: number }>>()
    const stated = defineJob<'stated', { a: number }, number>({ type: 'stated', run: ({ a }) => a })
    expectTypeOf<OutputOf<typeof stated>>().toEqualTypeOf<number>()
  })

  it('of what comes back say what JSON keeps', () => {
    interface Row {
      readonly id: string & { readonly brand: 'id' }
      readonly at: Date
      readonly tags?: readonly string[]
      nested: { at: Date | null }[]
      greet(): string
    }
    expectTypeOf<Jsonify<Row>>().toEqualTypeOf<{
      readonly id: string & { readonly brand: 'id' }
      readonly at: string
      readonly tags?: readonly string[]
      nested: { at: string | null }[]
    }>()
    expectTypeOf<Jsonify<[Date, 1, boolean]>>().toEqualTypeOf<[string, 1, boolean]>()
    expectTypeOf<Jsonify<unknown>>().toBeUnknown()
    expectTypeOf<Jsonify<void>>().toEqualTypeOf<undefined>()
    expectTypeOf<Jsonify<Set<string> | string>>().toEqualTypeOf<string>()
    expectTypeOf<Jsonify<bigint>>().toBeNever()
    // A handle of one kind of job fits among handles of all kinds.
    expectTypeOf<JobHandle<{ a: number }, string>>().toExtend<JobHandle>()
  })
})
