import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { scaled } from '../support/scale.ts'

const PROGRAM = fileURLToPath(new URL('./endurance-process.ts', import.meta.url))

it('leaves nothing of many jobs behind: heap at its baseline, no timer, listener or handle', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-endurance-'))
  const jobs = scaled(5_000, 100_000)
  const args = ['--expose-gc', PROGRAM, join(folder, 'jobs.db'), String(jobs)]
  const run = spawnSync(process.execPath, args, { encoding: 'utf8' })
  rmSync(folder, { recursive: true, force: true })
  expect(run.stderr).toBe('')
  const said = JSON.parse(run.stdout) as Record<string, unknown> & { grownBytes: number }
  expect(said).toMatchObject({ done: jobs + 2_000, held: 0, running: 0 })
  // What the engine holds on to is bounded whatever the number of jobs; fifty bytes a job would be seen in a soak.
  expect(said.grownBytes).toBeLessThan(4_000_000)
  expect(said['left']).toEqual(said['before'])
})
