/** Bodies that only those read who have the key: not the store, not the gateway, not another job. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { defineJob } from '../../src/define-job.ts'
import { aesGcm, Undecipherable } from '../../src/encryption.ts'
import { JobDeadLettered } from '../../src/errors.ts'
import { startGateway } from '../../src/gateway/serve.ts'
import { open } from '../../src/open.ts'
import { openMemoryStore } from '../../src/store/memory/memory.ts'
import { realClock } from '../../src/system/clock.ts'

const CANARY = 'canary-4711'
const key = randomBytes(32)
const about = { tenant: 'acme', job: 'pj_1' }

const secretive = defineJob({
  type: 'secretive',
  retry: { attempts: 1 },
  async run(input: { card: string; fail?: boolean }, ctx) {
    await ctx.step('charge', async () => ({ charged: input.card }))
    await ctx.checkpoint({ card: input.card })
    if (input.fail === true) throw new Error(`declined: ${input.card}`)
    const { payload: answer } = await ctx.waitFor('approved')
    return { card: input.card, answer }
  },
})

describe('the cipher', () => {
  const codec = aesGcm({ keys: { a: key }, current: 'a' })

  it.each(['{}', '"\\ud800"', '"\ud800"', '', `"${'x'.repeat(100_000)}"`])('gives back what went in: %.20s', (text) => {
    const sealed = codec.encode(text, about)
    expect(typeof JSON.parse(sealed)).toBe('string')
    expect(codec.decode(sealed, about)).toBe(text)
    expect(codec.encode(text, about)).toBe(sealed)
  })

  it('opens nothing for another job, another tenant, or after the least change', () => {
    const sealed = codec.encode('{"a":1}', about)
    expect(() => codec.decode(sealed, { ...about, job: 'pj_2' })).toThrow(Undecipherable)
    expect(() => codec.decode(sealed, { ...about, tenant: 'rival' })).toThrow(Undecipherable)
    const middle = Math.floor(sealed.length / 2)
    for (const at of [12, middle, sealed.length - 3]) {
      const altered = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1)
      expect(() => codec.decode(altered, about)).toThrow(Undecipherable)
    }
    expect(() => codec.decode('{"a":1}', about)).toThrow(Undecipherable)
  })

  it('reads with every key it has and writes with the current one', () => {
    const old = codec.encode('1', about)
    const rotated = aesGcm({ keys: { a: key, b: randomBytes(32) }, current: 'b' })
    expect(rotated.decode(old, about)).toBe('1')
    expect(rotated.encode('1', about)).toContain('pawl:1:b:')
    expect(() => aesGcm({ keys: { b: randomBytes(32) }, current: 'b' }).decode(old, about)).toThrow('key a')
  })

  it('wants keys of the right length and name', () => {
    expect(() => aesGcm({ keys: { a: randomBytes(16) }, current: 'a' })).toThrow('32')
    expect(() => aesGcm({ keys: { 'a b': key }, current: 'a b' })).toThrow('key id')
    expect(() => aesGcm({ keys: { a: key }, current: 'b' })).toThrow('no key b')
  })
})

describe('a whole life', () => {
  it('leaves nothing readable in the file, and everything readable to who has the key', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-secret-'))
    try {
      const codec = aesGcm({ keys: { a: key }, current: 'a' })
      {
        await using pawl = await open(join(folder, 'jobs.db'), { codec })
        await using _worker = pawl.work([secretive])
        const job = await pawl.enqueue(secretive, { card: CANARY })
        await job.signal('approved', { by: CANARY })
        expect(await job.result({ timeout: '20s' })).toEqual({ card: CANARY, answer: { by: CANARY } })
        const bad = await pawl.enqueue(secretive, { card: CANARY, fail: true })
        await expect(bad.result({ timeout: '20s' })).rejects.toThrow(JobDeadLettered)
        expect(JSON.stringify(await pawl.body(bad.id, 'error/1'))).toContain(`declined: ${CANARY}`)
        expect((await pawl.verify()).discrepancies).toEqual([])
      }
      for (const name of readdirSync(folder)) expect(readFileSync(join(folder, name)).includes(CANARY)).toBe(false)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('hides from the gateway what passes through it', async () => {
    await using served = await open('memory:')
    await using gateway = await startGateway({ engine: served.engine, port: 0, auth: false })
    const codec = aesGcm({ keys: { a: key }, current: 'a' })
    await using pawl = await open(gateway.url, { codec })
    await using _worker = pawl.work([secretive])
    const job = await pawl.enqueue(secretive, { card: CANARY }, { idempotencyKey: 'once' })
    const again = await pawl.enqueue(secretive, { card: CANARY }, { idempotencyKey: 'once' })
    expect(again.id).toBe(job.id)
    await job.signal('approved', { by: CANARY })
    expect(await job.result({ timeout: '20s' })).toEqual({ card: CANARY, answer: { by: CANARY } })
    const { items } = await served.engine.load([
      { id: job.id, bodies: ['input', 'output', 'checkpoint', 'step/', 'signal/', 'error/'] },
    ])
    expect(Object.keys(items[0]?.bodies ?? {}).length).toBeGreaterThan(4)
    expect(JSON.stringify(items)).not.toContain(CANARY)
    const bad = await pawl.enqueue(secretive, { card: CANARY, fail: true })
    await expect(bad.result({ timeout: '20s' })).rejects.toThrow(JobDeadLettered)
    expect(JSON.stringify(await pawl.body(bad.id, 'error/1'))).toContain(`declined: ${CANARY}`)
    const failed = await served.engine.load([{ id: bad.id, bodies: ['error/'] }])
    expect(JSON.stringify(failed.items)).not.toContain(CANARY)
  })

  it.each(['at home', 'over HTTP'])('a text without its key does not take its neighbours along, %s', async (where) => {
    const store = openMemoryStore({ clock: realClock })
    const { assemble } = await import('../../src/open.ts')
    const with_ = (id: string) => ({ codec: aesGcm({ keys: { [id]: randomBytes(32) }, current: id }) })
    const [lost, kept] = [with_('lost'), with_('kept')]
    await using served = assemble(store, where === 'at home' ? kept : {})
    await using gateway = await startGateway({ engine: served.engine, port: 0, auth: false })
    await using stranger =
      where === 'at home' ? assemble(store, { ...lost, ticker: false }) : await open(gateway.url, lost)
    await using pawl = where === 'at home' ? assemble(store, { ...kept, ticker: false }) : await open(gateway.url, kept)
    const reads = defineJob({ type: 'reads', retry: { attempts: 1 }, run: (input: { n: number }) => input.n })
    const unreadable = await stranger.enqueue(reads, { n: 1 })
    const readable = await pawl.enqueue(reads, { n: 2 })
    await using _worker = pawl.work([reads])
    expect(await readable.result({ timeout: '20s' })).toBe(2)
    expect((await served.get(unreadable.id))?.state).not.toBe('succeeded')
  })

  it('compares plain texts, so a repetition is one, and hands a successor its own copy', async () => {
    const codec = aesGcm({ keys: { a: key }, current: 'a' })
    const store = openMemoryStore({ clock: realClock })
    const { assemble } = await import('../../src/open.ts')
    await using pawl = assemble(store, { codec })
    const retried = defineJob({
      type: 'retried',
      dialect: '002',
      retry: { base: 1, max: 1 },
      run: (input: { n: number }) => input.n,
    })
    const first = await pawl.enqueue(retried, { n: 7 }, { idempotencyKey: 'k' })
    const again = await pawl.enqueue(retried, { n: 7 }, { idempotencyKey: 'k' })
    expect(again.id).toBe(first.id)
    const lanes = [{ tenant: 'default', queue: 'default', priority: 5 }]
    const [assignment] = await pawl.engine.claim({ requestId: 'c', workerId: 'w', lanes, limit: 1 })
    const fence = assignment?.fence ?? ''
    await pawl.engine.settle([
      {
        id: first.id,
        command: { type: 'fail', actor: 'w', requestId: 'f', fence, fault: { code: 'E_BROWSER', message: 'm' } },
      },
    ])
    const [successor] = (await pawl.find({ parentId: first.id })).jobs
    expect(await pawl.body(successor?.id ?? '', 'input')).toEqual({ n: 7 })
  })
})
