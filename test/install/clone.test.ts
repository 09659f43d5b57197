import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { spawned } from '../cli/pawl.ts'
import { soaking } from '../support/scale.ts'

/** What a newcomer does, with the registry there is: too slow, and too far out of the house, for every day. */
describe.runIf(soaking)('a fresh clone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-clone-'))
  const clone = join(folder, 'pawl')
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** As in a terminal of the newcomer's: nothing of this run is in the way. */
  const PATH = (process.env['PATH'] ?? '').split(':').filter((part) => !part.includes('node_modules'))
  const env = { HOME: process.env['HOME'] ?? '', PATH: PATH.join(':') }
  const ran = (program: string, ...args: readonly string[]) =>
    spawnSync(program, args, { cwd: existsSync(clone) ? clone : '.', env, encoding: 'utf8' })
  const changed = () => ran('git', 'status', '--short').stdout
  const has = (name: string) => existsSync(join(clone, 'node_modules', name, 'package.json'))

  it('starts with npm start, which installs what running needs and changes nothing else', async () => {
    expect(ran('git', 'clone', '-q', '.', clone).status).toBe(0)
    await using start = spawned('npm', ['start', '--', '--port', '0'], { cwd: clone, env, group: true })
    await start.line(/^pawl serves .* at http/)
    const [, megabytes = ''] = /prepare: done in .* s; node_modules has (\d+) MB/.exec(start.stdout()) ?? []
    expect(Number(megabytes)).toBeGreaterThan(0)
    expect(Number(megabytes)).toBeLessThan(300)
    expect([has('pg'), has('vitest'), changed()]).toEqual([true, false, ''])
  })

  it('packs, as README says, and has everything for that', () => {
    const packed = ran('npm', 'pack', '--foreground-scripts')
    expect(packed.stdout, packed.stderr).toContain('prepare: npm installs everything')
    expect(existsSync(join(clone, 'pawl-0.1.0.tgz'))).toBe(true)
  })

  it('keeps it when it is started again', () => {
    expect([has('vitest'), has('node'), changed()]).toEqual([true, true, ''])
    for (const part of ['run', 'all']) expect(ran('node', 'scripts/prepare.mjs', part).stdout).toBe('')
    expect(has('vitest')).toBe(true)
  })
})
