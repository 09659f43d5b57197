/** Operations as an application has them: what is done to many jobs, by whoever runs them, and what is told of it. */
import { describe, expect, it } from 'vitest'
import type { JobId } from '../../src/core/job.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { LocalEngine } from '../../src/engine/local.ts'
import { purged } from '../../src/engine/purge.ts'
import { defineJob } from '../../src/library/define-job.ts'
import { aesGcm } from '../../src/library/encryption.ts'
import { Invalid, JobCancelled, JobFailed, Refused } from '../../src/library/errors.ts'
import { Pawl } from '../../src/library/pawl.ts'
import type { PawlParts } from '../../src/library/pawl-parts.ts'
import { open } from '../../src/open.ts'
import { openMemoryStore } from '../../src/store/memory/memory.ts'
import { realIds } from '../../src/system/ids.ts'
import { silentLog } from '../../src/system/log.ts'
import { realRandom } from '../../src/system/random.ts'
import type { Timers } from '../../src/system/timers.ts'
import { mortal } from '../../src/testing/mortal.ts'
import { openTesting, type Testing } from '../../src/testing/testing.ts'
import { VirtualTime } from '../../src/testing/virtual-time.ts'
import { ownFile } from '../store/sqlite/folder.ts'

let mended = false
const ran: unknown[] = []
const mail = defineJob({
  type: 'mail.send',
  queue: 'mail',
  retry: { attempts: 1 },
  run(input: { readonly to: string; readonly cc?: string }) {
    ran.push(input)
    if (!mended) throw new Error(`the server of ${input.to} is down`)
  },
})
const other = defineJob({ type: 'other', queue: 'other', run: () => undefined })

async function withLetters(count: number): Promise<{ testing: Testing; pawl: Pawl; ids: readonly JobId[] }> {
  mended = false
  ran.length = 0
  const testing = await openTesting([mail, other])
  const { pawl } = testing
  const ids: JobId[] = []
  for (let n = 0; n < count; n += 1) ids.push((await pawl.enqueue(mail, { to: `${n}@example.com` })).id)
  await testing.drain()
  return { testing, pawl, ids }
}

/** Until it has ended, whatever time that takes. */
async function ended(testing: Testing, id: JobId) {
  for (let n = 0; n < 200; n += 1) {
    await testing.advance('1s')
    const status = await testing.pawl.operations.get(id)
    if (status?.endedAt !== undefined) return status
  }
  throw new Error('the operation never ended')
}

const statesOf = async (pawl: Pawl, ids: readonly JobId[]) =>
  Promise.all(ids.map(async (id) => (await pawl.get(id))?.state))

describe('redrive by search', () => {
  it('counts in a dry run, and touches nothing', async () => {
    const { testing, pawl, ids } = await withLetters(3)
    await using _ = testing
    const { id } = await pawl.operations.start({ action: 'redrive', query: 'type:mail.*', dryRun: true })
    const { report, state } = await ended(testing, id)
    expect(state).toBe('succeeded')
    expect(report).toMatchObject({
      matched: 3,
      done: 0,
      counts: [{ type: 'mail.send', state: 'dead_lettered', reason: 'exhausted_retries', count: 3 }],
      foreseen: [{ outcome: 'reopened', count: 3 }],
    })
    expect(await statesOf(pawl, ids)).toEqual(['dead_lettered', 'dead_lettered', 'dead_lettered'])
  })

  it('gives what matches a second chance, in the name of whoever asked', async () => {
    const { testing, pawl, ids } = await withLetters(3)
    await using _ = testing
    mended = true
    const { id } = await pawl.operations.start({
      action: 'redrive',
      query: 'input.to:1@* reason:exhausted_retries',
      actor: 'ann',
      reason: 'the server is back',
    })
    expect(await ended(testing, id)).toMatchObject({
      state: 'succeeded',
      spec: { action: 'redrive', by: 'ann', isEdited: false },
      report: { matched: 1, done: 1, refused: 0 },
      progress: { done: 1, total: 1 },
    })
    await testing.drain()
    expect(await statesOf(pawl, ids)).toEqual(['dead_lettered', 'succeeded', 'dead_lettered'])
    const reopened = (await pawl.events(ids[1] ?? '')).find(({ type }) => type === 'reopened')
    expect(reopened).toMatchObject({ actor: 'ann', requestId: `operation/${id}`, reason: 'the server is back' })
  })

  it('sends canaries ahead, and goes on where all of them succeed', async () => {
    const { testing, pawl, ids } = await withLetters(5)
    await using _ = testing
    mended = true
    const { id } = await pawl.operations.start({ action: 'redrive', query: '', canary: 2 })
    const { report } = await ended(testing, id)
    expect(report).toMatchObject({ matched: 5, done: 5, canaries: ids.slice(0, 2) })
    await testing.drain()
    expect(new Set(await statesOf(pawl, ids))).toEqual(new Set(['succeeded']))
  })

  it('leaves the rest alone where a canary does not succeed, or takes too long', async () => {
    const { testing, pawl, ids } = await withLetters(5)
    await using _ = testing
    const failed = await pawl.operations.start({ action: 'redrive', query: '', canary: 2 })
    const status = await ended(testing, failed.id)
    expect(status).toMatchObject({ state: 'failed', report: { done: 2 }, error: { code: 'CANARY_FAILED' } })
    expect(status.error?.message).toContain('3 others stay as they are')
    await expect(pawl.operations.result(failed.id)).rejects.toThrow(JobFailed)
    expect(await Promise.all(ids.map(async (id) => (await pawl.get(id))?.generation))).toEqual([1, 1, 0, 0, 0])
    await pawl.pause('mail')
    const late = await pawl.operations.start({ action: 'redrive', query: '', canary: 1, canaryWithin: '30s' })
    expect(await ended(testing, late.id)).toMatchObject({ state: 'failed', error: { code: 'CANARY_LATE' } })
  })

  it('with another input makes new jobs, whose parents the old ones are', async () => {
    const { testing, pawl, ids } = await withLetters(2)
    await using _ = testing
    mended = true
    const patched = await pawl.operations.start({ action: 'redrive', query: '', patch: { cc: 'all@example.com' } })
    expect(await ended(testing, patched.id)).toMatchObject({ report: { done: 2 }, spec: { isEdited: true } })
    await testing.drain()
    expect(ran.slice(2)).toEqual([
      { to: '0@example.com', cc: 'all@example.com' },
      { to: '1@example.com', cc: 'all@example.com' },
    ])
    const whole = await pawl.operations.start({
      action: 'redrive',
      query: `id:${ids[0]}`,
      input: { to: 'new@example.com' },
    })
    await ended(testing, whole.id)
    await testing.drain()
    expect(ran.at(-1)).toEqual({ to: 'new@example.com' })
    expect(await statesOf(pawl, ids)).toEqual(['dead_lettered', 'dead_lettered'])
    expect((await pawl.find({ parentId: ids[0] })).jobs).toHaveLength(2)
  })
})

