import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PermanentError } from '../../src/core/thrown.ts'
import { defineJob } from '../../src/library/define-job.ts'
import { open } from '../../src/open.ts'
import type { JobDefinition } from '../../src/worker/definition.ts'
import { eventually } from '../support/eventually.ts'
import { ended, endedJson, folder, json, pawl, type Ran, spawned, started } from './pawl.ts'

const home = folder()
const file = home.at('jobs.db')
const env = { PAWL_URL: file, USER: 'ann' }
const run = (...words: readonly string[]) => pawl(words, { env })
const runApart = (...words: readonly string[]) => ended(words, { env })
const toldApart = <T = Record<string, unknown>>(...words: readonly string[]) => endedJson<T>(words, { env })
const told = <T = Record<string, unknown>>(...words: readonly string[]) => json<T>(words, { env })

/** On a terminal of its own, where questions are asked and bars are drawn. */
async function terminal(words: string, typed = ''): Promise<Ran> {
  const command = `${process.execPath} src/cli/main.ts ${words}`
  await using script = spawned('script', ['-qec', command, '/dev/null'], { env: { ...env, TERM: 'xterm' } })
  if (typed !== '') await eventually('the question', () => script.stdout().includes('[y/N]'), { withinMs: 60_000 })
  script.child.stdin?.end(typed)
  return await script.ended
}

/** Whatever a terminal would obey, and what would turn a line around. */
const HOSTILE = '\u001b[2J\u001b]0;owned\u0007\r\n\u202egnp.exe\u0000\u009b31m'

const ids = { done: '', failed: '', dead: '', waiting: '', queued: '' }

beforeAll(async () => {
  const add = defineJob<'add', { a: number; b: number }, { sum: number }>({
    type: 'add',
    queue: 'sums',
    run: ({ a, b }) => ({ sum: a + b }),
  })
  const bad = defineJob({
    type: 'bad',
    queue: 'sums',
    run: () => {
      throw new PermanentError(`no: ${HOSTILE}`, { code: 'bad_request' })
    },
  })
  const dead = defineJob({
    type: 'dead',
    queue: 'sums',
    retry: { attempts: 1 },
    onExhausted: 'dead_letter',
    run: () => {
      throw new Error('down')
    },
  })
  const ask = defineJob({
    type: 'ask',
    queue: 'people',
    run: async (_, ctx) => (await ctx.waitFor('answer', { timeout: '1h' })).payload,
  })
  await using store = await open(file, { log: 'silent' })
  ids.done = (await store.enqueue(add, { a: 1, b: 2 }, { labels: { customer: HOSTILE }, id: 'first' })).id
  ids.failed = (await store.enqueue(bad, { why: HOSTILE })).id
  ids.dead = (await store.enqueue(dead)).id
  ids.waiting = (await store.enqueue(ask)).id
  await store.enqueue(dead)
  const worker = store.work([add, bad, dead, ask])
  await eventually('the jobs have been run', async () => {
    const { jobs } = await store.find({ states: ['succeeded', 'failed', 'dead_lettered', 'waiting', 'parked'] })
    return jobs.length === 5
  })
  await worker.stop()
  ids.queued = (await store.enqueue(add, { a: 3, b: 4 }, { delay: '1h' })).id
})
afterAll(() => home[Symbol.dispose]())

