/** Jobs in processes of their own: the same handlers, the same histories, and whatever kills a process costs one job. */
import { describe, expect, it } from 'vitest'
import { startGateway } from '../../src/gateway/serve.ts'
import { defineJob } from '../../src/library/define-job.ts'
import type { Pawl } from '../../src/library/pawl.ts'
import { type OpenOptions, open } from '../../src/open.ts'
import type { LogFields } from '../../src/system/log.ts'
import type { FailedAttempt } from '../../src/worker/failed-attempt.ts'
import { eventually } from '../support/eventually.ts'
import { migratedDatabase } from '../support/migrated-postgres.ts'
import * as jobs from './cell-jobs.ts'

const ALL = [...Object.values(jobs).flat()]

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function opened(options: OpenOptions = {}): Promise<Pawl> {
  return open('memory:', { ticker: { everyMs: 50 }, log: 'silent', ...options })
}

async function pidOf(pawl: Pawl, id: string): Promise<number> {
  return eventually(
    'the handler to say who it is',
    async () => (await pawl.body(id, 'checkpoint')) as number | undefined,
  )
}

describe('a handler in a process of its own', () => {
  it.each(['here', 'behind HTTP'])('can do what it can do elsewhere: %s', async (where) => {
    const lines: string[] = []
    const log = { info: (message: string) => void lines.push(message), warn: () => {}, error: () => {} }
    await using home = await opened({ log })
    await using gateway = await startGateway({ engine: home.engine, auth: false, port: 0 })
    await using remote = await open(gateway.url, { log })
    const pawl = where === 'here' ? home : remote
    await using _worker = pawl.work(ALL)
    const job = await pawl.enqueue(jobs.rich, { cents: 21 })
    await eventually('it waits', async () => (await job.job())?.wait?.name === 'word')
    await job.signal('word', 'hello')
    const result = (await job.result({ timeout: '60s' })) as { pid: number; child: string }
    expect(result).toMatchObject({ doubled: 42, payload: 'hello', kept: { at: 'half' }, attempt: 2 })
    expect(result.pid).not.toBe(process.pid)
    expect(await pawl.result(result.child, { timeout: '60s' })).toBe(process.pid)
    const record = await job.job()
    expect(record).toMatchObject({ counters: { seen: 6 }, artifacts: { report: 's3://bucket/report' }, failures: 0 })
    expect(record?.progress).toMatchObject({ done: 1, total: 2, message: 'half' })
    expect(lines).toContain('from the cell')
    expect((await home.verify()).discrepancies).toEqual([])
  })

  it('is told by its schema what it gets, and is refused what it must not have', async () => {
    await using pawl = await opened()
    await using _worker = pawl.work(ALL)
    const { queue, type, policy } = jobs.rich
    const kind = { tenant: 'default', queue, type, policy }
    const [answer] = await pawl.engine.enqueue([{ actor: 'test', kind, priority: 5, input: '{"cents":"many"}' }])
    if (answer?.ok !== true) throw new Error('refused')
    await expect(pawl.result(answer.job.id, { timeout: '60s' })).rejects.toThrow('no money')
    expect((await pawl.get(answer.job.id))?.deadLetter?.reason).toBe('validation_failed')
  })

  it('ends its run as it likes', async () => {
    await using pawl = await opened()
    await using _worker = pawl.work(ALL)
    const end = async (how: Parameters<typeof jobs.ends.run>[0]) => {
      const job = await pawl.enqueue(jobs.ends, how)
      await job.result({ timeout: '60s' }).catch(() => {})
      return job.job()
    }
    expect(await end('snooze')).toMatchObject({ state: 'succeeded', attempt: 2, failures: 0 })
    expect(await end('cancel')).toMatchObject({ state: 'cancelled', cancel: { reason: 'enough' } })
    expect(await end('deadLetter')).toMatchObject({
      state: 'dead_lettered',
      deadLetter: { reason: 'policy_violation' },
    })
    expect(await end('twoWaits')).toMatchObject({ state: 'failed', error: { code: 'E_TWO_WAITS' } })
    for (const how of ['careless', 'careless wait'] as const) {
      expect(await end(how)).toMatchObject({ state: 'dead_lettered', failures: 1, error: { code: 'bad_request' } })
    }
    expect(await end('tx')).toMatchObject({ state: 'failed', error: { code: 'E_NO_TRANSACTION' } })
  })

  it('has no transaction of its worker, also where there are some', async () => {
    await using database = await migratedDatabase()
    await using pawl = await open(database.url, { migrate: true, log: 'silent' })
    await using _worker = pawl.work(ALL)
    const job = await pawl.enqueue(jobs.ends, 'tx')
    await expect(job.result({ timeout: '60s' })).rejects.toMatchObject({ code: 'E_NO_TRANSACTION' })
  })

  it('throws what it likes, and it is told as if it had been thrown here', async () => {
    await using pawl = await opened()
    await using _worker = pawl.work(ALL)
    const fail = async (what: Parameters<typeof jobs.throws.run>[0]) => {
      const job = await pawl.enqueue(jobs.throws, what)
      await job.result({ timeout: '60s' }).catch(() => {})
      return job.job()
    }
    expect(await fail('permanent')).toMatchObject({
      state: 'failed',
      failures: 1,
      error: { code: 'E_NEVER', class: 'permanent', context: { a: 'b' } },
    })
    expect(await fail('throttled')).toMatchObject({ failures: 2, error: { class: 'throttled' } })
    expect(await fail('revoked')).toMatchObject({ failures: 2, error: { code: 'thrown' } })
    expect(await fail('function')).toMatchObject({ failures: 2, error: { code: 'thrown' } })
    expect((await fail('unclonable answer'))?.state).toBe('failed')
  })

  it('is told of by a warning and a hook, as if it had failed here', async () => {
    const lines: (LogFields & { readonly message: string })[] = []
    const warn = (message: string, fields?: LogFields) => void lines.push({ ...fields, message })
    const told: FailedAttempt[] = []
    const log = { info: () => {}, warn, error: warn }
    await using pawl = await opened({ log, onFailed: (failed) => void told.push(failed) })
    await using _worker = pawl.work(ALL)
    const permanent = await pawl.enqueue(jobs.throws, 'permanent')
    await expect(permanent.result({ timeout: '60s' })).rejects.toMatchObject({ code: 'E_NEVER' })
    const crashed = await pawl.enqueue(jobs.crashes, 'exit')
    await expect(crashed.result({ timeout: '60s' })).rejects.toMatchObject({ code: 'E_CRASH' })
    await eventually('all to be told', () => told.length === 3)
    const stack = expect.stringContaining('cell-jobs.ts')
    const here = { type: 'throws', queue: 'default', tenant: 'default', attempt: 1 }
    expect(lines).toMatchObject([
      { message: 'handler failed', ...here, state: 'failed', code: 'E_NEVER', reason: 'never', stack },
      { message: 'handler failed', type: 'crashes', attempt: 1, state: 'retrying', code: 'E_CRASH' },
      { message: 'handler failed', type: 'crashes', attempt: 2, state: 'dead_lettered', code: 'E_CRASH' },
    ])
    expect(told).toMatchObject([
      { job: { id: permanent.id }, attempt: 1, state: 'failed' },
      { job: { id: crashed.id }, attempt: 1, state: 'retrying' },
      { job: { id: crashed.id }, attempt: 2, state: 'dead_lettered' },
    ])
    const [thrown, crash] = told.map(({ error }) => error)
    expect(thrown).toBeInstanceOf(Error)
    expect(thrown).toMatchObject({ name: 'PermanentError', message: 'never', code: 'E_NEVER', stack })
    expect(crash).toMatchObject({ name: 'CrashError', code: 'E_CRASH' })
  })

  it('is tried again when whoever it asked wants it to', async () => {
    await using pawl = await opened()
    await using _worker = pawl.work(ALL)
    const job = await pawl.enqueue(jobs.throws, 'busy server')
    const record = await eventually('it to fail', async () => {
      const found = await job.job()
      return found?.state === 'retrying' ? found : undefined
    })
    expect(record).toMatchObject({ failures: 1, lastFailure: { code: 'TypeError', message: 'busy' } })
    expect(record.runAt - record.updatedAt).toBeGreaterThanOrEqual(3_600_000)
    expect(record.runAt - record.updatedAt).toBeLessThanOrEqual(3_960_000)
  })

  it('enqueues its children as anybody would: schema, dedupe, queue, policy, names', async () => {
    await using pawl = await opened()
    await using _worker = pawl.work(ALL)
    const spawned = async (what: Parameters<typeof jobs.spawns.run>[0]) => {
      const parent = await pawl.enqueue(jobs.spawns, what)
      const ids = await parent.result({ timeout: '60s' }).catch(() => [])
      return { parent: await parent.job(), children: await Promise.all(ids.map((id) => pawl.get(id))) }
    }
    const bad = await spawned({ kind: 'picky', cents: 'many' })
    expect(bad.parent).toMatchObject({
      state: 'failed',
      failures: 1,
      error: { code: 'E_CHILD_REFUSED', message: expect.stringContaining('no money') },
    })
    const { parent, children } = await spawned({ kind: 'picky', cents: 7 })
    const kind = { queue: 'picky', tenant: 'default', policy: { maxAttempts: 3 } }
    expect(children[0]).toMatchObject({ spec: { dedupeKey: 'cents 7', parentId: parent?.id, kind } })
    expect(children[1]?.id).toBe(children[0]?.id)
    await eventually('the type to be announced', () => pawl.enqueue('picky', { cents: 2 }).catch(() => undefined))
    const named = await spawned({ kind: 'name' })
    expect(named.children[0]).toMatchObject({ priority: 1, spec: { kind, parentId: named.parent?.id } })
  })

  it('undoes its steps there', async () => {
    const lines: string[] = []
    const log = { info: (message: string) => void lines.push(message), warn: () => {}, error: () => {} }
    await using pawl = await opened({ log })
    await using _worker = pawl.work(ALL)
    const job = await pawl.enqueue(jobs.undoes)
    await expect(job.result({ timeout: '60s' })).rejects.toThrow('no')
    expect(lines.filter((line) => line.startsWith('undo'))).toEqual(['undo money', 'undo room'])
  })
})