describe('cancel and purge', () => {
  it('cancel what lives and matches, nothing that comes later, and no operation', async () => {
    const { testing, pawl } = await withLetters(0)
    await using _ = testing
    const ids: JobId[] = []
    for (const delay of ['1h', '2h'] as const) ids.push((await pawl.enqueue(other, undefined, { delay })).id)
    const { id } = await pawl.operations.start({ action: 'cancel', query: '-queue:mail', mode: 'hard', reason: 'over' })
    expect((await ended(testing, id)).report).toMatchObject({ matched: 2, done: 2 })
    expect(await statesOf(pawl, ids)).toEqual(['cancelled', 'cancelled'])
  })

  it('purge what has ended and matches', async () => {
    const { testing, pawl, ids } = await withLetters(2)
    await using _ = testing
    const { id: kept } = await pawl.enqueue(other)
    await testing.drain()
    const { id } = await pawl.operations.start({ action: 'purge', query: 'state:dead_lettered' })
    expect((await ended(testing, id)).report).toMatchObject({ matched: 2, done: 2 })
    expect(await statesOf(pawl, [...ids, kept])).toEqual([undefined, undefined, 'succeeded'])
  })
})

/** A process on the store, with a worker for operations and nothing else. */
function processOn(engine: Engine, timers: Timers, time: VirtualTime, purge: PawlParts['purge']): Pawl {
  const surroundings = { clock: time, machineMs: () => time.monotonicMs() }
  return new Pawl({ engine, timers, ids: realIds(realRandom), log: silentLog, surroundings, purge })
}

describe('a process that dies in the middle of an operation', () => {
  it('is followed by another, which goes on where it was', async () => {
    const time = new VirtualTime(Date.UTC(2030, 0, 1))
    const store = openMemoryStore({ clock: time, timers: time })
    const engine = new LocalEngine({ store, clock: time, random: realRandom, timers: time })
    const world = mortal(engine, time)
    const dying = processOn(world.engine, world.timers, time, async (ids) => {
      await purged(store, ids.slice(0, 1))
      world.kill()
      return new Promise(() => {})
    })
    for (let n = 0; n < 3; n += 1)
      await (await dying.enqueue(other, undefined, { queue: 'gone', delay: '1h' })).cancel({ mode: 'hard' })
    const { id } = await dying.operations.start({ action: 'purge', query: 'queue:gone' })
    await time.advance(100)
    await using heir = processOn(engine, time, time, (ids) => purged(store, ids))
    expect((await heir.find({ queues: ['gone'] })).jobs).toHaveLength(2)
    heir.operations.serve('default')
    for (let n = 0; n < 60; n += 1) {
      await engine.tick(10)
      await time.advance(1_000)
    }
    expect(await heir.operations.get(id)).toMatchObject({ state: 'succeeded', report: { matched: 3, done: 3 } })
    expect((await heir.get(id))?.attempt).toBe(2)
    expect((await heir.find({ queues: ['gone'] })).jobs).toEqual([])
  })
})

