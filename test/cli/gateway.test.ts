import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineJob } from '../../src/library/define-job.ts'
import { open } from '../../src/open.ts'
import { eventually } from '../support/eventually.ts'
import { ended, endedJson, folder, json, pawl, type Running, started, WHOLE_FILE_MS } from './pawl.ts'

interface Served {
  readonly url: string
  readonly token?: string
}

const home = folder()
const file = home.at('jobs.db')
let gateway: Running
let env: Record<string, string>
let first: Served
const run = (...words: readonly string[]) => pawl(words, { env })
const runApart = (...words: readonly string[]) => ended(words, { env })
const toldApart = <T = Record<string, unknown>>(...words: readonly string[]) => endedJson<T>(words, { env })
const told = <T = Record<string, unknown>>(...words: readonly string[]) => json<T>(words, { env })

beforeAll(async () => {
  gateway = started(['serve', '--dashboard', '--port', '0', '--json', '--url', file], { longestMs: WHOLE_FILE_MS })
  first = JSON.parse(await gateway.line(/url/)) as Served
  env = { PAWL_URL: first.url, PAWL_TOKEN: String(first.token) }
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  home[Symbol.dispose]()
})

describe('what is told of a job', () => {
  it('links to it in the dashboard, where one is known', async () => {
    const enqueued = await run('enqueue', 'nobody', '--queue', 'links')
    const [, id = ''] = /^(\S+) is enqueued\./.exec(enqueued.stdout) ?? []
    const link = `${first.url}/jobs/${id}`
    expect(enqueued.stdout.trimEnd().split('\n').at(-1)).toBe(link)
    for (const words of [
      ['jobs', 'show', id],
      ['jobs', 'events', id],
      ['explain', id],
      ['jobs', 'cancel', id],
    ])
      expect((await run(...words)).stdout.trimEnd().split('\n').at(-1), words.join(' ')).toBe(link)
    const refused = await run('jobs', 'signal', id, 'x')
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([4, '', expect.stringContaining(`see    ${link}\n`)])
    // The same search there.
    const listed = await run('jobs', 'ls', 'is:cancelling', '--queue', 'links')
    expect(listed.stdout).toContain(`${first.url}/jobs?q=queue%3Alinks+is%3Acancelling\n`)
    const sorted = await run('jobs', 'ls', '--queue', 'links', '--sort', 'due')
    expect(sorted.stdout).toContain(`/jobs?${new URLSearchParams({ q: 'queue:links', sort: 'due' })}`)
    const clicked = await pawl(['jobs', 'ls', '--queue', 'links'], { env, columns: 120 })
    expect(clicked.stdout).toContain(`\u001b]8;;${link}\u001b\\${id}\u001b]8;;\u001b\\`)
    expect((await run('dlq', 'ls')).stdout).not.toContain('undefined')
    for (const words of [
      ['jobs', 'show', id, '--json'],
      ['jobs', 'show', id, '--quiet'],
    ])
      expect((await run(...words)).stdout).not.toContain(link)
  })

  it('links to where somebody says it is, and says when that is nowhere', async () => {
    const { id } = await json<{ id: string }>(['enqueue', 'nobody', '--queue', 'links', '--url', file])
    const shown = await pawl(['jobs', 'show', id, '--url', file])
    expect(shown.stdout).not.toContain('http')
    const said = ['--url', file, '--dashboard-url', 'https://ops.example/jobs-admin/']
    expect((await pawl(['jobs', 'show', id, ...said])).stdout).toContain(
      `\nhttps://ops.example/jobs-admin/jobs/${id}\n`,
    )
    const wrong = await pawl(['jobs', 'show', id, '--url', file], { env: { PAWL_DASHBOARD_URL: 'ops.example' } })
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('no address that a browser could open')])
  })
})

