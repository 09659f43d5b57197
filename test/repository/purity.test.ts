import { describe, expect, it } from 'vitest'
import { places, sources } from '../support/source.ts'

const all = sources('src/**/*.ts')
const core = all.filter(({ path }) => path.startsWith('src/core/'))
const outsideSystem = all.filter(({ path }) => !path.startsWith('src/system/'))

const NOT_DETERMINISTIC = [
  ['the wall clock', /\bDate\.now\b|\bnew Date\(\s*\)|\bDate\(\s*\)/],
  ['the monotonic clock', /\bperformance\.now\b|\bhrtime\b/],
  ['randomness', /\bMath\.random\b|\brandomUUID\b|\brandomBytes\b|\bgetRandomValues\b|\brandomInt\b/],
  ['timers', /\bsetTimeout\b|\bsetInterval\b|\bnode:timers\b|\bAbortSignal\.timeout\b/],
] as const

describe('what is not deterministic', () => {
  it.each(NOT_DETERMINISTIC)('%s: is read in src/system and nowhere else', (_, pattern) => {
    expect(places(outsideSystem, pattern)).toEqual([])
  })

  it('is looked for in the right places', () => {
    const system = all.filter(({ path }) => path.startsWith('src/system/'))
    for (const [, pattern] of NOT_DETERMINISTIC) expect(places(system, pattern)).not.toEqual([])
  })
})

describe('core', () => {
  it('is synchronous', () => {
    expect(places(core, /\basync\b|\bawait\b|\bnew Promise\b|\bPromise[.<]|\bqueueMicrotask\b/)).toEqual([])
  })

  it('touches nothing around it', () => {
    expect(places(core, /\bconsole\b|\bglobalThis\b|\bprocess\.|\bfetch\(|\brequire\(/)).toEqual([])
  })
})