describe('looking at jobs', () => {
  it('lists them, for people and for programs', async () => {
    const people = await run('jobs', 'ls')
    expect(people.code).toBe(0)
    expect(people.stdout.split('\n')[0]).toMatch(/^ID +TYPE +QUEUE +STATE +RUNS +FAILURES +UPDATED$/)
    expect(people.stdout).toContain('1 of 7')
    const { jobs, cursor } = await told<{ jobs: { id: string; state: string; input?: unknown }[]; cursor?: string }>(
      'jobs',
      'ls',
      '--limit',
      '2',
    )
    expect(jobs.map(({ id }) => id)[0]).toBe(ids.queued)
    const next = await told<{ jobs: { id: string }[] }>('jobs', 'ls', '--limit', '50', '--cursor', String(cursor))
    expect(next.jobs.map(({ id }) => id)).not.toContain(ids.queued)
    expect(jobs.length + next.jobs.length).toBe(6)
  })

  it('narrows them', async () => {
    const some = async (...words: readonly string[]) =>
      (await told<{ jobs: { id: string }[] }>('jobs', 'ls', ...words)).jobs.map(({ id }) => id)
    expect(await some('--state', 'succeeded')).toEqual([ids.done])
    expect(await some('--type', 'bad,ask', '--oldest')).toEqual([ids.failed, ids.waiting])
    expect(await some('--queue', 'people')).toEqual([ids.waiting])
    expect(await some('--code', 'bad_request')).toEqual([ids.failed])
    expect(await some('--label', `customer=${HOSTILE.replaceAll('\u0000', '')}`)).toEqual([])
    expect(await some('type:bad,ask -queue:people')).toEqual([ids.failed])
    expect(await some('code:bad_request class:permanent failures:1')).toEqual([ids.failed])
    expect(await some('input.a:1 runs:1')).toEqual([ids.done])
    expect(await run('jobs', 'ls', 'stat:failed')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('state:failed'),
    })
  })

  it('shows one by its id or its own name, with input and result', async () => {
    const shown = await told('jobs', 'show', 'first')
    expect(shown).toMatchObject({
      id: ids.done,
      state: 'succeeded',
      input: { a: 1, b: 2 },
      output: { sum: 3 },
      alias: 'first',
    })
    expect(await told('jobs', 'show', ids.done, '--dialect', '001')).not.toHaveProperty('output')
    const { events } = await told<{ events: { type: string; requestId: string }[] }>('jobs', 'events', ids.done)
    expect(events.map(({ type }) => type)).toEqual(['enqueued', 'claimed', 'started', 'succeeded'])
    expect((await run('jobs', 'events', ids.done)).stdout).toContain('succeeded')
    expect(
      (await told<{ events: unknown[] }>('jobs', 'events', ids.done, '--dialect', '003')).events.length,
    ).toBeGreaterThan(0)
    expect((await run('jobs', 'result', 'first')).stdout).toBe('{\n  "sum": 3\n}\n')
  })

  it('explains why it does not run, and what a code means', async () => {
    expect(await told('explain', ids.waiting)).toMatchObject({
      job: ids.waiting,
      next: `Send it: pawl jobs signal ${ids.waiting} answer.`,
    })
    expect((await run('explain', ids.queued)).stdout).toContain('delayed')
    expect(await told('explain', 'STALE_FENCE')).toMatchObject({
      kind: 'refusal',
      title: 'Another attempt owns the job',
    })
    expect(await told('explain', 'e_timeout')).toMatchObject({ word: 'E_TIMEOUT', kind: 'error' })
    expect(
      (await told<{ meanings: { kind: string }[] }>('explain', 'validation_failed')).meanings.map(({ kind }) => kind),
    ).toEqual(['error', 'reason'])
    const wrong = await run('explain', 'STALE_FENSE')
    expect(wrong.code).toBe(3)
    expect(wrong.stderr).toContain('Did you mean STALE_FENCE?')
  })
})

