import { describe, expect, it } from 'vitest'
import { Line } from '../../src/policy/line.ts'

/** Everybody stays until they are told. */
function places(line: Line) {
  const under: string[] = []
  const ends = new Map<string, () => void>()
  const come = (name: string) =>
    line.take(name.slice(0, 1), async () => {
      under.push(name)
      await new Promise<void>((resolve) => ends.set(name, resolve))
    })
  const go = async (name: string) => {
    ends.get(name)?.()
    for (let n = 0; n < 10; n += 1) await undefined
  }
  return { under, come, go }
}

describe('a line', () => {
  it('has so many under way, of a tenant fewer, and takes tenants in turns', async () => {
    const { under, come, go } = places(new Line(3, 2))
    const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map(come)
    await go('')
    expect(under).toEqual(['a1', 'a2', 'b1'])
    await go('a1')
    expect(under.at(-1), 'who waited longest, and may').toBe('a3')
    await go('a2')
    expect(under.at(-1)).toBe('b2')
    await go('b1')
    expect(under.at(-1)).toBe('c1')
    for (const name of ['a3', 'b2', 'c1', 'a4']) await go(name)
    await Promise.all(all)
    expect(under).toHaveLength(7)
  })

  it('gives a place back whose work has failed', async () => {
    const line = new Line(1, 1)
    await expect(line.take('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await line.take('a', async () => 7)).toBe(7)
  })
})
