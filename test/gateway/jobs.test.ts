/** Jobs over HTTP, from creation to result, and every repetition on the way. */

import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { DURATION_RULE } from '../../src/core/duration.ts'
import { openApi } from '../../src/gateway/contract/openapi.ts'
import { ROUTES } from '../../src/gateway/contract/routes.ts'
import { defineJob } from '../../src/index.ts'
import { open } from '../../src/open.ts'
import { eventually } from '../support/eventually.ts'
import { type GatewayFixture, openGatewayFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGatewayFixture()
})
afterAll(async () => fixture[Symbol.asyncDispose]())

interface Claimed {
  readonly job: { readonly id: string; readonly rev: number }
  readonly fence: string
  readonly input?: unknown
}

let queues = 0
/** A job in a queue of its own, claimed. */
async function claimed(words: object = {}): Promise<Claimed & { readonly queue: string }> {
  const queue = `q${queues++}`
  await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'crawl', queue, ...words })
  const { body } = await fixture.ask('worker', 'POST', '/v1/claims', { workerId: 'w', queues: [queue] })
  return { ...((body['jobs'] as Claimed[])[0] as Claimed), queue }
}

describe('duplicates', () => {
  it('say what they did, and their input is what is run', async () => {
    const words = (n: number) => ({
      ...{ type: 'index', queue: 'index', dedupeKey: 'shop', input: { n } },
      dedupe: { onDuplicate: 'debounce', within: '1m' },
    })
    const first = await fixture.ask('producer', 'POST', '/v1/jobs', words(1))
    const second = await fixture.ask('producer', 'POST', '/v1/jobs', words(2))
    expect(first.status).toBe(201)
    expect(second).toMatchObject({ status: 200, body: { id: first.body['id'], deduped: true, effect: 'replaced' } })
    const shown = await fixture.ask('viewer', 'GET', `/v1/jobs/${first.body['id']}`)
    expect(shown.body).toMatchObject({ newer: { input: { name: 'replaced' } } })
    const { body } = await fixture.ask('producer', 'POST', '/v1/jobs:batch', { jobs: [words(3)] })
    expect(body).toMatchObject({ jobs: [{ ok: true, effect: 'replaced' }] })
    const wrong = { ...words(4), dedupe: { onDuplicate: 'debounce' } }
    expect(await fixture.ask('producer', 'POST', '/v1/jobs', wrong)).toMatchObject({
      status: 400,
      body: { violations: [{ field: expect.stringContaining('dedupe.within') }] },
    })
  })
})