describe('whatever a job contains', () => {
  it.each([
    ['jobs', 'ls'],
    ['jobs', 'show', 'first'],
    ['dlq', 'ls', '--failed'],
    ['jobs', 'events', 'first'],
    ['tail', '--no-follow'],
  ])('%s %s shows it and obeys nothing', async (...words) => {
    const { stdout, stderr, code } = await run(...words)
    expect(code).toBe(0)
    expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  })

  it.each([['jobs', 'ls'], ['jobs', 'show', 'first'], ['dlq', 'ls', '--failed'], ['tail', '--no-follow'], ['export']])(
    '%s %s --json escapes it, and is the same JSON',
    async (...words) => {
      const { stdout, code } = await runApart(...words, '--json')
      expect(code).toBe(0)
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/)
      for (const line of stdout.trimEnd().split('\n')) expect(() => JSON.parse(line)).not.toThrow()
    },
  )

  it('goes into a file and comes out of it as it was', async () => {
    const { stdout } = await runApart('export', '--type', 'bad')
    expect(stdout).toMatch(/\\u202egnp\.exe.*\\u009b31m/)
    const [exported] = stdout
      .split('\n')
      .map((line) => JSON.parse(line || 'null') as { bodies: { input: string } } | null)
    expect(JSON.parse(exported?.bodies.input ?? '')).toEqual({ why: HOSTILE })
  })

  it('shows what was taken out of its line', async () => {
    const bad = (await told<{ jobs: { id: string; state: string }[] }>('dlq', 'ls', '--failed')).jobs.find(
      ({ state }) => state === 'failed',
    )
    expect((await run('dlq', 'show', String(bad?.id))).stdout).toContain('\\u001b[2J')
    expect(await told('dlq', 'show', String(bad?.id))).toMatchObject({ input: { why: HOSTILE } })
  })

  it('complains about it as safely', async () => {
    const { stderr, code } = await run('jobs', 'show', `x${HOSTILE.replaceAll('\u0000', '')}`)
    expect(code).toBe(3)
    expect(stderr).not.toContain('\u001b')
    expect(stderr).toContain('\\u001b')
  })
})

