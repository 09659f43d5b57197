/**
 * Work grows with what is sent, and no faster: for every place of every route where there can be many of something,
 * twice as many take at most 2.2 times the steps. Counted, not timed: what seems more is counted again, as whatever else goes on adds to it.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Counted } from './steps-process.ts'

const MOST = 2.2

let counted: readonly Counted[]
beforeAll(async () => {
  const script = fileURLToPath(new URL('./steps-process.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [script], { maxBuffer: 64 * 1024 * 1024 })
  counted = JSON.parse(stdout) as readonly Counted[]
}, 600_000)

const isSample = ({ place }: Counted): boolean => place.startsWith('quadratic')

describe('the steps of a request', () => {
  it('are counted in hundreds of places', () => {
    expect(counted.length).toBeGreaterThan(600)
  })

  it('are at most 2.2 times as many for twice as much', () => {
    const steep = counted.filter((each) => !isSample(each) && each.twice > MOST * each.once)
    expect(steep).toEqual([])
  })

  it('would be seen to grow faster if they did', () => {
    const samples = counted.filter(isSample)
    expect(samples).toHaveLength(2)
    for (const { once, twice } of samples) expect(twice / once).toBeGreaterThan(3.5)
  })
})
