import type { StandardSchemaV1 } from '@standard-schema/spec'
import { describe, expect, it } from 'vitest'
import { definition, openWorkerFixture } from './worker-fixture.ts'

const schema = <T>(validate: StandardSchemaV1.Props<unknown, T>['validate']): StandardSchemaV1<unknown, T> => ({
  '~standard': { version: 1, vendor: 'test', validate },
})

const url = schema<{ url: string }>((value) =>
  typeof (value as { url?: unknown })?.url === 'string'
    ? { value: { url: (value as { url: string }).url.toLowerCase() } }
    : { issues: [{ message: 'must be text', path: ['deep', { key: 'url' }] }] },
)

describe('an input', () => {
  it('is validated before the handler runs, which gets what the schema makes of it', async () => {
    await using fixture = openWorkerFixture()
    const seen: unknown[] = []
    const job = definition((input) => void seen.push(input), {}, { input: url })
    const good = await fixture.enqueue(job, { url: 'HTTP://X' })
    const bad = await fixture.enqueue(job, { url: 7 })
    fixture.work([job])
    await fixture.time.settle()
    expect((await fixture.load(good)).state).toBe('succeeded')
    expect(seen).toEqual([{ url: 'http://x' }])
    const letter = await fixture.load(bad)
    expect(letter).toMatchObject({
      state: 'dead_lettered',
      startedAt: undefined,
      deadLetter: { reason: 'validation_failed', stage: 'input' },
    })
    expect(letter.error?.message).toBe('input.deep.url: must be text')
  })

  it('may be validated asynchronously', async () => {
    await using fixture = openWorkerFixture()
    const later = schema<unknown>(async (value) => ({ value: [value] }))
    const job = definition((input) => input, {}, { input: later })
    const id = await fixture.enqueue(job, 1)
    fixture.work([job])
    await fixture.time.settle()
    expect(await fixture.body(id, 'output')).toEqual([1])
  })

  it('that cannot be read is a dead letter from claimed: no start is faked', async () => {
    await using fixture = openWorkerFixture()
    const job = definition(() => {})
    const { tenant = 'default', queue, type, policy } = job
    const kind = { tenant, queue, type, policy }
    const [answer] = await fixture.engine.enqueue([{ actor: 'test', kind, priority: 5, input: '{"torn' }])
    fixture.work([job])
    await fixture.time.settle()
    const found = await fixture.load(answer?.ok === true ? answer.job.id : '')
    expect(found).toMatchObject({ state: 'dead_lettered', deadLetter: { reason: 'parse_error', stage: 'input' } })
    const { events } = await fixture.engine.events({ by: 'job', id: found.id, afterRev: 0, limit: 100 })
    expect(events.map((event) => event.type)).toEqual(['enqueued', 'claimed', 'dead_lettered'])
  })

  it('too big to ride along with its claim is loaded', async () => {
    await using fixture = openWorkerFixture()
    const job = definition((input: string) => input.length)
    const ids = []
    for (let i = 0; i < 3; i += 1) ids.push(await fixture.enqueue(job, 'x'.repeat(5 * 1024 * 1024)))
    fixture.work([job])
    await fixture.time.settle()
    for (const id of ids) expect(await fixture.body(id, 'output')).toBe(5 * 1024 * 1024)
  })
})

describe('an output', () => {
  it('is validated too', async () => {
    await using fixture = openWorkerFixture()
    const job = definition(() => ({ url: 1 }), {}, { output: url })
    const id = await fixture.enqueue(job)
    fixture.work([job])
    await fixture.time.settle()
    const failed = await fixture.load(id)
    expect(failed.error).toMatchObject({ code: 'validation_failed', class: 'validation', stage: 'output' })
    expect(failed.error?.message).toBe('output.deep.url: must be text')
  })
})

describe('a type nobody here can run', () => {
  it('is handed back, and said once, and waits for who can', async () => {
    await using fixture = openWorkerFixture()
    const known = definition(() => {})
    const unknown = definition(() => {}, {}, { type: 'unknown' })
    const ids = [await fixture.enqueue(unknown), await fixture.enqueue(unknown)]
    const { mortal } = fixture.work([known])
    await fixture.time.advance(5_000)
    for (const id of ids) expect(await fixture.load(id)).toMatchObject({ state: 'queued', attempt: 1, failures: 0 })
    const warnings = fixture.lines.filter(({ message }) => message.startsWith('no worker that is there knows'))
    expect(warnings).toMatchObject([{ level: 'warn', fields: { type: 'unknown' } }])
    mortal.kill()
    fixture.work([unknown])
    await fixture.time.advance(10_000)
    for (const id of ids) expect((await fixture.load(id)).state).toBe('succeeded')
  })
})