describe('moving jobs', () => {
  it('enqueues with words, JSON, a file and standard input', async () => {
    const { id } = await told<{ id: string }>(
      'enqueue',
      'mail',
      '--queue',
      'mail',
      '-p',
      'to=ann',
      '-p',
      'n:=42',
      '-l',
      'a=b',
      '--delay',
      '1h',
      '--priority',
      'batch',
      '--policy',
      '{"retry":{"attempts":2}}',
    )
    const shown = await told('jobs', 'show', id)
    expect(shown).toMatchObject({
      input: { to: 'ann', n: 42 },
      labels: { a: 'b' },
      priority: 7,
      queue: 'mail',
      policy: { maxAttempts: 2 },
    })
    expect((await told<{ events: { actor: string }[] }>('jobs', 'events', id)).events[0]?.actor).toBe('cli:ann')
    writeFileSync(home.at('input.json'), '[1,2]')
    const quiet = await run(
      'enqueue',
      'mail',
      '--queue',
      'mail',
      '--input',
      `@${home.at('input.json')}`,
      '--delay',
      '1h',
      '--quiet',
    )
    expect(quiet.stdout).toMatch(/^pj_\w+\n$/)
    const piped = await ended(
      ['enqueue', 'mail', '--queue', 'mail', '--input', '-', '--id', 'mine', '--delay', '1h', '--json'],
      { env, input: '{"x":null}' },
    )
    expect(await told('jobs', 'show', 'mine')).toMatchObject({ id: JSON.parse(piped.stdout).id, input: { x: null } })
  })

  it('says what a duplicate has done', async () => {
    const key = ['enqueue', 'index', '--queue', 'index', '--dedupe-key', 'shop'] as const
    const words = [...key, '--on-duplicate', 'debounce', '--within', '1h'] as const
    const first = await told<{ id: string }>(...words, '-p', 'n:=1')
    expect(await told(...words, '-p', 'n:=2')).toEqual({
      ...{ id: first.id, deduped: true, replayed: false, effect: 'replaced' },
    })
    expect((await run(...words, '-p', 'n:=3')).stdout).toContain('already, with this input now.')
    expect(await told('jobs', 'show', first.id)).toMatchObject({ input: { n: 3 } })
    expect((await run('jobs', 'cancel', first.id, '--drop-next')).code).toBe(0)
    const wrong = await run(...key, '--on-duplicate', 'merge')
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('keep, replace, debounce')])
    const keyless = await run('enqueue', 'index', '--queue', 'index', '--on-duplicate', 'replace')
    expect([keyless.code, keyless.stderr]).toEqual([2, expect.stringContaining('--dedupe-key')])
  })

  it('reschedules, cancels, reopens; and says who may not', async () => {
    expect(await told('jobs', 'reschedule', 'mine', '--delay', '2h')).toMatchObject({
      state: 'queued',
      replayed: false,
    })
    expect(await told('jobs', 'cancel', 'mine', '--reason', 'no need')).toMatchObject({ state: 'cancelled' })
    const again = await run('jobs', 'cancel', 'first')
    expect(again.code).toBe(4)
    expect(again.stderr).toMatch(/^pawl: ENDED: /)
    expect(again.stderr).toContain('is succeeded (rev')
    expect(again.stderr).toMatch(/next +Reopen the job/)
    expect(await told('jobs', 'retry', 'mine', '--reason', 'after all')).toMatchObject({ state: 'queued' })
    const refused = await pawl(['jobs', 'signal', ids.done, 'answer', '--json'], { env })
    expect(refused.code).toBe(4)
    expect(refused.stdout).toBe('')
    expect(JSON.parse(refused.stderr)).toMatchObject({
      error: { code: 'ENDED', exit: 4, job: ids.done, state: 'succeeded' },
    })
    expect(await told('jobs', 'signal', ids.waiting, 'answer', '-p', 'yes:=true')).toMatchObject({ state: 'queued' })
  })

  it('tells who owns the job', async () => {
    await using store = await open(file, { ticker: false, retention: false, log: 'silent' })
    const held = defineJob({
      type: 'held',
      queue: 'held',
      run: (_, ctx) =>
        new Promise((_done, fail) => ctx.signal.addEventListener('abort', () => fail(ctx.signal.reason))),
    })
    const { id } = await store.enqueue(held)
    await using worker = store.work([held], { id: 'somebody' })
    await eventually('it runs', async () => (await store.get(id))?.state === 'running')
    const refused = await runApart('jobs', 'reschedule', id)
    expect(refused.code).toBe(4)
    expect(refused.stderr).toMatch(/owner +somebody, until 20/)
    const { workers } = await toldApart<{ workers: { workerId: string }[] }>('workers', 'ls')
    expect(workers.map(({ workerId }) => workerId)).toContain('somebody')
    expect(await toldApart('jobs', 'cancel', id)).toMatchObject({ cancelRequested: true })
    expect((await runApart('jobs', 'result', id)).code).toBe(5)
    await worker.stop()
  })

  it('pauses and resumes queues', async () => {
    expect(await told('queues', 'pause', 'mail')).toEqual({ queue: 'mail', paused: true })
    expect((await run('queues', 'ls')).stdout).toMatch(/mail +paused/)
    expect(await told('queues', 'resume', 'mail')).toEqual({ queue: 'mail', paused: false })
    const { queues } = await told<{ queues: { queue: string; counts: Record<string, number>; paused: boolean }[] }>(
      'queues',
      'ls',
    )
    expect(queues.find(({ queue }) => queue === 'sums')).toMatchObject({
      paused: false,
      counts: { succeeded: 1, failed: 1, dead_lettered: 2 },
    })
  })
})

describe('dead letters', () => {
  it('are counted before any of them is reopened', async () => {
    expect(await told('dlq', 'redrive', '--dry-run')).toMatchObject({
      dryRun: true,
      matched: 2,
      reopened: 0,
      counts: [{ type: 'dead', count: 2 }],
    })
    const unasked = await run('dlq', 'redrive')
    expect(unasked.code).toBe(2)
    expect(unasked.stdout).toContain('2 in all.')
    expect(unasked.stderr).toContain('Say --yes')
    const declined = await terminal('dlq redrive', 'n\n')
    expect(declined.stdout).toContain('2 jobs would be reopened. Go on? [y/N]')
    expect(declined.code).toBe(1)
    expect((await run('dlq', 'redrive', '--reason', 'timeout', '--yes')).stdout).toBe('Nothing matches.\n')
    expect(await told('dlq', 'retry', '--type', 'dead', '--yes')).toMatchObject({
      matched: 2,
      reopened: 2,
      refused: [],
    })
    expect((await run('dlq', 'ls')).stdout).toBe('Nothing was put aside.\n')
    expect((await run('dlq', 'redrive', ids.done)).code).toBe(4)
    expect((await run('dlq', 'show', ids.done)).code).toBe(3)
  })
})