describe('Idempotency-Key', () => {
  it('gives the original job for the same words, whatever has become of it', async () => {
    const words = { type: 'crawl', queue: 'idem', input: { a: 1 } }
    const first = await fixture.ask('producer', 'POST', '/v1/jobs', words, { 'idempotency-key': '"k-1"' })
    const again = await fixture.ask('producer', 'POST', '/v1/jobs', words, { 'idempotency-key': '"k-1"' })
    const unquoted = await fixture.ask('producer', 'POST', '/v1/jobs', words, { 'idempotency-key': 'k-1' })
    expect([first.status, again.status, unquoted.status]).toEqual([201, 200, 200])
    expect(new Set([first, again, unquoted].map(({ body }) => body['id'])).size).toBe(1)
    expect(first.headers.get('location')).toBe(`/v1/jobs/${first.body['id']}`)
    await fixture.ask('operator', 'POST', `/v1/jobs/${first.body['id']}/cancel`, { mode: 'hard' })
    const later = await fixture.ask('producer', 'POST', '/v1/jobs', words, { 'idempotency-key': '"k-1"' })
    expect(later.body).toMatchObject({ id: first.body['id'], state: 'cancelled', replayed: true })
  })

  it.each([
    { priority: 'batch' },
    { delay: '1h' },
    { policy: { lease: '5s' } },
    { labels: { a: 'b' } },
    { queue: 'other' },
  ])('is refused with 422 for the same input with %j', async (other) => {
    const words = { type: 'crawl', input: { a: 1 } }
    const key = { 'idempotency-key': JSON.stringify(`k-${Object.keys(other)}`) }
    const first = await fixture.ask('producer', 'POST', '/v1/jobs', words, key)
    const second = await fixture.ask('producer', 'POST', '/v1/jobs', { ...words, ...other }, key)
    expect([first.status, second.status, second.body['code']]).toEqual([201, 422, 'KEY_REUSED'])
    expect(second.body['holder']).toBe(first.body['id'])
  })

  it('may stand in the body, in a batch as well, and then says the same as the header', async () => {
    const words = { type: 'crawl', idempotencyKey: 'k-body', input: 1 }
    const first = await fixture.ask('producer', 'POST', '/v1/jobs', words)
    const { idempotencyKey: _, ...rest } = words
    const again = await fixture.ask('producer', 'POST', '/v1/jobs', rest, { 'idempotency-key': '"k-body"' })
    expect([first.status, again.status, again.body['id']]).toEqual([201, 200, first.body['id']])
    const batch = await fixture.ask('producer', 'POST', '/v1/jobs:batch', { jobs: [words, { ...words, priority: 1 }] })
    expect(batch.body['jobs']).toMatchObject([
      { ok: true, replayed: true },
      { problem: { code: 'KEY_REUSED', status: 422 } },
    ])
    const torn = await fixture.ask('producer', 'POST', '/v1/jobs', words, { 'idempotency-key': '"another"' })
    expect(torn.status).toBe(400)
  })

  it('is refused with 422 for other words, and belongs to its tenant', async () => {
    await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'crawl', input: 1 }, { 'idempotency-key': '"k-2"' })
    const other = await fixture.ask(
      'producer',
      'POST',
      '/v1/jobs',
      { type: 'crawl', input: 2 },
      { 'idempotency-key': '"k-2"' },
    )
    expect(other).toMatchObject({ status: 422, body: { code: 'KEY_REUSED' } })
    const rival = await fixture.ask(
      fixture.secrets['rival']?.producer,
      'POST',
      '/v1/jobs',
      { type: 'crawl', input: 2 },
      { 'idempotency-key': '"k-2"' },
    )
    expect(rival.status).toBe(201)
  })

  it('makes one job of a hundred calls at once: the rest are told so, or told to wait', async () => {
    const calls = await Promise.all(
      Array.from({ length: 100 }, () =>
        fixture.ask('producer', 'POST', '/v1/jobs', { type: 'crawl', queue: 'rush' }, { 'idempotency-key': '"rush"' }),
      ),
    )
    expect(calls.filter(({ status }) => status === 201)).toHaveLength(1)
    for (const { status } of calls) expect([200, 201, 409]).toContain(status)
    const { body } = await fixture.ask('viewer', 'GET', '/v1/jobs?queue=rush')
    expect(body['jobs']).toHaveLength(1)
  })

  it.each(['""', '"unfinished', 'x'.repeat(300)])('must be a key: %s', async (key) => {
    expect((await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'x' }, { 'idempotency-key': key })).status).toBe(
      400,
    )
  })
})