describe('pawl serve', () => {
  it('says where it is in one line of JSON, and shows the first token once', async () => {
    expect(first).toMatchObject({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      token: expect.stringMatching(/^pawl_/),
      store: file,
      auth: true,
    })
    await using second = started(['serve', '--port', '0', '--json', '--url', file])
    expect(JSON.parse(await second.line(/url/))).not.toHaveProperty('token')
    second.child.kill('SIGINT')
    const { code, stdout } = await second.ended
    expect([code, stdout.trimEnd().split('\n').length]).toEqual([0, 1])
  })

  it('serves metrics, and asks for a token of their own, made where the store is', async () => {
    const metrics = async (token: string) =>
      await fetch(`${first.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
    const { secret } = await json<{ secret: string }>(['token', 'create', '--scope', 'metrics', '--url', file])
    expect(await (await metrics(secret)).text()).toContain('pawl_claims_total')
    expect((await metrics(String(first.token))).status).toBe(403)
    expect((await metrics('pawl_0000000000000000_nothing')).status).toBe(401)
    const refused = await run('token', 'create', '--scope', 'metrics')
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('where the store is')])
  })

  it('takes caps by name', async () => {
    await using small = started([
      'serve',
      '--cap',
      'bodyBytes=100',
      '--no-auth',
      '--port',
      '0',
      '--json',
      '--url',
      home.at('small.db'),
    ])
    const { url } = JSON.parse(await small.line(/url/)) as Served
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${url}/v1/jobs`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ type: 'x'.repeat(120) }),
    })
    expect(await answer.json()).toMatchObject({ code: 'TOO_LARGE', cap: 'bodyBytes', most: 100 })
    const unknown = await pawl(['serve', '--cap', 'bodyByte=1', '--url', file])
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('bodyBytes')])
    expect((await pawl(['serve', '--cap', 'bodyBytes=0', '--url', file])).code).toBe(2)
  })

  it('keeps what operators do, for whoever may read it', async () => {
    const { secret } = await told<{ secret: string }>('token', 'create', '--scope', 'auditor', '--name', 'eve')
    await told('queues', 'pause', 'audited')
    const { entries } = await json<{ entries: readonly Record<string, unknown>[] }>(['audit', 'ls'], {
      env: { ...env, PAWL_TOKEN: secret },
    })
    expect(entries.slice(0, 2)).toMatchObject([
      { act: 'queue.paused', about: 'audited', by: 'admin:first', address: '127.0.0.1' },
      { act: 'token.created', reason: 'auditor eve', by: 'admin:first' },
    ])
    expect((await run('audit', 'ls')).code).toBe(1)
    // The same log, with the store at hand.
    const here = await json<{ entries: readonly unknown[] }>(['audit', 'ls', '--url', file])
    expect(here.entries).toEqual(entries)
    expect(await json(['audit', 'verify', '--url', file])).toEqual({ breaches: [] })
    const whole = await json<{ entries: readonly unknown[] }>(['audit', 'ls', '--installation', '--url', file])
    expect(whole.entries).toMatchObject([{ act: 'token.created', reason: 'metrics metrics' }])
  })

  it('refuses a public address without tokens, a port that is taken, and a gateway', async () => {
    const open = await pawl(['serve', '--no-auth', '--host', '0.0.0.0', '--port', '0', '--url', file])
    expect([open.code, open.stderr]).toEqual([2, expect.stringContaining('refusing to serve 0.0.0.0 without tokens')])
    const taken = await pawl(['serve', '--port', new URL(first.url).port, '--url', file])
    expect([taken.code, taken.stderr]).toEqual([2, expect.stringContaining('is taken')])
    expect((await pawl(['serve', '--url', first.url])).code).toBe(2)
  })

  it('does without tokens on loopback', async () => {
    await using loose = started(['serve', '--no-auth', '--port', '0', '--json', '--url', home.at('loose.db')])
    const { url, token } = JSON.parse(await loose.line(/url/)) as Served
    expect(token).toBeUndefined()
    expect(await json(['queues', 'ls', '--url', url])).toEqual({ queues: [] })
    loose.child.kill('SIGTERM')
    expect((await loose.ended).code).toBe(0)
  })
})

describe('what a gateway objects to', () => {
  it('is said in options, not in headers', async () => {
    const stranger = await pawl(['jobs', 'ls'], { env: { PAWL_URL: first.url } })
    expect(stranger.code).toBe(1)
    expect(stranger.stderr).toContain('UNAUTHENTICATED')
    expect(stranger.stderr).toContain('next   Give a valid token with --token, --token-file or PAWL_TOKEN.')
    const { secret } = await told<{ secret: string }>('token', 'create', '--scope', 'viewer')
    const viewer = await pawl(['queues', 'pause', 'q'], { env: { PAWL_URL: first.url, PAWL_TOKEN: secret } })
    expect(viewer.stderr).toContain(
      'next   Give a token whose scope allows it with --token, --token-file or PAWL_TOKEN',
    )
  })

  it('comes with every rule that was broken', async () => {
    const { code, stderr } = await run('enqueue', 'x', '--queue', 'q'.repeat(300))
    expect(code).toBe(2)
    expect(stderr).toMatch(/queue: .*128/)
    const json = JSON.parse((await run('enqueue', 'x', '--queue', 'q', '--priority', '42', '--json')).stderr) as {
      error: { violations: { field: string }[] }
    }
    expect(json.error.violations.map(({ field }) => field)).toEqual(['priority'])
  })
})