describe('what happens', () => {
  it('is told from the beginning, after a position, and by kind', async () => {
    const lines = (text: string) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { position: string; type: string; jobId: string })
    const all = lines((await run('tail', '--no-follow', '--json')).stdout)
    expect(all[0]).toMatchObject({ type: 'enqueued', jobId: ids.done, to: 'queued', queue: 'sums', jobType: 'add' })
    const middle = all[Math.floor(all.length / 2)]
    const rest = lines((await run('tail', '--no-follow', '--json', '--after', String(middle?.position))).stdout)
    expect(rest).toEqual(all.slice(Math.floor(all.length / 2) + 1))
    const failed = lines((await run('tail', '--no-follow', '--json', '--event', 'failed')).stdout)
    expect(failed.map(({ jobId }) => jobId)).toEqual([ids.failed])
    const one = lines((await run('tail', '--no-follow', '--json', '--job', 'first')).stdout)
    expect(new Set(one.map(({ jobId }) => jobId))).toEqual(new Set([ids.done]))
  })

  it('is told as it happens, until somebody interrupts', async () => {
    await using tail = started(['tail', '--json', '--from-start', '--event', 'enqueued', '--type', 'late'], { env })
    const { id } = await told<{ id: string }>('enqueue', 'late', '--queue', 'late', '--delay', '1h')
    expect(JSON.parse(await tail.line(/late/))).toMatchObject({ jobId: id, type: 'enqueued' })
    tail.child.kill('SIGINT')
    expect((await tail.ended).code).toBe(130)
  })

  it('is drawn, and as often as wanted', async () => {
    const frames = (await run('top', '--count', '2', '--interval', '100ms', '--json')).stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(frames).toHaveLength(2)
    expect(frames[0].queues[0].perSecond).toBeUndefined()
    expect(frames[1].queues[0].perSecond).toEqual({ enqueued: 0, succeeded: 0, failed: 0 })
    const drawn = (await run('top', '--count', '1')).stdout
    expect(drawn).toMatch(/QUEUE +QUEUED .* OLDEST/)
    expect(drawn).toMatch(/sums .* \d+ s\n/)
  })
})

