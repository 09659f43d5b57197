import { describe, expect, it } from 'vitest'
import { openOn } from '../../src/engine.ts'
import { aesGcm, defineJob, Invalid, type Pawl, PermanentError } from '../../src/index.ts'
import { openMemoryStore } from '../../src/store/memory/memory.ts'
import { realClock } from '../../src/system/clock.ts'
import { openTesting } from '../../src/testing/testing.ts'

const bounced = defineJob({
  type: 'bounced',
  run() {
    throw new PermanentError('no such mailbox', { code: 'SMTP_550' })
  },
})
const spent = defineJob({
  type: 'spent',
  retry: { attempts: 1 },
  run() {
    throw new Error('the server is down')
  },
})

/** Where a document has every job admitted. */
async function admitted(pawl: Pawl, id: string): Promise<void> {
  if ((await pawl.get(id))?.state !== 'pending') return
  const command = { type: 'admit', actor: 'a', requestId: 'a', rule: 'r', policyHash: 'h' } as const
  await pawl.engine.settle([{ id, command }])
}

async function openFixture() {
  const testing = await openTesting([bounced, spent])
  const { pawl } = testing
  const failed = await pawl.enqueue(bounced)
  const dead = await pawl.enqueue(spent)
  await testing.drain()
  expect([await failed.state(), await dead.state()]).toEqual(['failed', 'dead_lettered'])
  return { testing, pawl, failed, dead, [Symbol.asyncDispose]: () => testing[Symbol.asyncDispose]() }
}

describe('redrive', () => {
  it('reopens dead letters, and leaves alone what no retry will help', async () => {
    await using fixture = await openFixture()
    const { pawl, failed, dead } = fixture
    expect(await pawl.redrive({}, { dryRun: true })).toMatchObject({ matched: 1, reopened: 0 })
    expect(await pawl.redrive()).toMatchObject({ matched: 1, reopened: 1, refused: [] })
    expect([await failed.state(), (await dead.job())?.generation]).toEqual(['failed', 1])
    expect(await pawl.redrive({ types: ['bounced'] })).toMatchObject({ matched: 0 })
  })

  it('reopens other endings where they are asked for by name', async () => {
    await using fixture = await openFixture()
    const { pawl, failed, dead } = fixture
    expect(await pawl.redrive({ states: ['failed'] })).toMatchObject({ matched: 1, reopened: 1 })
    expect([(await failed.job())?.generation, (await dead.job())?.generation]).toEqual([1, 0])
  })

  it.each(['000A', '000B', '002', '004'] as const)(
    '%s: where endings are final it puts a new job in the place of each, once, with the old one as parent',
    async (dialect) => {
      const bound = defineJob({
        type: 'bound',
        dialect,
        retry: { attempts: 1 },
        run() {
          throw new PermanentError('no')
        },
      })
      await using testing = await openTesting([bound])
      const { pawl } = testing
      const { id } = await pawl.enqueue(bound, { to: 'ann' }, { labels: { batch: '7' }, priority: 'batch' })
      await admitted(pawl, id)
      await testing.drain()
      const states = [(await pawl.get(id))?.state ?? 'failed'] as const
      expect(await pawl.redrive({ states })).toMatchObject({ matched: 1, reopened: 1, refused: [] })
      const next = (await pawl.find({ types: ['bound'] })).jobs.filter((job) => job.id !== id)
      expect(next).toMatchObject([{ priority: 7, spec: { parentId: id, labels: { batch: '7' } } }])
      expect((await pawl.engine.load([{ id: next[0]?.id ?? '', bodies: ['input'] }])).items[0]?.bodies).toEqual({
        input: '{"to":"ann"}',
      })
      expect((await pawl.get(id))?.generation).toBe(0)
      await pawl.redrive({ states })
      expect((await pawl.find({ types: ['bound'] })).jobs.filter((job) => job.spec.parentId === id)).toHaveLength(1)
    },
  )

  it.each([[['succeeded']], [['running', 'dead_lettered']], [[]]] as const)(
    'refuses %j, which nothing reopens',
    async (states) => {
      await using fixture = await openFixture()
      await expect(fixture.pawl.redrive({ states })).rejects.toThrow(Invalid)
      await expect(fixture.pawl.redrive({ states })).rejects.toThrow(
        'redrive: states: must be among failed, cancelled, timed_out, dead_lettered',
      )
    },
  )
})

describe('redrive in a process without keys', () => {
  // Bound to a document whose endings are final: in place of each there would be a new job.
  const bound = defineJob({
    type: 'bound',
    dialect: '004',
    retry: { attempts: 1 },
    run() {
      throw new PermanentError('no')
    },
  })

  it('refuses what would have to be sealed anew, and makes no job', async () => {
    const store = openMemoryStore({ clock: realClock })
    const codec = aesGcm({ keys: { a: new Uint8Array(32).fill(7) }, current: 'a' })
    await using sealing = openOn(store, { log: 'silent', codec })
    await using keyless = openOn(store, { log: 'silent' })
    const { id } = await sealing.enqueue(bound, { secret: 'c4n4ry' })
    await using _ = sealing.work([bound])
    await expect(sealing.result(id, { timeout: '60s' })).rejects.toThrow()
    const states = [(await keyless.get(id))?.state ?? 'failed'] as const
    const { refused, reopened } = await keyless.redrive({ states })
    expect({ refused, reopened }).toMatchObject({ reopened: 0, refused: [{ refusal: { code: 'INVALID' } }] })
    expect(String(refused[0]?.message)).toContain('enqueue it anew where they are')
    expect((await keyless.find({ types: ['bound'] })).jobs).toHaveLength(1)
  })
})

describe('redrive of an ending that is final', () => {
  const keyed = (held: 'live' | '1h') =>
    defineJob({
      type: 'keyed',
      dialect: '004',
      retry: { attempts: 1 },
      dedupe: { key: () => 'one', for: held },
      run() {
        throw new PermanentError('no')
      },
    })

  it('says who holds the key, where another does, and counts no job that was not made', async () => {
    const job = keyed('live')
    await using testing = await openTesting([job])
    const { pawl } = testing
    const { id } = await pawl.enqueue(job)
    await testing.drain()
    const states = [(await pawl.get(id))?.state ?? 'failed'] as const
    const { id: holder } = await pawl.enqueue(job)
    expect(await pawl.redrive({ states })).toMatchObject({
      reopened: 0,
      refused: [{ refusal: { code: 'KEY_TAKEN', holder } }],
    })
    expect((await pawl.find({ types: ['keyed'] })).jobs).toHaveLength(2)
  })

  it('makes a job without the key, where the letter itself holds it beyond its life', async () => {
    const job = keyed('1h')
    await using testing = await openTesting([job])
    const { pawl } = testing
    const { id } = await pawl.enqueue(job)
    await testing.drain()
    const states = [(await pawl.get(id))?.state ?? 'failed'] as const
    expect(await pawl.redrive({ states })).toMatchObject({ reopened: 1, refused: [] })
    expect(await pawl.enqueue(job)).toMatchObject({ id, deduped: true })
    const { jobs } = await pawl.find({ types: ['keyed'] })
    expect(jobs.map(({ spec }) => [spec.parentId, spec.dedupeKey])).toEqual([
      [id, undefined],
      [undefined, 'one'],
    ])
  })
})