describe('operations', () => {
  it('are listed, newest first, and stop where they are cancelled', async () => {
    const { testing, pawl, ids } = await withLetters(3)
    await using _ = testing
    await pawl.pause('mail')
    const { id } = await pawl.operations.start({ action: 'redrive', query: '', canary: 1, canaryWithin: '10h' })
    await testing.advance('10s')
    expect(await pawl.operations.list()).toMatchObject({ operations: [{ id, progress: { done: 1, total: 3 } }] })
    await pawl.operations.cancel(id)
    expect(await ended(testing, id)).toMatchObject({ state: 'cancelled', report: { done: 1, matched: 3 } })
    await expect(pawl.operations.result(id)).rejects.toThrow(JobCancelled)
    expect(await statesOf(pawl, ids)).toEqual(['queued', 'dead_lettered', 'dead_lettered'])
    await expect(pawl.operations.cancel(ids[0] ?? '')).rejects.toThrow(Refused)
    expect(await pawl.operations.get(ids[0] ?? '')).toBeUndefined()
  })

  it.each([
    [{ action: 'redrive', query: 'stat:failed' }, 'Did you mean state:failed?'],
    [{ action: 'redrive', query: 'state:running' }, 'finds nothing that one can redrive'],
    [{ action: 'cancel', query: '' }, 'is empty: to cancel all there is, name the states'],
    [{ action: 'purge', query: 'state:queued' }, 'finds nothing that one can purge'],
    [{ action: 'purge', query: 'state:failed', canary: 3 }, 'canary: is a redrive’s'],
    [{ action: 'redrive', query: '', canary: 0 }, 'canary: must be a whole number from 1 to 1000'],
    [{ action: 'redrive', query: '', canaryWithin: '1h' }, 'canaryWithin: needs a canary'],
    [{ action: 'redrive', query: '', mode: 'hard' }, 'mode: is a cancel’s'],
    [{ action: 'cancel', query: 'queue:mail', patch: {} }, 'patch: is a redrive’s'],
    [{ action: 'redrive', query: '', patch: {}, input: 1 }, 'a whole input or a patch of each, not both'],
    [{ action: 'redrive', query: '', input: () => 1 }, 'input:'],
    [{ action: 'mend', query: '' }, 'action: must be one of redrive, cancel, purge'],
  ])('are refused before anything is kept: %j', async (options, message) => {
    await using pawl = await open('memory:', { log: 'silent' })
    const refused = await pawl.operations.start(options as never).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(Invalid)
    expect(String(refused)).toContain(message)
    expect((await pawl.operations.list()).operations).toEqual([])
  })

  it('have a queue that nobody else enqueues into', async () => {
    expect(() => defineJob({ type: 'x', queue: 'pawl.operations', run: () => undefined })).toThrow('pawl’s own')
    await using pawl = await open('memory:', { log: 'silent' })
    await expect(pawl.enqueue(other, undefined, { queue: 'pawl.operations' })).rejects.toThrow('pawl’s own')
    await expect(pawl.enqueue('any', undefined, { queue: 'pawl.operations' })).rejects.toThrow('pawl’s own')
  })

  it('of a process without keys change no input that is encrypted', async () => {
    const file = ownFile()
    mended = false
    {
      const codec = aesGcm({ keys: { a: new Uint8Array(32).fill(7) }, current: 'a' })
      await using sealing = await open(file, { log: 'silent', codec })
      const { id } = await sealing.enqueue(mail, { to: 'a@example.com' })
      await using _ = sealing.work([mail])
      await expect(sealing.result(id, { timeout: '60s' })).rejects.toThrow()
    }
    await using keyless = await open(file, { log: 'silent' })
    await using _ = keyless.work([other])
    const { id } = await keyless.operations.start({
      action: 'redrive',
      query: 'type:mail.send',
      patch: { cc: 'c4n4ry' },
    })
    expect(await keyless.operations.result(id, { timeout: '60s' })).toMatchObject({ matched: 1, done: 0, refused: 1 })
    expect((await keyless.find({ types: ['mail.send'] })).jobs).toHaveLength(1)
  })

  it('are told in the audit log, and run where bodies are encrypted, but for another input', async () => {
    const codec = aesGcm({ keys: { a: new Uint8Array(32).fill(7) }, current: 'a' })
    await using pawl = await open('memory:', { log: 'silent', codec, actor: 'ann' })
    mended = false
    const { id: letter } = await pawl.enqueue(mail, { to: 'a@example.com' })
    await using _ = pawl.work([mail])
    await expect(pawl.result(letter)).rejects.toThrow()
    await expect(pawl.operations.start({ action: 'redrive', query: '', input: 1 })).rejects.toThrow('encrypted')
    mended = true
    const { id } = await pawl.operations.start({ action: 'redrive', query: 'input.to:a@*' })
    expect(await pawl.operations.result(id, { timeout: '60s' })).toMatchObject({ matched: 1, done: 1 })
    await pawl.result(letter, { timeout: '60s' })
    const entries = await pawl.engine.settings([{ op: 'list', collection: 'audit', after: '', limit: 10 }])
    expect(JSON.stringify(entries)).toContain('redrive input.to:a@*')
  })
})