describe('the store as a whole', () => {
  it('is verified, one job or all', async () => {
    expect(await told('verify')).toMatchObject({ discrepancies: [] })
    expect((await terminal('verify')).stdout).toMatch(/█+ 100 % verified (\d+) of \1/)
    expect(await told('verify', 'first')).toEqual({ jobs: 1, events: 4, discrepancies: [] })
    expect((await run('verify', '--queue', 'sums')).stdout).toMatch(/^\d+ jobs, \d+ events, no difference\.\n$/)
  })

  it('is healthy, says the doctor', async () => {
    const { ok, findings } = await told<{ ok: boolean; findings: { check: string; status: string }[] }>('doctor')
    expect(findings.map(({ check, status }) => `${check} ${status}`)).toEqual([
      'file ok',
      'store ok',
      'clock ok',
      'hints ok',
      'ticker ok',
      'keeper ok',
    ])
    expect(ok).toBe(true)
    expect((await told<{ jobs: unknown[] }>('jobs', 'ls', '--type', 'pawl.doctor')).jobs).toEqual([])
  })

  it('goes into a file and comes out of it as new jobs, once', async () => {
    const copy = home.at('copy.db')
    const exported = home.at('jobs.jsonl')
    const { exported: count } = await told<{ exported: number }>('export', '-o', exported)
    const lines = readFileSync(exported, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toHaveLength(count)
    expect(lines.find(({ job }) => job.id === ids.done)).toMatchObject({
      pawl: 'job',
      version: 1,
      bodies: { input: '{"a":1,"b":2}', output: '{"sum":3}' },
    })
    expect(readFileSync(exported, 'utf8')).not.toMatch(/"fence":"/)
    const imports = (...words: readonly string[]) => json(['import', exported, '--url', copy, ...words])
    const dry = await imports('--dry-run')
    expect(dry).toMatchObject({ dryRun: true, imported: 0 })
    const live = lines.filter(
      ({ job }) => !['succeeded', 'failed', 'cancelled', 'timed_out', 'denied', 'dead_lettered'].includes(job.state),
    )
    expect(dry['matched']).toBe(live.length)
    const unasked = await pawl(['import', exported, '--url', copy])
    expect(unasked.code).toBe(2)
    expect(await imports('--yes', '--all')).toMatchObject({ imported: count, existing: 0, refused: [] })
    expect(await imports('--yes', '--all')).toMatchObject({ imported: 0, existing: count })
    const first = await json(['jobs', 'show', 'first', '--url', copy])
    expect(first).toMatchObject({ state: 'queued', input: { a: 1, b: 2 }, labels: { 'imported-from': ids.done } })
    expect(await json(['verify', '--url', copy])).toMatchObject({ jobs: count, discrepancies: [] })
    const piped = await ended(['import', '--url', copy, '--dry-run', '--json'], { input: 'nonsense\n' })
    expect([piped.code, JSON.parse(piped.stderr).error.message]).toEqual([2, 'Line 1 is not a line of pawl export.'])
    const spoilt = JSON.stringify({
      ...lines[0],
      job: { ...lines[0].job, policy: { ...lines[0].job.policy, leaseMs: -1 } },
    })
    const refused = await ended(['import', '--url', copy, '--all', '--yes'], { input: spoilt })
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('Line 1: lease')])
  })

  it('is measured, and left as it was', async () => {
    const own = home.at('bench.db')
    const figures = await json<{
      enqueuePerSecond: number
      drainPerSecond: number
      latencyMs: { samples: number }
      left: number
    }>(['bench', '--jobs', '200', '--url', own])
    expect(figures.enqueuePerSecond).toBeGreaterThan(0)
    expect(figures.drainPerSecond).toBeGreaterThan(0)
    expect(figures).toMatchObject({ left: 0, latencyMs: { samples: 50 } })
    expect((await json<{ jobs: unknown[] }>(['jobs', 'ls', '--url', own])).jobs).toEqual([])
  })
})

describe('a worker from the command line', () => {
  it('runs what a module exports, and stops in order', async () => {
    const library = JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)
    writeFileSync(
      home.at('jobs.ts'),
      `
      import { defineJob } from ${library}
      export const double = defineJob({ type: 'double', queue: 'doubles', run: (input: { n: number }) => ({ doubled: input.n * 2 }) })
      export const unrelated = 7
    `,
    )
    await using worker = started(['work', home.at('jobs.ts'), '--json'], { env })
    expect(JSON.parse(await worker.line(/double/))).toMatchObject({
      types: ['double'],
      queues: ['doubles'],
      concurrency: 16,
    })
    const waited = await eventually('the type is announced', async () => {
      const ran = await runApart('enqueue', 'double', '-p', 'n:=21', '--wait', '--timeout', '30s', '--json')
      return ran.code === 0 && (JSON.parse(ran.stdout) as object)
    })
    expect(waited).toMatchObject({ state: 'succeeded', result: { doubled: 42 } })
    worker.child.kill('SIGTERM')
    expect((await worker.ended).code).toBe(0)
    expect((await runApart('work', home.at('nothing.ts'))).code).toBe(3)
    writeFileSync(home.at('empty.ts'), 'export const nothing = 1\n')
    expect((await runApart('work', home.at('empty.ts'))).code).toBe(2)
  })
})

