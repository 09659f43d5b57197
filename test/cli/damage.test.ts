import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
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
