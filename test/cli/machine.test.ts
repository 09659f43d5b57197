import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { STATES } from '../../src/core/job.ts'
import { COMMANDS } from '../../src/core/verb.ts'

describe('pawl machine', () => {
  const pawl = (...words: readonly string[]) =>
    spawnSync(process.execPath, ['src/cli/main.ts', 'machine', ...words], { encoding: 'utf8' })
  const table = pawl()
  const run = pawl('--walk')

  it('shows every command and every state of the machine', () => {
    expect(table.stderr).toBe('')
    expect(table.status).toBe(0)
    for (const word of [...COMMANDS, ...STATES]) expect(table.stdout).toContain(word)
  })

  it('walks a job to its end through a lost lease, a refusal, a retry, a wait and a replay', () => {
    expect(run.stderr).toBe('')
    expect(run.status).toBe(0)
    expect(run.stdout.match(/refused [A-Z_]+/g)).toEqual(['refused STALE_FENCE'])
    for (const event of ['stalled', 'requeued', 'retry_scheduled', 'parked', 'signalled', 'succeeded']) {
      expect(run.stdout).toMatch(new RegExp(`\\b${event}\\b +\\w+ → `))
    }
    expect(run.stdout).toContain('replayed: rev')
    expect(run.stdout).toContain('succeeded after 4 runs, 1 failure, 1 lost lease.')
  })

  it('is plain text when nobody looks', () => {
    expect(table.stdout + run.stdout).not.toContain('\u001b')
  })
})