describe('verbs over a gateway', () => {
  it('enqueue, show, move, explain', async () => {
    const { id } = await told<{ id: string }>(
      'enqueue',
      'ask',
      '--queue',
      'people',
      '-p',
      'what=this',
      '--id',
      'asked',
      '-l',
      'a=b',
    )
    expect(await told('jobs', 'show', 'asked')).toMatchObject({
      id,
      state: 'queued',
      input: { what: 'this' },
      labels: { a: 'b' },
    })
    expect(
      (
        await told<{ jobs: { id: string }[] }>('jobs', 'ls', '--queue', 'people', '--state', 'queued', '--label', 'a=b')
      ).jobs.map((job) => job.id),
    ).toEqual([id])
    expect(await told('jobs', 'ls', 'label.a:b -type:none* input.what:t* runs:0')).toMatchObject({
      jobs: [{ id }],
      read: 1,
    })
    expect(await told('jobs', 'reschedule', id, '--delay', '1h', '--priority', '3')).toMatchObject({ state: 'queued' })
    expect(await told('explain', id)).toMatchObject({ way: 'delayed' })
    expect((await told<{ events: unknown[] }>('jobs', 'events', id)).events).toHaveLength(2)
    expect(await told('jobs', 'cancel', id)).toMatchObject({ state: 'cancelled' })
    expect(await told('jobs', 'reopen', id)).toMatchObject({ state: 'queued' })
    expect((await run('jobs', 'show', 'pj_vvvv')).code).toBe(3)
    expect((await run('jobs', 'reopen', id)).code).toBe(4)
    expect((await run('jobs', 'ls', '--code', 'x'.repeat(1_000))).code).toBe(2)
  })

  it('admits and denies what is pending', async () => {
    const policy = JSON.stringify({ admission: true })
    const made = () => told('enqueue', 'judged', '--queue', 'judged', '--policy', policy)
    const { id } = await made()
    expect(await told('explain', String(id))).toMatchObject({ way: 'pending', next: expect.stringContaining('admit') })
    expect(await told('jobs', 'admit', String(id), '--rule', 'allow', '--policy-hash', 'p1')).toMatchObject({
      state: 'queued',
    })
    const { events } = await told<{ events: object[] }>('jobs', 'events', String(id))
    const verdict = { rule: 'allow', policyHash: 'p1' }
    expect(events.at(-1)).toMatchObject({ type: 'admitted', payload: { verdict } })
    const { id: other } = await made()
    expect(await told('jobs', 'deny', String(other), '--reason', 'unsafe')).toMatchObject({ state: 'denied' })
    expect(await told('jobs', 'show', String(other))).toMatchObject({
      verdict: { rule: 'by_hand', policyHash: 'none', reason: 'unsafe' },
    })
    expect((await run('jobs', 'admit', String(other))).code).toBe(4)
  })

  it('work, wait, workers, dead letters', async () => {
    const add = defineJob<'add', { a: number }, { sum: number }>({
      type: 'add',
      queue: 'sums',
      run: ({ a }) => ({ sum: a + 1 }),
    })
    const dead = defineJob({
      type: 'dead',
      queue: 'sums',
      run: () => {
        throw new Error('down')
      },
    })
    await using remote = await open(first.url, { token: first.token, log: 'silent' })
    await using worker = remote.work([add, dead], { id: 'far' })
    expect(await toldApart('enqueue', 'add', '--queue', 'sums', '-p', 'a:=1', '--wait')).toMatchObject({
      state: 'succeeded',
      result: { sum: 2 },
    })
    // By its name alone: the gateway knows what the worker has announced.
    expect(await toldApart('enqueue', 'add', '-p', 'a:=2', '--wait')).toMatchObject({ result: { sum: 3 } })
    const unheard = await runApart('enqueue', 'unheard.of')
    expect([unheard.code, unheard.stderr]).toEqual([2, expect.stringContaining('No worker has announced unheard.of')])
    const failed = await runApart(
      'enqueue',
      'dead',
      '--queue',
      'sums',
      '--policy',
      '{"retry":{"attempts":1}}',
      '--wait',
      '--json',
    )
    expect([failed.code, JSON.parse(failed.stderr).error.code]).toEqual([5, 'JobDeadLettered'])
    await eventually('the worker has told of itself', async () =>
      (await toldApart<{ workers: { workerId: string }[] }>('workers', 'ls')).workers.some(
        ({ workerId }) => workerId === 'far',
      ),
    )
    await worker.stop()
    expect((await told<{ jobs: object[] }>('dlq', 'ls')).jobs).toMatchObject([{ type: 'dead', state: 'dead_lettered' }])
    expect(await told('dlq', 'redrive', '--yes')).toMatchObject({ matched: 1, reopened: 1 })
  })

  it('names that a path has to escape', async () => {
    const name = '../a/b x?#%2F.'
    const { id } = await told<{ id: string }>('enqueue', name, '--queue', name, '--id', name, '--delay', '1h')
    expect(await told('jobs', 'show', name)).toMatchObject({ id, queue: name, type: name, alias: name })
    expect(await told('queues', 'pause', name)).toEqual({ queue: name, paused: true })
    expect(await told('explain', name)).toMatchObject({ job: id, way: 'delayed' })
    expect(await told('jobs', 'cancel', name)).toMatchObject({ jobId: id, state: 'cancelled' })
    const refused = await run('enqueue', 'x', '--queue', '..')
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('must not be . or ..')])
    expect((await run('jobs', 'show', '..')).code).toBe(3)
  })

  it('queues, top, tail', async () => {
    expect(await told('queues', 'pause', 'sums')).toEqual({ queue: 'sums', paused: true })
    expect(
      (await told<{ queues: { queue: string; paused: boolean }[] }>('queues', 'ls')).queues.find(
        ({ queue }) => queue === 'sums',
      )?.paused,
    ).toBe(true)
    expect(await told('queues', 'resume', 'sums')).toEqual({ queue: 'sums', paused: false })
    expect((await run('top', '-n', '1', '--json')).stdout).toContain('"oldestQueuedMs"')
    const lines = (await run('tail', '--no-follow', '--json', '--event', 'succeeded')).stdout.trimEnd().split('\n')
    const sum = { jobType: 'add', to: 'succeeded' }
    const ends = lines.map((line) => JSON.parse(line) as { readonly queue: string })
    expect(ends.filter(({ queue }) => queue === 'sums')).toMatchObject([sum, sum])
    await using tail = started(
      ['tail', '--json', '--event', 'enqueued', '--after', JSON.parse(String(lines[0])).position],
      { env },
    )
    await told('enqueue', 'later', '--queue', 'people', '--delay', '1h')
    expect(JSON.parse(await tail.line(/later/))).toMatchObject({ type: 'enqueued', jobType: 'later' })
    tail.child.kill('SIGINT')
    expect((await tail.ended).code).toBe(130)
  })

  it('doctor, machine, export', async () => {
    expect(await told('doctor')).toMatchObject({ ok: true })
    const { checks } = await told<{ checks: { check: string }[] }>('machine', '--check')
    expect(checks.map(({ check }) => check)).toContain('the gateway enforces the same table')
    expect((await runApart('export', '--type', 'add')).stdout).toMatch(
      /^\{"pawl":"job","version":1,.*"output":"\{\\"sum\\":2\}"/,
    )
  })
})

