import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const OPEN = JSON.stringify(new URL('../../src/open.ts', import.meta.url).href)

/** Makes many objects in code that is not optimised, all of which stay alive: what V8 takes for a reason. */
const GUESSED = `
  const make = (n) => ({ n, list: [n] })
  const kept = []
  for (let round = 0; round < 60; round += 1) for (let i = 0; i < 20_000; i += 1) kept.push(make(i))
`
const FLAGS = ['--trace-pretenuring-statistics', '--no-opt', '--no-maglev', '--max-semi-space-size=1']
const ENV = { ...process.env, NODE_OPTIONS: '' }

const decisionsIn = (told: string): number => told.split('\n').filter((line) => line.includes('=> tenure')).length

function decisions(before: string): number {
  const script = ['--input-type=module', '-e', `${before}\n${GUESSED}`]
  return decisionsIn(execFileSync(process.execPath, [...FLAGS, ...script], { encoding: 'utf8', env: ENV }))
}

describe('where objects are made', () => {
  it('is for V8 to guess in a process of the user’s, whether or not pawl is open in it', () => {
    expect(decisions('')).toBeGreaterThan(0)
    expect(decisions(`const { open } = await import(${OPEN}); await (await open('memory:')).close()`)).toBeGreaterThan(
      0,
    )
  })

  it('is not guessed in a process of pawl’s own', () => {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-guess-'))
    try {
      const module = join(folder, 'jobs.mjs')
      writeFileSync(module, GUESSED)
      const args = [...FLAGS, resolve('src/cli/main.ts'), 'work', module, '--url', 'memory:']
      const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', env: ENV })
      expect(stderr).toContain('exports no job')
      expect(decisionsIn(stdout)).toBe(0)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
