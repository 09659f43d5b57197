import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { defineJob } from '../../src/library/define-job.ts'
import { open } from '../../src/open.ts'
import { folder, pawl } from './pawl.ts'

const JOBS = 1_000

async function filled(): Promise<string> {
  const home = folder()
  onTestFinished(() => home[Symbol.dispose]())
  const file = home.at('jobs.db')
  await using store = await open(file)
  const job = defineJob({ type: 'kept', queue: 'kept', run: () => undefined })
  await store.enqueueMany(
    job,
    Array.from({ length: JOBS }, (_, n) => ({ n })),
  )
  return file
}

const told = (file: string, ...words: readonly string[]) => pawl([...words, '--url', file])

describe('a file of which pages were overwritten', () => {
  it('is not called healthy by the doctor, nor verified, and both say what to do', async () => {
    const file = await filled()
    const bytes = readFileSync(file)
    bytes.fill(0xa5, bytes.length >> 2, (bytes.length * 3) >> 2)
    writeFileSync(file, bytes)
    const doctor = await told(file, 'doctor')
    expect(doctor.code).toBe(1)
    expect(doctor.stdout).toMatch(/FAILURE file +it is damaged: \w+: .*\n +→ .*backup.*\.recover/)
    const verify = await told(file, 'verify')
    expect(verify.code).toBe(1)
    expect(verify.stdout).toMatch(/unreadable store: table \w+ is damaged: .*backup.*\.recover/)
  })
})

describe('a file that others may read', () => {
  it('is a warning with the command that mends it', async () => {
    const file = await filled()
    chmodSync(file, 0o644)
    const doctor = await told(file, 'doctor')
    expect(doctor.code).toBe(0)
    expect(doctor.stdout).toMatch(/warning permissions.*\n +→ .*chmod 600/)
  })
})

describe('limits that somebody damaged', () => {
  it('are named by verify, and made anew where that is asked for', async () => {
    const home = folder()
    onTestFinished(() => home[Symbol.dispose]())
    const file = home.at('jobs.db')
    const job = defineJob({ type: 'limited', limit: { key: 'site', concurrency: 1 }, run: () => undefined })
    {
      await using store = await open(file)
      await store.enqueueMany(job, [1, 2])
    }
    using db = new DatabaseSync(file)
    db.exec('delete from slot')
    const found = await told(file, 'verify')
    expect(found).toMatchObject({ code: 1, stdout: expect.stringMatching(/^slot store: key site has 0 slots taken/m) })
    const repaired = await told(file, 'verify', '--repair')
    expect(repaired).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Made anew: slots of 1 jobs under 1 keys/m),
    })
    expect(repaired.stdout).toContain('no difference')
    expect((await told(file, 'audit', 'ls')).stdout).toContain('limits.repaired')
    expect(await told(file, 'verify', 'pj_1', '--repair')).toMatchObject({ code: 2 })
  })
})