describe('tokens', () => {
  it('are made, listed and revoked, by the gateway and by the store', async () => {
    for (const where of [env, { PAWL_URL: file }]) {
      const made = await json<{ id: string; secret: string }>(
        ['token', 'create', '--scope', 'viewer', '--name', 'eyes', '--expires-in', '1h'],
        { env: where },
      )
      const eyes = { PAWL_URL: first.url, PAWL_TOKEN: made.secret }
      expect((await pawl(['jobs', 'ls'], { env: eyes })).code).toBe(0)
      const refused = await pawl(['queues', 'pause', 'sums'], { env: eyes })
      expect(refused.code).toBe(1)
      const { tokens } = await json<{ tokens: object[] }>(['token', 'ls'], { env: where })
      expect(tokens).toContainEqual(expect.objectContaining({ id: made.id, scope: 'viewer', name: 'eyes' }))
      expect(JSON.stringify(tokens)).not.toContain(made.secret.slice(-43))
      expect(await json(['token', 'revoke', made.id], { env: where })).toMatchObject({
        id: made.id,
        revokedAt: expect.any(String),
      })
      await eventually(
        'it does not work any more',
        async () =>
          (await fetch(`${first.url}/v1/queues`, { headers: { authorization: `Bearer ${made.secret}` } })).status ===
          401,
      )
      expect((await pawl(['token', 'revoke', '0000000000000000'], { env: where })).code).toBe(3)
    }
  })

  it('are asked for', async () => {
    const { code, stderr } = await pawl(['jobs', 'ls', '--url', first.url])
    expect(code).toBe(1)
    expect(stderr).toContain('UNAUTHENTICATED')
    const quiet = await run('token', 'create', '--scope', 'producer', '--quiet')
    expect(quiet.stdout).toMatch(/^pawl_\w{16}_\S{43}\n$/)
  })
})