describe('a process that ends under its job', () => {
  it.each([
    ['abort', /SIGABRT/],
    ['exit', /exit code 3/],
    ['kill', /SIGKILL/],
    ['memory', /SIGABRT.*memory/],
    ['throw', /exit code 1: Error: out of the blue/],
    ['reject', /exit code 1: RangeError: nobody looked/],
  ] as const)('is that job’s own failure, and nobody else’s: %s', async (how, message) => {
    await using pawl = await opened()
    const innocent = defineJob({
      type: 'innocent',
      run: async () => {
        await released.promise
        return 'fine'
      },
    })
    const released = Promise.withResolvers<void>()
    await using worker = pawl.work([...ALL, innocent])
    const neighbours = await pawl.enqueueMany(innocent, [undefined, undefined, undefined])
    const bad = await pawl.enqueue(jobs.crashes, how)
    await expect(bad.result({ timeout: '100s' })).rejects.toMatchObject({ code: 'E_CRASH' })
    expect(await bad.job()).toMatchObject({
      state: 'dead_lettered',
      failures: 2,
      stalls: 0,
      error: { message: expect.stringMatching(message) },
      deadLetter: { reason: 'exhausted_retries' },
    })
    released.resolve()
    for (const job of neighbours) expect(await job.result({ timeout: '20s' })).toBe('fine')
    expect(worker.running).toBe(0)
  })

  it('may have been there for others before: one after the other, and gone with their worker', async () => {
    await using pawl = await opened()
    const worker = pawl.work(ALL, { processes: 1 })
    const pids = []
    for (let n = 0; n < 3; n += 1) pids.push(await (await pawl.enqueue(jobs.which)).result({ timeout: '60s' }))
    expect(new Set(pids).size).toBe(1)
    const [pid] = pids
    expect(isAlive(pid as number)).toBe(true)
    await worker.stop()
    await eventually('the process to end', () => !isAlive(pid as number))
  })

  it('is one of no more than there may be, whatever waits', async () => {
    await using pawl = await opened()
    await using _worker = pawl.work(ALL, { processes: 2, concurrency: 10 })
    const many = await pawl.enqueueMany(
      jobs.which,
      Array.from({ length: 12 }, () => undefined),
    )
    const pids = await Promise.all(many.map((job) => job.result({ timeout: '100s' })))
    expect(new Set(pids).size).toBeLessThanOrEqual(2)
  })
})

