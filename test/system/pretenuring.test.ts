import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'

const MODULE = JSON.stringify(new URL('../../src/system/pretenuring.ts', import.meta.url).href)

/** Makes many objects in code that is not optimised, all of which stay alive: what V8 takes for a reason. */
const script = (before: string): string => `
  ${before}
  const make = (n) => ({ n, list: [n] })
  const kept = []
  for (let round = 0; round < 60; round += 1) for (let i = 0; i < 20_000; i += 1) kept.push(make(i))
`

function decisions(before: string): number {
  const flags = ['--trace-pretenuring-statistics', '--no-opt', '--no-maglev', '--max-semi-space-size=1']
  const told = execFileSync(process.execPath, [...flags, '--input-type=module', '-e', script(before)], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  return told.split('\n').filter((line) => line.includes('=> tenure')).length
}

describe('where objects are made', () => {
  it('is decided by V8 from the first it sees, unless it is told not to', () => {
    expect(decisions('')).toBeGreaterThan(0)
    expect(decisions(`const { withoutPretenuring } = await import(${MODULE}); withoutPretenuring()`)).toBe(0)
  })

  it('is said once per process', async () => {
    const { withoutPretenuring } = await import('../../src/system/pretenuring.ts')
    const said: string[] = []
    withoutPretenuring((flag) => said.push(flag))
    withoutPretenuring((flag) => said.push(flag))
    expect(said).toEqual(['--no-allocation-site-pretenuring'])
  })
})