describe('a job', () => {
  it('keeps its input to the letter', async () => {
    const text =
      '{"type":"crawl","queue":"exact","input":{"n":9007199254740993,"z":-0,"b":1,"a":[],"__proto__":{"x":1},"u":"\\ud800"}}'
    await fixture.ask('producer', 'POST', '/v1/jobs', text)
    const { text: answer } = await fixture.ask('worker', 'POST', '/v1/claims', { workerId: 'w', queues: ['exact'] })
    expect(answer).toContain('"input":{"n":9007199254740993,"z":-0,"b":1,"a":[],"__proto__":{"x":1},"u":"\\ud800"}')
  })

  it('is worked on: start, heartbeat, progress, checkpoint, record, complete, result', async () => {
    const { job, fence } = await claimed({ input: { url: 'x' } })
    const say = (word: string, words: object = {}) =>
      fixture.ask('worker', 'POST', `/v1/jobs/${job.id}/${word}`, { fence, ...words })
    expect((await say('start')).body).toMatchObject({ state: 'running' })
    const beat = await say('heartbeat')
    expect(Date.parse(String(beat.body['leaseExpiresAt']))).toBeGreaterThan(
      Date.parse(String(beat.headers.get('date'))),
    )
    expect((await say('progress', { progress: { done: 1, total: 2 }, counters: { urls_total: 3 } })).status).toBe(200)
    expect((await say('checkpoint', { state: { page: 7 } })).status).toBe(200)
    expect((await say('record', { step: { name: 'fetch', value: { ok: true } } })).status).toBe(200)
    expect((await say('complete', { result: { chunks: 2 }, stats: { urls_total: 1 } })).body).toMatchObject({
      state: 'succeeded',
    })
    const shown = await fixture.ask('operator', 'GET', `/v1/jobs/${job.id}?bodies=output,checkpoint,step/`)
    expect(shown.body).toMatchObject({
      state: 'succeeded',
      counters: { urls_total: 4 },
      bodies: { output: '{"chunks":2}', checkpoint: '{"page":7}', 'step/fetch': '{"ok":true}' },
    })
    const result = await fixture.ask('producer', 'GET', `/v1/jobs/${job.id}/result`)
    expect(result.body).toMatchObject({ state: 'succeeded', result: { chunks: 2 } })
  })

  it('whose bodies were removed says so, instead of an empty result', async () => {
    const { job, fence } = await claimed({ input: { url: 'x' } })
    const path = `/v1/jobs/${job.id}`
    await fixture.ask('worker', 'POST', `${path}/complete`, { fence, result: { chunks: 2 } })
    const strip = { type: 'strip', actor: 'system:retention', requestId: 'strip' } as const
    expect(await fixture.pawl.engine.settle([{ id: job.id, command: strip }])).toMatchObject([{ ok: true }])
    const result = await fixture.ask('producer', 'GET', `${path}/result`)
    expect([result.status, result.body]).toMatchObject([410, { code: 'STRIPPED', state: 'succeeded' }])
    const { body } = await fixture.ask('operator', 'GET', `${path}?bodies=input,output`)
    expect(body).toMatchObject({ state: 'succeeded', bodies: {}, strippedAt: expect.any(String) })
    await using remote = await open(fixture.gateway.url, { token: fixture.secrets['acme']?.operator })
    const bare = { name: 'Refused', code: 'STRIPPED' }
    await expect(remote.result(job.id)).rejects.toMatchObject(bare)
    await expect(remote.body(job.id, 'input')).rejects.toMatchObject(bare)
    await expect(fixture.pawl.body(job.id, 'input')).rejects.toMatchObject(bare)
  })

  it('answers a repeated word as it did, and a late one with who owns the job', async () => {
    const { job, fence } = await claimed()
    const words = { fence, requestId: 'once', code: 'E_5XX_ORIGIN', message: 'bad gateway' }
    const first = await fixture.ask('worker', 'POST', `/v1/jobs/${job.id}/fail`, words)
    const again = await fixture.ask('worker', 'POST', `/v1/jobs/${job.id}/fail`, words)
    expect(first.body).toMatchObject({ state: 'retrying', replayed: false })
    expect(again.body).toMatchObject({ rev: first.body['rev'], state: 'retrying', replayed: true })
    const late = await fixture.ask('worker', 'POST', `/v1/jobs/${job.id}/complete`, { fence })
    expect(late).toMatchObject({
      status: 409,
      body: { code: 'STALE_FENCE', jobId: job.id, state: 'retrying', command: 'complete' },
    })
    expect(String(late.body['next']).length).toBeGreaterThan(10)
    expect(late.headers.get('content-type')).toBe('application/problem+json')
  })

  it('tells its worker of a requested cancel', async () => {
    const { job, fence } = await claimed()
    await fixture.ask('operator', 'POST', `/v1/jobs/${job.id}/cancel`, { reason: 'enough' })
    const beat = await fixture.ask('worker', 'POST', `/v1/jobs/${job.id}/heartbeat`, { fence })
    expect(beat.body).toMatchObject({ cancel: { mode: 'soft', reason: 'enough' } })
  })

  it('waits for a signal and finds it', async () => {
    const { job, fence, queue } = await claimed()
    await fixture.ask('worker', 'POST', `/v1/jobs/${job.id}/start`, { fence })
    expect(
      (await fixture.ask('worker', 'POST', `/v1/jobs/${job.id}/wait`, { fence, name: 'approved', timeout: '2d' })).body,
    ).toMatchObject({ state: 'parked' })
    expect((await fixture.ask('producer', 'GET', `/v1/jobs/${job.id}/explain`)).body).toMatchObject({ way: 'parked' })
    expect(
      (await fixture.ask('operator', 'POST', `/v1/jobs/${job.id}/signal`, { name: 'approved', payload: { by: 'ann' } }))
        .body,
    ).toMatchObject({ state: 'queued' })
    const { body } = await fixture.ask('worker', 'POST', '/v1/claims', { workerId: 'w', queues: [queue] })
    expect(body['jobs']).toHaveLength(1)
    const shown = await fixture.ask('worker', 'GET', `/v1/jobs/${job.id}?bodies=step/,signal/`)
    expect(shown.body['bodies']).toEqual({ 'step/approved': '{"signal":1}', 'signal/1': '{"by":"ann"}' })
  })

  it('is put aside, listed, and reopened', async () => {
    const { job, fence } = await claimed({ policy: { retry: { attempts: 1 } } })
    await fixture.ask('worker', 'POST', `/v1/jobs/${job.id}/fail`, { fence, code: 'E_QDRANT', stack: 'at somewhere' })
    const listed = await fixture.ask('viewer', 'GET', '/v1/dead-letters')
    expect((listed.body['jobs'] as { id: string }[]).map(({ id }) => id)).toContain(job.id)
    expect((await fixture.ask('operator', 'GET', `/v1/dead-letters/${job.id}`)).body).toMatchObject({
      deadLetter: { reason: 'dependency_unavailable' },
    })
    expect((await fixture.ask('operator', 'POST', `/v1/dead-letters/${job.id}/reopen`, {})).body).toMatchObject({
      state: 'queued',
    })
  })

  it('is told in the words of every document', async () => {
    const { job } = await claimed()
    for (const dialect of ['000', '000A', '000B', '001', '002', '003', '004']) {
      for (const path of [`/v1/jobs/${job.id}`, `/v1/jobs/${job.id}/events`, '/v1/jobs', '/v1/machine']) {
        const { status } = await fixture.ask('viewer', 'GET', `${path}?dialect=${dialect}`)
        expect(status).toBe(200)
      }
    }
  })
})