describe('a log that is held against something', () => {
  const module = (what: string) => {
    const library = JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)
    const path = home.at(`${what}.ts`)
    writeFileSync(
      path,
      `
      import { defineJob } from ${library}
      export const traced = defineJob({
        type: 'traced',
        queue: 'traced',
        async run(input: { n: number }, ctx) {
          const half = await ctx.step('${what}', () => input.n / 2)
          await ctx.record('node_finished', 'halve', { half })
          return half
        },
      })
    `,
    )
    return path
  }
  const at = () => ({ env: { PAWL_URL: home.at('traced.db'), USER: 'ann' } })
  let id = ''

  beforeAll(async () => {
    const { traced } = (await import(module('halve'))) as { traced: JobDefinition }
    await using store = await open(home.at('traced.db'), { log: 'silent' })
    await using _ = store.work([traced])
    const job = await store.enqueue('traced', { n: 8 }, { queue: 'traced' })
    id = job.id
    expect(await job.result({ timeout: '20s' })).toBe(4)
  })

  it('by a replay: the same handler does the same, another one differs', async () => {
    const same = await pawl(['jobs', 'replay', id, '--module', module('halve'), '--json'], at())
    expect([same.code, JSON.parse(same.stdout)]).toMatchObject([0, { came: ['halve#1', 'node_finished halve#1'] }])
    const other = await pawl(['jobs', 'replay', id, '--module', module('quarter')], at())
    expect([other.code, other.stdout]).toEqual([1, expect.stringContaining('differs at quarter#1')])
  })

  it('by who attested it', async () => {
    expect((await pawl(['verify', id, '--attest'], at())).code).toBe(0)
    const { entries } = await json<{ entries: readonly object[] }>(['audit', 'ls'], at())
    const attestation = { fromRev: 1, toRev: 6, hash: expect.stringMatching(/^[0-9a-f]{64}$/) }
    expect(entries).toMatchObject([{ act: 'log.verified', about: id, by: 'cli:ann', attestation }])
    expect((await pawl(['verify', id], at())).code).toBe(0)
    expect((await pawl(['verify', '--attest'], at())).code).toBe(2)
  })
})

describe('what operators do where the store is', () => {
  it('is in the audit log: who, what, to which job, from where', async () => {
    const at = home.at('audited.db')
    const here = { env: { PAWL_URL: at, USER: 'ann' } }
    const { id } = await json<{ id: string }>(['enqueue', 'x', '--queue', 'audited', '--delay', '1h'], here)
    const acts = [
      ['jobs', 'reschedule', id, '--delay', '2h'],
      ['jobs', 'cancel', id, '--reason', 'a secret'],
      ['jobs', 'reopen', id],
      ['queues', 'pause', 'audited'],
      ['queues', 'resume', 'audited'],
    ]
    for (const words of acts) expect((await pawl(words, here)).code).toBe(0)
    const { entries } = await json<{ entries: readonly Record<string, string>[] }>(['audit', 'ls'], here)
    const from = { by: 'cli:ann', address: hostname(), agent: 'pawl' }
    expect(entries.toReversed()).toMatchObject([
      { act: 'jobs.rescheduled', about: id, ...from },
      { act: 'jobs.cancelled', about: id, ...from },
      { act: 'jobs.reopened', about: id, ...from },
      { act: 'queue.paused', about: 'audited', ...from },
      { act: 'queue.resumed', about: 'audited', ...from },
    ])
    // Reasons may be sealed with the job, and are nowhere else.
    expect(JSON.stringify(entries)).not.toContain('a secret')
  })
})

describe('what is told of words that somebody made up', () => {
  it.each([[['queues', 'resume', 'a\u202eb']], [['a\u202eb']], [['jobs', 'ls', '--a\u202eb']]])(
    'turns no line around: %j',
    async (words) => {
      const { stdout, stderr } = await pawl(words, { env: { PAWL_URL: home.at('words.db'), USER: 'ann' } })
      expect(stdout + stderr).toContain('a')
      expect(stdout + stderr).not.toContain('\u202e')
    },
  )

  it('is in a file that only its owner may read', async () => {
    const out = home.at('exported.jsonl')
    expect((await run('export', '-o', out)).code).toBe(0)
    expect(statSync(out).mode & 0o777).toBe(0o600)
  })
})