describe('a handler that does not listen', () => {
  it('is killed by a hard cancel', async () => {
    await using pawl = await opened()
    await using _worker = pawl.work(ALL)
    const job = await pawl.enqueue(jobs.deaf)
    const pid = await pidOf(pawl, job.id)
    expect(isAlive(pid)).toBe(true)
    await job.cancel({ mode: 'hard' })
    await eventually('the process to end', () => !isAlive(pid))
    expect(await job.job()).toMatchObject({ state: 'cancelled', failures: 0 })
  })

  it('is killed by its time limit', async () => {
    await using pawl = await opened()
    const limited = { ...jobs.deaf, policy: { ...jobs.deaf.policy, attemptMs: 8_000, maxAttempts: 1 } }
    await using _worker = pawl.work([limited])
    const job = await pawl.enqueue(limited)
    const pid = await pidOf(pawl, job.id)
    await expect(job.result({ timeout: '60s' })).rejects.toMatchObject({ code: 'E_TIMEOUT' })
    await eventually('the process to end', () => !isAlive(pid))
  })

  it('is killed when its worker goes away, and handed back', async () => {
    await using pawl = await opened()
    const worker = pawl.work(ALL)
    const job = await pawl.enqueue(jobs.deaf)
    const pid = await pidOf(pawl, job.id)
    await worker.stop({ drain: '1s' })
    expect(await job.job()).toMatchObject({ state: 'queued', failures: 0, stalls: 0 })
    await eventually('the process to end', () => !isAlive(pid))
  })
})

