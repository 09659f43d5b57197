import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { DeadLettered } from '../../src/engine.ts'
import { aesGcm, defineJob, type Log, type OpenOptions, open, PermanentError } from '../../src/index.ts'
import type { LogFields } from '../../src/system/log.ts'
import { openAt, PLACES } from '../engine/opened.ts'
import { openGatewayFixture } from '../gateway/gateway-fixture.ts'
import { eventually } from '../support/eventually.ts'

function listening() {
  const lines: (LogFields & { readonly level: string; readonly message: string })[] = []
  const at = (level: string) => (message: string, fields?: LogFields) => void lines.push({ ...fields, level, message })
  const log: Log = { info: () => {}, warn: at('warn'), error: at('error') }
  return { lines, log }
}

const flaky = defineJob({
  type: 'flaky',
  retry: { attempts: 2, base: 1, jitter: 'none' },
  run(): void {
    throw new Error('the kettle is empty')
  },
})

describe('a handler that throws', () => {
  it('is told on standard error, once per attempt, with its stack, unless that is silenced', () => {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-telling-'))
    try {
      const told = (options: string) => {
        const script = join(folder, 'user.ts')
        const library = JSON.stringify(resolve('src/index.ts'))
        writeFileSync(
          script,
          `import { defineJob, open } from ${library}
const flaky = defineJob({ type: 'flaky', retry: { attempts: 2, base: 1, jitter: 'none' }, run() { throw new Error('the kettle is empty') } })
await using pawl = await open('memory:', ${options})
pawl.work([flaky])
await (await pawl.enqueue(flaky)).result({ timeout: '30s' }).catch(() => {})
`,
        )
        const { stderr, stdout, status } = spawnSync(process.execPath, [script], { encoding: 'utf8', timeout: 60_000 })
        expect([stdout, status]).toEqual(['', 0])
        return stderr
      }
      const lines = told('{}')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>)
      expect(lines).toHaveLength(2)
      expect(lines[0]).toMatchObject({
        level: 'warn',
        message: 'handler failed',
        type: 'flaky',
        attempt: 1,
        state: 'retrying',
        code: 'Error',
        reason: 'the kettle is empty',
        stack: expect.stringContaining('user.ts'),
      })
      expect(lines[1]).toMatchObject({ attempt: 2, state: 'dead_lettered' })
      expect(told(`{ log: 'silent' }`)).toBe('')
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('is told with its code only where bodies are encrypted', async () => {
    const { lines, log } = listening()
    const codec = aesGcm({ keys: { k: randomBytes(32) }, current: 'k' })
    const dead: string[] = []
    const onDeadLettered = ({ failure }: DeadLettered) => void dead.push(failure.message)
    await using pawl = await openAt(await PLACES.memory(), { codec, log, onDeadLettered })
    await using _worker = pawl.work([flaky])
    const job = await pawl.enqueue(flaky)
    await expect(job.result({ timeout: '30s' })).rejects.toMatchObject({ name: 'JobDeadLettered' })
    await eventually('both warnings and the hook', () => lines.length === 2 && dead.length === 1)
    // Hooks are the application's own code, which has the key.
    expect(dead).toEqual(['the kettle is empty'])
    expect(lines[0]).toMatchObject({
      code: 'Error',
      reason: 'encrypted; see body error/1 of the job',
      stack: undefined,
    })
    expect(JSON.stringify(lines)).not.toContain('kettle')
  })

  it('is not told where it stops because it was asked to', async () => {
    const { lines, log } = listening()
    const failed: unknown[] = []
    await using pawl = await openAt(await PLACES.memory(), { log, onFailed: (told) => void failed.push(told) })
    const patient = defineJob({
      type: 'patient',
      run: (_: undefined, ctx) =>
        new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))),
    })
    await using _worker = pawl.work([patient])
    const job = await pawl.enqueue(patient)
    await eventually('it to run', async () => (await job.state()) === 'running')
    await job.cancel()
    await eventually('it to be cancelled', async () => (await job.state()) === 'cancelled')
    expect([lines, failed]).toEqual([[], []])
  })
})

