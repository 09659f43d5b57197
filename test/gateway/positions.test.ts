/** Positions outside: whoever has one can go on from it, and nobody can read how much others do from it. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Positions } from '../../src/gateway/positions.ts'
import { realRandom } from '../../src/system/random.ts'
import { EngineFixture } from '../engine/engine-fixture.ts'

const number = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
const position = fc.oneof(
  number.map(String),
  fc.tuple(number, fc.integer({ min: 0, max: 1_000_000_000 })).map((parts) => parts.join('.')),
)

describe('positions', () => {
  it('come back as they were', async () => {
    const positions = await Positions.of(new EngineFixture().engine, realRandom)
    fc.assert(
      fc.property(position, (text) => {
        expect(positions.open(positions.seal(text))).toBe(text)
      }),
    )
  })

  it('are understood by every gateway of an installation, and by none of another', async () => {
    const fixture = new EngineFixture()
    const sealed = (await Positions.of(fixture.engine, realRandom)).seal('123.4')
    expect((await Positions.of(fixture.another(), realRandom)).open(sealed)).toBe('123.4')
    expect((await Positions.of(new EngineFixture().engine, realRandom)).open(sealed)).not.toBe('123.4')
  })

  it('do not show how far apart they are', async () => {
    const positions = await Positions.of(new EngineFixture().engine, realRandom)
    const sealed = Array.from({ length: 500 }, (_, n) => positions.seal(`${n}.1`))
    expect(new Set(sealed.map((text) => text.length))).toEqual(new Set([22]))
    expect(new Set(sealed).size).toBe(500)
    // Not in their order, and not one that shares its first letters with its neighbour more often than chance would.
    const alike = sealed.filter((text, i) => i > 0 && text.slice(0, 3) === sealed[i - 1]?.slice(0, 3))
    expect(alike.length).toBeLessThan(5)
  })

  it.each(['0', '123.4', 'x', '_'.repeat(22), 'a'.repeat(22), `${'A'.repeat(21)}B`, 'a'.repeat(44), '%00'])(
    'were not told as %s',
    async (text) => {
      expect((await Positions.of(new EngineFixture().engine, realRandom)).open(text)).toBeUndefined()
    },
  )
})