it('an entry of a dialect’s log that nobody caused says so', async () => {
  const { body: made } = await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'crawl', queue: 'untouched' })
  await fixture.ask('operator', 'POST', `/v1/jobs/${made['id']}/cancel`, { mode: 'hard' })
  const { body } = await fixture.ask('viewer', 'GET', `/v1/jobs/${made['id']}/events?dialect=001`)
  const log = (body['events'] as { type: string; implied?: boolean }[]).map(({ type, implied }) => [type, implied])
  expect(log).toEqual([
    ['enqueued', undefined],
    ['claimed', true],
    ['started', true],
    ['failed', true],
  ])
})

describe('a type that a worker has announced', () => {
  it('brings its queue and its policy, unless the words bring either', async () => {
    const announced = defineJob({ type: 'announced', tenant: 'acme', queue: 'theirs', lease: '77s', run: () => 1 })
    await using _worker = fixture.pawl.work([announced])
    const key = JSON.stringify(['acme', 'announced'])
    await eventually('it is announced', async () => {
      const [answer] = await fixture.pawl.engine.settings([{ op: 'get', collection: 'type', key }])
      return answer?.settings.length === 1
    })
    const asked = async (words: object) => {
      const { body } = await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'announced', ...words })
      const shown = await fixture.ask('producer', 'GET', `/v1/jobs/${String(body['id'])}?policy=true`)
      const { queue, policy } = shown.body as { queue: string; policy: { leaseMs: number } }
      return [queue, policy.leaseMs]
    }
    expect(await asked({})).toEqual(['theirs', 77_000])
    expect(await asked({ queue: 'theirs' })).toEqual(['theirs', 77_000])
    expect(await asked({ queue: 'mine' })).toEqual(['mine', 77_000])
    expect(await asked({ policy: { lease: '5s' } })).toEqual(['theirs', 5_000])
    expect(await asked({ queue: 'mine', policy: { lease: '5s' } })).toEqual(['mine', 5_000])
    const { body } = await fixture.ask('producer', 'POST', '/v1/jobs:batch', {
      jobs: [{ type: 'announced' }, { type: 'x' }],
    })
    const jobs = body['jobs'] as readonly { job: { queue: string } }[]
    expect(jobs.map(({ job }) => job.queue)).toEqual(['theirs', 'default'])
    const rival = await fixture.ask(fixture.secrets['rival']?.producer, 'POST', '/v1/jobs', { type: 'announced' })
    expect(rival.body['queue']).toBe('default')
  })
})

describe('a duration that is none', () => {
  it('is answered with what one looks like, not with a pattern', async () => {
    const { status, body } = await fixture.ask('producer', 'POST', '/v1/jobs', { type: 't', delay: '5 parsecs' })
    expect([status, body['violations']]).toEqual([400, [{ field: 'body.delay', rule: DURATION_RULE }]])
  })
})

