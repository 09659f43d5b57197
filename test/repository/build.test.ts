import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'

interface Entry {
  readonly types: string
  readonly default: string
}

/** What is published is not what the other tests run: plain JavaScript, threads and files beside it included. */
describe('the package as it is published', () => {
  beforeAll(() => {
    const run = spawnSync(process.execPath, ['scripts/build.ts'], { encoding: 'utf8' })
    expect(`${run.stdout}${run.stderr}`).toMatch(/^build: \d+ modules/)
    expect(run.status).toBe(0)
  })

  it('has every file that its exports name', () => {
    const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as { exports: Record<string, Entry | string> }
    const files = Object.values(exports).flatMap((entry) =>
      typeof entry === 'string' ? [entry] : [entry.types, entry.default],
    )
    expect(files.filter((file) => !existsSync(file))).toEqual([])
  })

  it('imports nothing by its .ts name', () => {
    expect(readFileSync('dist/index.js', 'utf8')).not.toMatch(/from '[^']*\.ts'/)
  })

  it('keeps a job in a file and runs it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-build-'))
    try {
      const script = join(folder, 'user.mjs')
      writeFileSync(script, userProgram(join(process.cwd(), 'dist/index.js'), join(folder, 'jobs.db')))
      const run = spawnSync(process.execPath, [script], { encoding: 'utf8', timeout: 60_000 })
      expect(run.stderr).toBe('')
      expect(run.stdout).toBe('{"doubled":42}\n')
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

function userProgram(library: string, file: string): string {
  return `
import { defineJob, open } from ${JSON.stringify(library)}
const double = defineJob({ type: 'double', run: (n) => ({ doubled: n * 2 }) })
const pawl = await open(${JSON.stringify(file)})
pawl.work([double])
const job = await pawl.enqueue(double, 21)
console.log(JSON.stringify(await job.result({ timeout: '30s' })))
await pawl.close()
`
}