it('a soft cancel reaches the process', async () => {
  await using pawl = await opened()
  await using _worker = pawl.work(ALL)
  const job = await pawl.enqueue(jobs.listens)
  await pidOf(pawl, job.id)
  await job.cancel({ reason: 'enough' })
  await expect(job.result({ timeout: '60s' })).rejects.toMatchObject({ name: 'JobCancelled' })
})

it('a module that cannot be imported is told, and its job fails', async () => {
  await using pawl = await opened()
  await using _worker = pawl.work(ALL)
  const [lost] = jobs.elsewhere
  if (lost === undefined) throw new Error('no job')
  const job = await pawl.enqueue(lost)
  await expect(job.result({ timeout: '60s' })).rejects.toThrow(/nowhere\.ts cannot be imported/)
})

describe('a job whose last attempt ended without a word', () => {
  /** Claimed by somebody who is never heard of again. */
  async function lost(pawl: Pawl, job: typeof jobs.quiet) {
    const handle = await pawl.enqueue(job)
    const lanes = [{ tenant: 'default', queue: job.queue, priority: 5 }]
    await pawl.engine.claim({ requestId: handle.id, workerId: 'gone', lanes, limit: 1 })
    await eventually('it to be missed', async () => (await handle.job())?.stalls === 1)
    return handle
  }
  const brief = { ...jobs.quiet.policy, leaseMs: 1_000, heartbeatMs: 300 }

  it('has a process of its own this time, and not the next', async () => {
    await using pawl = await opened()
    const quiet = { ...jobs.quiet, policy: brief }
    const job = await lost(pawl, quiet)
    await using _worker = pawl.work([quiet])
    expect(await job.result({ timeout: '60s' })).not.toBe(process.pid)
    expect(await (await pawl.enqueue(quiet)).result({ timeout: '20s' })).toBe(process.pid)
  })

  it('runs alone where its module cannot be imported, and that is said', async () => {
    const lines: string[] = []
    const warn = (message: string) => void lines.push(message)
    await using pawl = await opened({ log: { info: () => {}, warn, error: () => {} } })
    const quiet = { ...jobs.quiet, policy: brief, module: new URL('./nowhere.ts', import.meta.url).href }
    const job = await lost(pawl, quiet)
    await using _worker = pawl.work([quiet])
    expect(await job.result({ timeout: '60s' })).toBe(process.pid)
    expect(await job.job()).toMatchObject({ failures: 0, attempt: 3 })
    expect(lines).toContain('a job cannot run in a process of its own: it will run alone')
  })

  it('has no worker started by the module that it is imported from', async () => {
    await using pawl = await opened()
    const quiet = { ...jobs.quiet, policy: brief, module: new URL('./cell-starter.ts', import.meta.url).href }
    const job = await lost(pawl, quiet)
    await using _worker = pawl.work([quiet])
    expect(await job.result({ timeout: '60s' })).toBe(process.pid)
  })
})

it.each([
  [{ isolate: 'process' }, 'module'],
  [{ module: './jobs.ts' }, 'module'],
  [{ isolate: 'thread', module: import.meta.url }, 'isolate'],
  [{ memoryMb: 64 }, 'memoryMb'],
  [{ isolate: 'process', module: import.meta.url, memoryMb: 1.5 }, 'memoryMb'],
])('what makes no sense is refused where the job is defined: %o', (options, field) => {
  const define = () => defineJob({ type: 'x', run: () => 1, ...(options as object) })
  expect(define).toThrow(field)
})