describe('announcements', () => {
  it('are made by workers over HTTP, for the queues their tokens are for, and read by everybody', async () => {
    const path = '/v1/types/mail%2Fsend'
    expect((await fixture.ask('producer', 'GET', path)).status).toBe(404)
    expect((await fixture.ask('producer', 'PUT', path, { queue: 'mail' })).status).toBe(403)
    const bound = await fixture.gateway.tokens.create({ name: 'b', scope: 'worker', tenant: 'acme', queues: ['other'] })
    expect((await fixture.ask(bound.secret, 'PUT', path, { queue: 'mail' })).status).toBe(403)
    const bad = await fixture.ask('worker', 'PUT', path, { queue: 'mail', policy: { lease: '1ms' } })
    expect([bad.status, JSON.stringify(bad.body['violations'])]).toEqual([400, expect.stringContaining('policy.lease')])
    const made = await fixture.ask('worker', 'PUT', path, { queue: 'mail', policy: { retry: { attempts: 2 } } })
    expect(made).toMatchObject({ status: 200, body: { type: 'mail/send', queue: 'mail', policy: { maxAttempts: 2 } } })
    await eventually('it to be known', async () => (await fixture.ask('producer', 'GET', path)).status === 200)
    expect((await fixture.ask('viewer', 'GET', path)).body).toMatchObject({ queue: 'mail', policy: { maxAttempts: 2 } })
    const job = await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'mail/send' })
    expect(job.body).toMatchObject({ queue: 'mail' })
    expect((await fixture.ask(fixture.secrets['rival']?.viewer, 'GET', path)).status).toBe(404)
  })

  it('tell what may be handed in, as JSON Schema, which is kept as it is', async () => {
    const path = '/v1/types/mail.form'
    const inputSchema = { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] }
    for (const wrong of ['text', { enum: ['x'.repeat(40_000)] }]) {
      const bad = await fixture.ask('worker', 'PUT', path, { queue: 'mail', inputSchema: wrong })
      expect([bad.status, JSON.stringify(bad.body['violations'])]).toEqual([
        400,
        expect.stringContaining('inputSchema'),
      ])
    }
    expect((await fixture.ask('worker', 'PUT', path, { queue: 'mail', inputSchema })).status).toBe(200)
    expect((await fixture.ask('viewer', 'GET', path)).body).toMatchObject({ queue: 'mail', inputSchema })
  })
})