describe('hooks', () => {
  const strict = defineJob({ type: 'strict', input: z.object({ n: z.int() }), run: () => 1 })
  const doomed = defineJob({
    type: 'doomed',
    run(): void {
      throw new PermanentError('never', { code: 'E_NEVER' })
    },
  })

  async function told(place: { readonly url: string; readonly token?: string | undefined }) {
    const failed: string[] = []
    const errors: unknown[] = []
    const hooks: OpenOptions = {
      onFailed({ job, attempt, error, state }) {
        failed.push(`${job.spec.kind.type} ${attempt} ${state}`)
        errors.push(error)
      },
    }
    const pawl = await open(place.url, { ...hooks, token: place.token, log: 'silent' })
    pawl.work([flaky, doomed, strict])
    for (const type of [flaky, doomed]) {
      const job = await pawl.enqueue(type)
      await job.result({ timeout: '30s' }).catch(() => {})
    }
    await eventually('all to be told', () => failed.length === 3)
    await pawl.close()
    return { failed, errors }
  }

  it.each(['at hand', 'behind a gateway'])(
    'tell of each attempt that failed, with what was thrown: the store %s',
    async (where) => {
      await using fixture = await openGatewayFixture()
      const place =
        where === 'at hand' ? { url: 'memory:' } : { url: fixture.gateway.url, token: fixture.secrets['acme']?.admin }
      const { failed, errors } = await told(place)
      expect(failed).toEqual(['flaky 1 retrying', 'flaky 2 dead_lettered', 'doomed 1 failed'])
      expect(errors[0]).toBeInstanceOf(Error)
      expect(errors[2]).toMatchObject({ code: 'E_NEVER', errorClass: 'permanent' })
    },
  )

  it('tell of dead letters, by whoever they became so, and of leases that ended without a word', async () => {
    const dead: string[] = []
    const stalled: string[] = []
    const links: (string | undefined)[] = []
    const { lines, log } = listening()
    await using pawl = await openAt(await PLACES.memory(), {
      ticker: { everyMs: 20 },
      dashboardUrl: 'https://ops.example/jobs/',
      log,
      onFailed: ({ link }) => void links.push(link),
      onDeadLettered: ({ job, deadLetter, failure, link }) => {
        dead.push(`${job.id} ${deadLetter.reason} ${failure.code}`)
        links.push(link)
      },
      onStalled: ({ job, attempt, workerId, link }) => {
        stalled.push(`${job.id} ${attempt} ${workerId} ${job.state}`)
        links.push(link)
      },
    })
    await using _worker = pawl.work([flaky, strict])
    const spent = await pawl.enqueue(flaky)
    const invalid = await pawl.enqueue('strict', { n: 'x' }, { queue: 'default' })
    await eventually('both to be told', () => dead.length === 2)
    expect(new Set(dead)).toEqual(
      new Set([`${spent.id} exhausted_retries Error`, `${invalid.id} validation_failed validation_failed`]),
    )
    const left = await pawl.enqueue('left', undefined, {
      queue: 'nobody',
      policy: { lease: '1s', retry: { stalls: 0 } },
    })
    const lanes = [{ tenant: 'default', queue: 'nobody', priority: 5 }]
    await pawl.contract.claimNext({ workerId: 'gone', lanes, requestId: 'c' })
    await eventually('the lease to end', () => stalled.length === 1)
    expect(stalled[0]).toMatch(new RegExp(`^${left.id} 1 gone `))
    await eventually('the third', () => dead.length === 3)
    expect(dead[2]).toBe(`${left.id} infrastructure_failure lease_expired`)
    const linkTo = ({ id }: { readonly id: string }) => `https://ops.example/jobs/jobs/${id}`
    // Of each hook, and of what the log warns of.
    expect(new Set(links)).toEqual(new Set([spent, invalid, left].map(linkTo)))
    expect(lines.find(({ message }) => message === 'handler failed')).toMatchObject({ link: linkTo(spent) })
    await expect(openAt(await PLACES.memory(), { dashboardUrl: 'ops.example' })).rejects.toThrow('is not an address')
  })

  it('harm nobody: whatever they throw, however long they take', async () => {
    const { lines, log } = listening()
    const endless = () => new Promise<void>(() => {})
    const rejecting = async () => {
      throw new Error('tracker down')
    }
    const throwing = () => {
      throw new Error('tracker broken')
    }
    const pawl = await openAt(await PLACES.memory(), { log, onFailed: throwing, onDeadLettered: rejecting })
    pawl.work([flaky, doomed])
    const job = await pawl.enqueue(flaky)
    await expect(job.result({ timeout: '30s' })).rejects.toMatchObject({ name: 'JobDeadLettered' })
    await eventually(
      'the hooks’ own failures to be told',
      () => lines.filter(({ message }) => message === 'a hook failed').length === 3,
    )
    expect(lines.filter(({ level }) => level === 'error').map(({ hook, reason }) => `${hook}: ${reason}`)).toEqual(
      expect.arrayContaining(['onFailed: tracker broken', 'onDeadLettered: tracker down']),
    )
    await pawl.close()
    const patient = await openAt(await PLACES.memory(), { onFailed: endless, onDeadLettered: endless })
    patient.work([flaky])
    const other = await patient.enqueue(flaky)
    await expect(other.result({ timeout: '30s' })).rejects.toMatchObject({ name: 'JobDeadLettered' })
    await patient.close()
  })
})
