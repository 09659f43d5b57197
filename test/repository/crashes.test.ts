import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { corePlace, leavingCores, reporting, takeCores } from '../../scripts/crashes.ts'

const folder = mkdtempSync(join(tmpdir(), 'pawl-crashes-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a core dump', () => {
  it('is looked for where the kernel says it writes them', () => {
    expect(corePlace('core', '/here')).toMatchObject({ folder: '/here', begins: 'core' })
    expect(corePlace('core.%p', '/here')).toMatchObject({ folder: '/here', begins: 'core.' })
    expect(corePlace('/var/crash/core-%e-%p', '/here')).toMatchObject({ folder: '/var/crash', begins: 'core-' })
    const piped = corePlace('|/usr/lib/systemd/systemd-coredump %P %u', '/here')
    expect(piped).toMatchObject({ folder: undefined, told: expect.stringContaining('systemd-coredump') })
  })

  it('is told from other files, and from those of another day', () => {
    const here = join(folder, 'files')
    mkdirSync(here)
    for (const name of ['core', 'core.123', 'core-7', 'corepack.json', 'core.test.ts', 'old'])
      writeFileSync(join(here, name), '')
    const { mtimeMs } = statSync(join(here, 'core'))
    expect(takeCores('none', mtimeMs + 60_000, corePlace('core', here), join(folder, 'none'))).toEqual([])
    expect(takeCores('a part', 0, corePlace('core', here), join(folder, 'some'))).toHaveLength(3)
    expect(readdirSync(here).sort()).toEqual(['core.test.ts', 'corepack.json', 'old'])
  })

  const { folder: somewhere } = corePlace(undefined, folder)
  it.runIf(somewhere === folder)('is left by a process that crashes, and kept', () => {
    const [program = '', ...args] = leavingCores(['sh', '-c', 'kill -SEGV $$'])
    const { signal } = spawnSync(program, args, { cwd: folder })
    expect(signal).toBe('SIGSEGV')
    const limit = spawnSync('sh', ['-c', 'ulimit -H -c'], { encoding: 'utf8' }).stdout.trim()
    const lines = takeCores('a crash', 0, corePlace(undefined, folder), join(folder, 'kept'))
    expect(lines).toHaveLength(limit === '0' ? 0 : 1)
  })
})

describe('a process that Node ends', () => {
  it('leaves a report of its stacks', () => {
    const options = reporting('').replace(/--report-directory=\S+/, `--report-directory=${folder}`)
    const fill = 'const all = []; for (;;) all.push(new Array(1e6).fill({}))'
    const { status, signal } = spawnSync(process.execPath, ['--max-old-space-size=32', '-e', fill], {
      env: { ...process.env, NODE_OPTIONS: options },
      cwd: folder,
    })
    expect([status, signal]).not.toEqual([0, null])
    const [report = ''] = readdirSync(folder).filter((name) => /^report\..*\.json$/.test(name))
    expect(JSON.parse(readFileSync(join(folder, report), 'utf8')).header.event).toMatch(/memory/i)
  })
})