describe('batches', () => {
  it('answer each item; a bad one never fails its neighbours', async () => {
    const { body } = await fixture.ask('producer', 'POST', '/v1/jobs:batch', {
      jobs: [
        { type: 'a', queue: 'b' },
        { type: 'a', queue: 'b', policy: { lease: '1ms' } },
        { type: 'a', queue: 'b', input: [1] },
        { type: 'a', queue: 'b', tenant: 'rival' },
        { type: 'a', queue: 'b', priority: 99 },
        'nonsense',
      ],
    })
    const jobs = body['jobs'] as { ok: boolean; problem?: { violations: { field: string }[] } }[]
    expect(jobs.map(({ ok }) => ok)).toEqual([true, false, true, false, false, false])
    expect(jobs[1]?.problem?.violations[0]?.field).toBe('policy.lease')
    expect(jobs[4]?.problem?.violations[0]?.field).toBe('body.jobs.4.priority')
    const claims = (await fixture.ask('worker', 'POST', '/v1/claims', { workerId: 'w', queues: ['b'], limit: 10 }))
      .body['jobs'] as Claimed[]
    expect(claims.map(({ input }) => input)).toEqual([undefined, [1]])
    const settled = await fixture.ask('worker', 'POST', '/v1/transitions:batch', {
      transitions: [
        { id: claims[0]?.job.id, command: 'complete', fence: claims[0]?.fence, result: 1 },
        { id: claims[1]?.job.id, command: 'complete', fence: 'wrong' },
        { id: claims[1]?.job.id, command: 'heartbeat', fence: claims[1]?.fence },
        { id: claims[1]?.job.id, command: 'cancel' },
        { id: claims[1]?.job.id, command: 'wait', fence: claims[1]?.fence, nonsense: 1 },
      ],
    })
    expect(settled.body['answers']).toMatchObject([
      { ok: true, state: 'succeeded' },
      { ok: false, problem: { code: 'STALE_FENCE' } },
      { ok: true, rev: 3 },
      { ok: false, problem: { code: 'MALFORMED', violations: [{ field: 'body.transitions.3.fence' }] } },
      { ok: false, problem: { code: 'MALFORMED' } },
    ])
  })

  it('loads of a batch what a heartbeat in it is about, and nothing else', async () => {
    for (const type of ['one', 'two']) await fixture.ask('producer', 'POST', '/v1/jobs', { type, queue: 'beating' })
    const words = { workerId: 'w', queues: ['beating'], limit: 2 }
    const claimed = (await fixture.ask('worker', 'POST', '/v1/claims', words)).body['jobs'] as Claimed[]
    const [first, second] = claimed.map(({ job, fence }) => ({ id: job.id, fence }))
    using loads = vi.spyOn(fixture.pawl.engine, 'load')
    const { body } = await fixture.ask('worker', 'POST', '/v1/transitions:batch', {
      transitions: [
        { ...first, command: 'complete' },
        { ...second, command: 'heartbeat' },
      ],
    })
    expect(body['answers']).toMatchObject([
      { ok: true, state: 'succeeded' },
      { ok: true, leaseExpiresAt: expect.stringMatching(/^20/) },
    ])
    expect(loads.mock.calls.flatMap(([asked]) => asked.map(({ id }) => id))).toEqual([second?.id])
  })

  it('are taken whole or not at all where that is asked for', async () => {
    const good = { type: 'a', queue: 'whole' }
    const count = async () => {
      const { body } = await fixture.ask('producer', 'GET', '/v1/jobs?queue=whole')
      return (body['jobs'] as unknown[]).length
    }
    await fixture.ask('producer', 'POST', '/v1/jobs', { ...good, id: 'held', input: 1 })
    for (const bad of [{ ...good, priority: 99 }, { ...good, id: 'held', input: 2 }, 'nonsense']) {
      const { status, headers, body } = await fixture.ask('producer', 'POST', '/v1/jobs:batch', {
        jobs: [good, bad, good],
        atomic: true,
      })
      expect([status, headers.get('content-type'), body['code']]).toEqual([
        409,
        'application/problem+json',
        'OTHERS_REFUSED',
      ])
      const told = body['jobs'] as { ok: boolean; problem: { code: string } }[]
      expect(told.map(({ ok }) => ok)).toEqual([false, false, false])
      expect(told.map(({ problem }) => problem.code === 'OTHERS_REFUSED')).toEqual([true, false, true])
      expect(await count()).toBe(1)
    }
    const { status, body } = await fixture.ask('producer', 'POST', '/v1/jobs:batch', {
      jobs: [good, good],
      atomic: true,
    })
    expect([status, (body['jobs'] as { ok: boolean }[]).map(({ ok }) => ok)]).toEqual([200, [true, true]])
    expect(await count()).toBe(3)
  })

  it('wait for work to come', async () => {
    const waiting = fixture.ask('worker', 'POST', '/v1/claims', { workerId: 'w', queues: ['later'], waitMs: 20_000 })
    await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'x', queue: 'later' })
    expect((await waiting).body['jobs']).toHaveLength(1)
    const result = fixture.ask('producer', 'GET', '/v1/jobs/none/result?waitMs=10')
    expect((await result).status).toBe(404)
  })
})

describe('queues and workers', () => {
  it('can be paused exactly, counted and seen', async () => {
    await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'x', queue: 'stop' })
    expect((await fixture.ask('operator', 'POST', '/v1/queues/stop/pause', {})).body).toMatchObject({ paused: true })
    expect(
      (await fixture.ask('worker', 'POST', '/v1/claims', { workerId: 'w', queues: ['stop'] })).body['jobs'],
    ).toEqual([])
    expect((await fixture.ask('viewer', 'GET', '/v1/queues/stop')).body).toEqual({
      queue: 'stop',
      paused: true,
      counts: { queued: 1 },
    })
    await fixture.ask('operator', 'POST', '/v1/queues/stop/resume', {})
    expect(
      (await fixture.ask('worker', 'POST', '/v1/claims', { workerId: 'w', queues: ['stop'] })).body['jobs'],
    ).toHaveLength(1)
    await fixture.ask('worker', 'PUT', '/v1/workers/w7', { queues: ['stop'], concurrency: 4 })
    expect((await fixture.ask('viewer', 'GET', '/v1/workers')).body['workers']).toMatchObject([
      { workerId: 'w7', concurrency: 4, present: true },
    ])
  })
})

describe('the document', () => {
  it('is valid OpenAPI 3.1 and names every route', async () => {
    const checked = await new Validator().validate(structuredClone(openApi()) as never)
    expect(checked.errors ?? []).toEqual([])
    expect(checked.valid).toBe(true)
    const { body } = await fixture.ask('viewer', 'GET', '/openapi.json')
    const paths = body['paths'] as Record<string, Record<string, unknown>>
    for (const { path, method } of ROUTES) expect(paths[path]?.[method.toLowerCase()]).toBeDefined()
  })
})
