import { afterAll, beforeAll, expect, it } from 'vitest'
import { gateOf } from '../../../src/core/flow/gate.ts'
import { atRest } from '../../../src/core/flow/key.ts'
import { openStoreFixture, type StoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import type { Link } from '../../../src/store/redis/connection/link.ts'
import { openRedisStore } from '../../../src/store/redis/redis.ts'
import { recordedTexts, type ScriptName, scriptTexts } from '../../../src/store/redis/script/scripts.ts'
import { type Key, queueKey, type Store } from '../../../src/store/store.ts'
import { silentLog } from '../../../src/system/log.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { scaled } from '../../support/scale.ts'
import { describeOnRedis } from '../../support/with-redis.ts'
import { runPrograms } from '../programs/run-programs.ts'
import { digestOf, rawLink, WITH_DEBUG } from './raw.ts'
import { watched } from './watched.ts'

const DEDUPE: Key = { purpose: 'dedupe', key: 'k', until: undefined }
const LONG = 'x'.repeat(2_000)
const LIMITED = {
  keys: { host: { concurrency: 1, rate: { most: 9, perMs: 60_000 }, budget: { amount: 9, perMs: 60_000 } } },
}

/** What a script is asked for once its ground is prepared, with all that it can be asked for. */
type Deed = (fixture: StoreFixture, withoutRounds: Blind) => Promise<(store: Store) => Promise<unknown>>

/** On a store that cannot look whom to let in. */
type Blind = (work: (store: Store) => Promise<unknown>) => Promise<void>

const DEEDS: Readonly<Record<string, readonly [ScriptName, Deed]>> = {
  'an insert': [
    'insert',
    async (fixture) => {
      const policy = { deadlineMs: 60_000 }
      const options = { input: LONG, alias: 'a', keys: [DEDUPE], labels: { a: 'b' }, policy }
      // Their kinds are given numbers before, and apart.
      await fixture.insert({ policy }, {})
      const drafts = [fixture.draft(options), fixture.draft({ correlationId: 'c' })]
      return (store) => store.insert(drafts)
    },
  ],
  'a claim': [
    'claim',
    async (fixture) => {
      await fixture.insert({}, { input: LONG }, { policy: { deadlineMs: 1 }, at: fixture.begin - 60_000 })
      const grant = fixture.grant()
      return (store) => store.claim(grant)
    },
  ],
  'an end with a successor': [
    'commit',
    async (fixture) => {
      const claimed = await fixture.claimed({ keys: [DEDUPE] })
      const started = await fixture.say(
        claimed,
        { type: 'start', fence: claimed.lease?.fence ?? '' },
        claimed.updatedAt,
      )
      const spawn = fixture.draft({ keys: [DEDUPE], input: LONG })
      const fault = { code: 'E', message: 'm', class: 'permanent' } as const
      const change = fixture.change(
        started,
        { type: 'fail', fence: started.lease?.fence ?? '', fault, correlationId: 'c' },
        started.updatedAt,
        { give: [DEDUPE], take: [{ ...DEDUPE, key: 'other' }], spawn, bodies: [{ name: 'output', text: LONG }] },
      )
      return (store) => store.commit([change])
    },
  ],
  'a release': [
    'commit',
    async (fixture) => {
      const job = await fixture.claimed()
      const beat = { id: job.id, fence: job.lease?.fence ?? '', requestId: 'b' }
      await fixture.store.heartbeat([beat])
      const beating = await fixture.record(job.id)
      const change = fixture.change(
        beating,
        { type: 'release', fence: beat.fence, reason: 'unknown_type' },
        beating.updatedAt,
      )
      return (store) => store.commit([change])
    },
  ],
  'a note and a purge': [
    'commit',
    async (fixture) => {
      const jobs = await fixture.insert({ keys: [DEDUPE], labels: { a: 'b' }, alias: 'p' }, {})
      const ended = await Promise.all(jobs.map((job) => fixture.say(job, { type: 'cancel', mode: 'hard' })))
      const [purged, kept] = ended
      const annotation = { ...NOTE, jobId: kept?.id ?? '', at: fixture.begin }
      return (store) =>
        store.commit([
          { kind: 'annotate', annotation },
          { kind: 'purge', before: purged as NonNullable<typeof purged> },
        ])
    },
  ],
  'a heartbeat': [
    'heartbeat',
    async (fixture) => {
      const { id, lease } = await fixture.claimed()
      return (store) => store.heartbeat([{ id, fence: lease?.fence ?? '', requestId: 'b' }])
    },
  ],
  'a look for what is due': [
    'due',
    async (fixture) => {
      await fixture.insert({ policy: { deadlineMs: 1 }, at: fixture.begin - 60_000 })
      return (store) => store.due(10)
    },
  ],
  'an insert that is held': [
    'insert',
    async (fixture) => {
      await fixture.insert({})
      const drafts = [fixture.draft({ flow: LIMITED }), fixture.draft({ flow: { fair: 'customer' } })]
      return (store) => store.insert(drafts)
    },
  ],
  'a round of letting in': [
    'apply',
    async (fixture, withoutRounds) => {
      const drafts = [1, 2, 3].map(() => fixture.draft({ flow: LIMITED }))
      await withoutRounds((store) => store.insert(drafts))
      // They are there already: nothing comes of it but the look.
      return (store) => store.insert(drafts)
    },
  ],
  'a claim of what was let in': [
    'claim',
    async (fixture) => {
      await fixture.insert({ flow: LIMITED }, { flow: LIMITED })
      const grant = fixture.grant()
      return (store) => store.claim(grant)
    },
  ],
  'an end that frees slots, spends and moves its key': [
    'commit',
    async (fixture) => {
      const job = await fixture.claimed({ flow: LIMITED })
      const fence = job.lease?.fence ?? ''
      const next = { gate: gateOf(atRest('host'), { concurrency: 2 }), text: '{}', log: '[]' }
      const change = fixture.change(job, { type: 'complete', fence, stats: {}, executionMs: 0 }, job.updatedAt, {
        flow: { key: 'host', rev: 1, next },
        spent: [{ amount: 3 }],
      })
      return (store) => store.commit([change])
    },
  ],
  'a key that is forgotten': [
    'commit',
    async (fixture) => {
      const [job] = await fixture.insert({ flow: LIMITED })
      await fixture.say(job as NonNullable<typeof job>, { type: 'cancel', mode: 'hard' })
      const move = { key: 'host', rev: 1, next: 'forgotten' } as const
      return (store) => store.commit([{ kind: 'key', tenant: fixture.tenant, move }])
    },
  ],
  'a look for what waits to be judged': [
    'unjudged',
    async (fixture) => {
      await fixture.insert({ policy: { admission: true } })
      return (store) => store.due(10, 'judgements')
    },
  ],
  'an admission': [
    'commit',
    async (fixture) => {
      const [job] = await fixture.insert({ policy: { admission: true } })
      const admit = { type: 'admit', rule: 'r', policyHash: 'h' } as const
      const change = fixture.change(job as NonNullable<typeof job>, admit, fixture.begin)
      return (store) => store.commit([change])
    },
  ],
  'settings written and removed': [
    'settings',
    async (fixture) => {
      const key = queueKey(fixture.tenant, 'q')
      await fixture.store.settings([{ op: 'put', collection: 'type', key, text: '{}', rev: undefined }])
      return (store) =>
        store.settings([
          { op: 'put', collection: 'queue', key, text: '{"paused":true}', rev: undefined },
          { op: 'remove', collection: 'type', key, rev: undefined },
        ])
    },
  ],
}

const NOTE = {
  generation: 0,
  attempt: 1,
  command: 'complete',
  actor: 'worker:w',
  requestId: 'r',
  correlationId: 'c',
  outcome: undefined,
} as const

describeOnRedis('a script', () => {
  let server: RedisServer
  let link: Link
  let store: Store

  beforeAll(async () => {
    server = await startRedis(WITH_DEBUG)
    link = await rawLink(server)
    store = await openRedisStore({ url: server.url })
  })

  afterAll(async () => {
    await store.close()
    await link.close()
    await server.stop()
  })

  const plain = Object.entries(DEEDS).map(([what, [script, deed]]) => ({ what, script, deed, texts: scriptTexts() }))
  const recorded = plain
    .filter(({ script }) => script === 'claim' || script === 'settings')
    .map((each) => ({ ...each, what: `${each.what}, with a ledger`, texts: recordedTexts() }))

  const withoutRounds: Blind = async (work) => {
    const blind = await openRedisStore({ url: server.url, scripts: { ...scriptTexts(), look: 'return 0 + nothing' } })
    await work(blind)
    await blind.close()
  }

  it.each([...plain, ...recorded])(
    'that fails at any command has written nothing: $what',
    async ({ script, deed, texts }) => {
      /** A round that fails is told to the log: nobody who is answered depends on it. */
      const opened = (command: number, told: string[]) =>
        openRedisStore({
          url: server.url,
          retryForMs: 0,
          scripts: watched(texts, { script, command }),
          log: { ...silentLog, warn: (message, fields) => void told.push(`${message} ${fields?.['reason']}`) },
        })
      const fixture = await openStoreFixture({ store, advance: async () => {}, close: async () => {} }, {})
      const act = await deed(fixture, withoutRounds)
      let failed = 0
      for (let command = 1; ; command += 1) {
        const before = await digestOf(link)
        const told: string[] = []
        const broken = await opened(command, told)
        const error = await act(broken).then(
          () => told.find((each) => each.includes('injected')),
          (thrown: unknown) => thrown,
        )
        await broken.close()
        if (error === undefined) break
        expect(String(error)).toContain(`injected at ${command}`)
        expect(await digestOf(link), `command ${command}`).toBe(before)
        failed += 1
      }
      expect(failed).toBeGreaterThan(3)
    },
  )

  it(
    'looks at every key before its first write, whatever it is asked for',
    async () => {
      const careful = await openRedisStore({ url: server.url, scripts: watched(scriptTexts()) })
      try {
        expect(await runPrograms({ store: careful, count: scaled(260, 2_000), seed: 2 })).toEqual([])
      } finally {
        await careful.close()
      }
    },
    scaled(120_000, 1_200_000),
  )

  it('that meets a key of another type, or no memory, has written nothing', async () => {
    const fixture = await openStoreFixture({ store, advance: async () => {}, close: async () => {} }, {})
    const draft = fixture.draft({ queue: 'spoiled' })
    await fixture.insert({ queue: 'spoiled', priority: 1 })
    const key = `{pawl:0}:lane:5:${queueKey(fixture.tenant, 'spoiled')}`
    await link.send(['SET', key, 'not a lane'])
    const before = await digestOf(link)
    await expect(store.insert([draft])).rejects.toThrow(/WRONGTYPE/)
    expect(await digestOf(link)).toBe(before)
    await link.send(['DEL', key])
    const whole = await digestOf(link)
    await link.send(['CONFIG', 'SET', 'maxmemory', '1'])
    await expect(store.insert([draft])).rejects.toThrow(expect.objectContaining({ code: 'OVERLOADED' }))
    expect(await digestOf(link)).toBe(whole)
    await link.send(['CONFIG', 'SET', 'maxmemory', '0'])
    expect((await store.insert([draft])).items).toEqual([{ status: 'inserted' }])
  })
})
