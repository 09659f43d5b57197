import { describe, expect, it } from 'vitest'
import { derive } from '../../src/core/evolve.ts'
import type { RefusalCode } from '../../src/core/refusal.ts'
import { COMMANDS } from '../../src/core/verb.ts'
import type { Answer } from '../../src/engine/engine.ts'
import { LocalEngine } from '../../src/engine/local.ts'
import { PATIENCE_MS } from '../../src/engine/turns.ts'
import { verify } from '../../src/engine/verify.ts'
import { linesTo } from '../../src/system/log.ts'
import { realRandom } from '../../src/system/random.ts'
import { realTimers } from '../../src/system/timers.ts'
import { Between } from './between.ts'
import { EngineFixture, kindOf, type Saying } from './engine-fixture.ts'

const refusal = (answer: Answer | undefined): RefusalCode | undefined =>
  answer === undefined || answer.ok ? undefined : answer.refusal.code

function watched(): { fixture: EngineFixture; between: Between } {
  const between = new Between()
  return { fixture: new EngineFixture({ between: (store) => between.wrap(store) }), between }
}

describe('words of a local owner', () => {
  it('are judged on the record held here: a claimed job is settled by one commit and no load', async () => {
    const { fixture, between } = watched()
    const { job, fence } = await fixture.claimed()
    between.calls.load = 0
    await fixture.must(job.id, { type: 'complete', fence })
    expect(between.calls).toMatchObject({ load: 0, commit: 1 })
    expect((await fixture.job(job.id)).state).toBe('succeeded')
  })

  it('are judged again on a fresh record when somebody else spoke in between', async () => {
    const { fixture, between } = watched()
    const { job, fence } = await fixture.running()
    const other = fixture.another()
    between.beforeCommit = async () => {
      await fixture.say(job.id, { type: 'cancel', mode: 'soft' }, other)
    }
    const answer = await fixture.must(job.id, { type: 'complete', fence })
    expect(answer).toMatchObject({ state: 'succeeded', replayed: false })
    const log = await fixture.log(job.id)
    expect(log.map(({ type }) => type)).toEqual(['enqueued', 'claimed', 'started', 'cancel_requested', 'succeeded'])
    expect(log.at(-1)?.reason).toBe('cancel_came_too_late')
  })

  it('are refused when what happened in between took the job away, and noted beside the log once', async () => {
    const { fixture, between } = watched()
    const { job, fence } = await fixture.running()
    const other = fixture.another()
    between.beforeCommit = async () => {
      await fixture.say(job.id, { type: 'cancel', mode: 'hard' }, other)
    }
    expect(refusal(await fixture.say(job.id, { type: 'complete', fence }))).toBe('STALE_FENCE')
    expect(refusal(await fixture.say(job.id, { type: 'complete', fence }))).toBe('STALE_FENCE')
    const { annotations } = await fixture.store.events({ by: 'annotation', id: job.id })
    expect(annotations).toMatchObject([{ jobId: job.id, command: 'complete', attempt: 1 }])
    expect((await fixture.job(job.id)).state).toBe('cancelled')
  })

  it('are refused after the lease has ended by the store’s clock, although nobody has noticed yet', async () => {
    const fixture = new EngineFixture()
    const { job, fence, leaseExpiresAt } = await fixture.running()
    fixture.clock.advance(leaseExpiresAt - fixture.clock.now())
    expect(refusal(await fixture.say(job.id, { type: 'complete', fence }))).toBe('LEASE_EXPIRED')
    expect((await fixture.job(job.id)).state).toBe('running')
  })

  it('that the store finds too late although this process thought there was time', async () => {
    const { fixture, between } = watched()
    const { job, fence, leaseExpiresAt } = await fixture.running()
    between.beforeCommit = () => fixture.clock.advance(leaseExpiresAt - fixture.clock.now())
    expect(refusal(await fixture.say(job.id, { type: 'complete', fence }))).toBe('LEASE_EXPIRED')
    expect((await fixture.job(job.id)).rev).toBe(3)
  })

  it('survive heartbeats that another thread sent', async () => {
    const fixture = new EngineFixture()
    const { job, fence } = await fixture.running()
    fixture.clock.advance(1_000)
    const keeper = fixture.another()
    expect(await keeper.heartbeat([{ id: job.id, fence, requestId: 'b1' }])).toMatchObject([{ ok: true, rev: 4 }])
    expect(await fixture.must(job.id, { type: 'complete', fence })).toMatchObject({ state: 'succeeded', rev: 5 })
  })
})

describe('words of anybody else', () => {
  it('cost one load, which also tells whether they were said before, and one commit', async () => {
    const { fixture, between } = watched()
    const { job } = await fixture.running()
    between.calls.load = 0
    between.calls.commit = 0
    await fixture.must(job.id, { type: 'cancel', mode: 'soft' })
    expect(between.calls).toMatchObject({ load: 1, commit: 1 })
  })
})

describe('words of many others about one job', () => {
  it('cost one load and one commit together while they move nothing, and keep their order', async () => {
    const { fixture, between } = watched()
    const { id } = await fixture.enqueue()
    between.calls.commit = 0
    const words = Array.from({ length: 40 }, (_, n) => fixture.word(id, { type: 'signal', name: `s${n}` }))
    const answers = await fixture.engine.settle([...words, fixture.word(id, { type: 'reschedule', priority: 1 })])
    expect(answers.map((answer) => answer.ok && answer.rev)).toEqual(Array.from({ length: 41 }, (_, n) => n + 2))
    expect(between.calls).toMatchObject({ load: 1, commit: 1 })
    expect((await fixture.job(id)).inbox.map(({ name }) => name)).toEqual(words.map((_, n) => `s${n}`))
    expect(derive(await fixture.log(id))).toEqual(await fixture.job(id))
  })

  it('are each answered, also those that come after the one that moved it, and those said before', async () => {
    const fixture = new EngineFixture()
    const { job, fence } = await fixture.running()
    await fixture.must(job.id, { type: 'wait', fence, name: 'go' })
    const known = fixture.word(job.id, { type: 'signal', name: 'a', requestId: 'known' })
    await fixture.engine.settle([known])
    const twice = fixture.word(job.id, { type: 'signal', name: 'b', requestId: 'twice' })
    const answers = await fixture.engine.settle([
      known,
      twice,
      twice,
      fixture.word(job.id, { type: 'signal', name: 'go' }),
      fixture.word(job.id, { type: 'signal', name: 'late' }),
      fixture.word(job.id, { type: 'cancel', mode: 'soft' }),
      fixture.word(job.id, { type: 'signal', name: 'too late' }),
    ])
    const told = answers.map((answer) =>
      answer.ok ? `${answer.state}${answer.replayed ? ' replayed' : ''}` : answer.refusal.code,
    )
    expect(told).toEqual(['parked replayed', 'parked', 'parked replayed', 'queued', 'queued', 'cancelled', 'ENDED'])
    expect((await fixture.job(job.id)).signals).toBe(4)
  })

  it('keep what they were told when another of them is refused its key', async () => {
    const fixture = new EngineFixture()
    const first = await fixture.enqueue({ dedupeKey: 'k' })
    const cancel = fixture.word(first.id, { type: 'cancel', mode: 'soft', requestId: 'c' })
    await fixture.engine.settle([cancel])
    await fixture.enqueue({ dedupeKey: 'k' })
    const answers = await fixture.engine.settle([cancel, fixture.word(first.id, { type: 'reopen' })])
    expect(answers[0]).toMatchObject({ ok: true, replayed: true, state: 'cancelled' })
    expect(refusal(answers[1])).toBe('KEY_TAKEN')
  })
})

describe('contention', () => {
  /** Somebody else speaks each time just before our commit; each of its words takes the given time. */
  function interfered(fixture: EngineFixture, between: Between, id: string, times: number, eachMs = 1) {
    const other = fixture.another()
    let n = 0
    const interfere = async () => {
      n += 1
      fixture.clock.advance(eachMs)
      await fixture.say(id, { type: 'signal', name: `s${n % 50}`, requestId: `i${n}` }, other)
      if (n < times) between.beforeCommit = interfere
    }
    // The other engine's commits pass through the same hook, which is off while it works.
    between.beforeCommit = interfere
    return () => n
  }

  it('is no reason to refuse anybody, however often somebody else was faster', async () => {
    const { fixture, between } = watched()
    const { job, fence } = await fixture.running()
    const met = interfered(fixture, between, job.id, 12)
    expect(await fixture.must(job.id, { type: 'complete', fence })).toMatchObject({ state: 'succeeded', rev: 16 })
    expect(met()).toBe(12)
  })

  it('for longer than anybody’s patience is said so: nothing was changed, and it may be said again', async () => {
    const { fixture, between } = watched()
    const { job } = await fixture.running()
    interfered(fixture, between, job.id, 80, PATIENCE_MS / 6)
    const cancel = { type: 'cancel', mode: 'soft', requestId: 'c' } as const
    const answer = await fixture.say(job.id, cancel)
    between.beforeCommit = undefined
    expect(answer).toMatchObject({ ok: false, refusal: { code: 'OVERLOADED', job: job.id, retryAfterMs: 500 } })
    expect((await fixture.job(job.id)).cancel).toBeUndefined()
    expect(await fixture.must(job.id, cancel)).toMatchObject({ replayed: false })
  })

  it('is a conflict for whoever said which revision was meant, and for nobody else', async () => {
    const { fixture, between } = watched()
    const { job, fence } = await fixture.running()
    interfered(fixture, between, job.id, 1)
    const answer = await fixture.say(job.id, { type: 'progress', fence, counters: { n: 1 }, expectedRev: 3 })
    expect(refusal(answer)).toBe('REV_CONFLICT')
  })

  it('does not hold up the words that came along', async () => {
    const { fixture, between } = watched()
    const one = await fixture.running()
    const two = await fixture.running()
    interfered(fixture, between, one.job.id, 5)
    between.calls.commit = 0
    const words = [one, two].map(({ job, fence }) => fixture.word(job.id, { type: 'complete', fence }))
    const answers = await fixture.engine.settle(words)
    expect(answers).toMatchObject([{ state: 'succeeded' }, { state: 'succeeded', rev: 4 }])
  })
})

describe('batches', () => {
  it('answer each word in its place, whatever became of its neighbours', async () => {
    const { fixture, between } = watched()
    const jobs = await Promise.all([1, 2, 3].map(() => fixture.enqueue()))
    const [a, b] = await fixture.claim(2)
    if (a === undefined || b === undefined) throw new Error('two jobs were to be claimed')
    between.calls.commit = 0
    const answers = await fixture.engine.settle([
      fixture.word('pj_zzz', { type: 'cancel', mode: 'soft' }),
      fixture.word(a.job.id, { type: 'complete', fence: a.fence }),
      fixture.word(jobs[2]?.id ?? '', { type: 'cancel', mode: 'soft' }),
      fixture.word(b.job.id, { type: 'complete', fence: '0.1.0123456789abcdef' }),
      fixture.word(b.job.id, { type: 'fail', fence: b.fence, fault: { code: '', message: '' } }),
    ])
    expect(answers.map((answer) => (answer.ok ? answer.state : answer.refusal.code))).toEqual([
      'NOT_FOUND',
      'succeeded',
      'cancelled',
      'STALE_FENCE',
      'INVALID',
    ])
  })

  it('apply an owner’s words about one job in order, in one commit', async () => {
    const { fixture, between } = watched()
    const { job, fence } = await fixture.claimed()
    between.calls.commit = 0
    const answers = await fixture.engine.settle([
      fixture.word(job.id, { type: 'start', fence }),
      fixture.word(job.id, { type: 'progress', fence, counters: { pages: 2 } }),
      fixture.word(job.id, { type: 'progress', fence, counters: { pages: 3 } }),
      fixture.word(job.id, { type: 'complete', fence }),
    ])
    expect(answers.map((answer) => answer.ok && answer.rev)).toEqual([3, 4, 5, 6])
    expect(between.calls.commit).toBe(1)
    const record = await fixture.job(job.id)
    expect(record).toMatchObject({ state: 'succeeded', counters: { pages: 5 } })
    expect(derive(await fixture.log(job.id))).toEqual(record)
  })

  it('go on after the words that close a lease, one commit each', async () => {
    const fixture = new EngineFixture()
    const { job, fence } = await fixture.claimed()
    const answers = await fixture.engine.settle([
      fixture.word(job.id, { type: 'start', fence }),
      fixture.word(job.id, { type: 'deadLetter', fence, reason: 'policy_violation', stage: 'exec' }),
      fixture.word(job.id, { type: 'complete', fence }),
      fixture.word(job.id, { type: 'reopen' }),
      fixture.word(job.id, { type: 'cancel', mode: 'soft' }),
    ])
    expect(answers.map((answer) => (answer.ok ? answer.state : answer.refusal.code))).toEqual([
      'running',
      'dead_lettered',
      'STALE_FENCE',
      'queued',
      'cancelled',
    ])
    expect(derive(await fixture.log(job.id))).toEqual(await fixture.job(job.id))
  })

  it('answer a word that is repeated within the batch as a repetition', async () => {
    const fixture = new EngineFixture()
    const { job, fence } = await fixture.claimed()
    const word = fixture.word(job.id, { type: 'progress', fence, counters: { n: 1 }, requestId: 'same' })
    const answers = await fixture.engine.settle([fixture.word(job.id, { type: 'start', fence }), word, word])
    expect(answers.map((answer) => answer.ok && answer.replayed)).toEqual([false, false, true])
    expect((await fixture.job(job.id)).counters).toEqual({ n: 1 })
  })

  it('settle hundreds of jobs in one commit', async () => {
    const { fixture, between } = watched()
    await fixture.engine.enqueue(
      Array.from({ length: 300 }, () => ({ actor: 'producer', kind: fixture.kind, priority: 5, input: undefined })),
    )
    const assignments = await fixture.claim(300)
    between.calls.commit = 0
    between.calls.load = 0
    const words = assignments.map(({ job, fence }) => fixture.word(job.id, { type: 'complete', fence }))
    expect((await fixture.engine.settle(words)).every(({ ok }) => ok)).toBe(true)
    expect(between.calls).toMatchObject({ load: 0, commit: 1 })
  })
})

describe('bodies', () => {
  it('are written with their event, a signal’s under its number', async () => {
    const fixture = new EngineFixture()
    const { job, fence } = await fixture.running()
    const ref = (name: string, text: string) => ({ name, size: text.length, digest: 'd' })
    const checkpoint = { name: 'checkpoint', text: '[1]' }
    await fixture.say(job.id, { type: 'checkpoint', fence, body: ref('checkpoint', '[1]') }, fixture.engine, [
      checkpoint,
    ])
    for (const text of ['1', '2']) {
      await fixture.say(job.id, { type: 'signal', name: 'go', body: ref('signal', text) }, fixture.engine, [
        { name: 'signal', text },
      ])
    }
    const wait: Saying = { type: 'wait', fence, name: 'go', memo: 'go#1' }
    expect(await fixture.must(job.id, wait)).toMatchObject({ state: 'queued' })
    const [loaded] = (await fixture.store.load([{ id: job.id, bodies: ['checkpoint', 'signal/', 'step/'] }])).items
    expect(loaded?.bodies).toEqual({
      checkpoint: '[1]',
      'signal/1': '1',
      'signal/2': '2',
      'step/go#1': '{"signal":1}',
    })
  })

  it('cannot be smuggled in under names the command does not write', async () => {
    const fixture = new EngineFixture()
    const { job, fence } = await fixture.running()
    const answer = await fixture.say(job.id, { type: 'complete', fence }, fixture.engine, [
      { name: 'input', text: 'evil' },
    ])
    expect(refusal(answer)).toBe('INVALID')
    const [loaded] = (await fixture.store.load([{ id: job.id, bodies: ['input'] }])).items
    expect(loaded?.bodies['input']).toBe('{"n":1}')
    expect(loaded?.job.state).toBe('running')
  })
})

describe('an answer that got lost', () => {
  const admission = { kind: kindOf({ admission: true }) }
  const doomed = { kind: kindOf({ retry: { attempts: 1 }, onExhausted: 'failed' }) }
  const fault = { code: 'x', message: 'x' }
  const body = { name: 'checkpoint', size: 2, digest: 'd' }

  /** For each command: a job that accepts it, and the words. */
  const ASKING = { type: 'askApproval', rule: 'r', policyHash: 'h', expiresMs: 60_000 } as const
  const cases: Readonly<Record<string, (fixture: EngineFixture) => Promise<readonly [string, Saying]>>> = {
    admit: async (b) => [(await b.enqueue(admission)).id, { type: 'admit', rule: 'r', policyHash: 'h' }],
    deny: async (b) => [(await b.enqueue(admission)).id, { type: 'deny', rule: 'r', policyHash: 'h' }],
    askApproval: async (b) => [(await b.enqueue(admission)).id, ASKING],
    approve: async (b) => {
      const { id } = await b.enqueue(admission)
      await b.engine.settle([b.word(id, ASKING)])
      const { approval } = await b.job(id)
      return [id, { type: 'approve', policyHash: 'h', jobHash: approval?.jobHash ?? '' }]
    },
    start: async (b) => owned(await b.claimed(), (fence) => ({ type: 'start', fence })),
    heartbeat: async (b) => owned(await b.running(), (fence) => ({ type: 'heartbeat', fence })),
    progress: async (b) => owned(await b.running(), (fence) => ({ type: 'progress', fence, counters: { a: 1 } })),
    checkpoint: async (b) => owned(await b.running(), (fence) => ({ type: 'checkpoint', fence, body })),
    record: async (b) =>
      owned(await b.running(), (fence) => ({ type: 'record', fence, artifact: { name: 'a', ptr: 'p' } })),
    complete: async (b) => owned(await b.running(), (fence) => ({ type: 'complete', fence, resultPtr: 's3://x' })),
    fail: async (b) => owned(await b.running(), (fence) => ({ type: 'fail', fence, fault })),
    wait: async (b) => owned(await b.running(), (fence) => ({ type: 'wait', fence, name: 'go' })),
    release: async (b) => owned(await b.running(), (fence) => ({ type: 'release', fence, reason: 'shutdown' })),
    compensated: async (b) => {
      const first = await b.running(doomed)
      const step = { name: 's', body: undefined, compensate: true }
      await b.must(first.job.id, { type: 'record', fence: first.fence, step })
      await b.must(first.job.id, { type: 'fail', fence: first.fence, fault })
      const [second] = await b.claim()
      if (second === undefined) throw new Error('a compensating job can be claimed')
      await b.must(second.job.id, { type: 'start', fence: second.fence })
      return owned(second, (fence) => ({ type: 'compensated', fence }))
    },
    signal: async (b) => [(await b.enqueue()).id, { type: 'signal', name: 'go' }],
    reschedule: async (b) => [(await b.enqueue()).id, { type: 'reschedule', priority: 1 }],
    replace: async (b) => [(await b.enqueue()).id, { type: 'replace', runAt: b.clock.now() + 1 }],
    stall: async (b) => {
      const { job, leaseExpiresAt } = await b.claimed()
      b.clock.advance(leaseExpiresAt - b.clock.now())
      return [job.id, { type: 'stall' }]
    },
    requeue: async (b) => {
      const { job, leaseExpiresAt } = await b.claimed()
      b.clock.advance(leaseExpiresAt - b.clock.now())
      await b.must(job.id, { type: 'stall' })
      return [job.id, { type: 'requeue' }]
    },
    cancel: async (b) => [(await b.running()).job.id, { type: 'cancel', mode: 'hard' }],
    expire: async (b) => {
      const { id } = await b.enqueue({ kind: kindOf({ deadline: '10s' }) })
      b.clock.advance(10_000)
      return [id, { type: 'expire' }]
    },
    deadLetter: async (b) => [
      (await b.enqueue()).id,
      { type: 'deadLetter', reason: 'policy_violation', stage: 'input' },
    ],
    reopen: async (b) => {
      const { job, fence } = await b.running(doomed)
      await b.must(job.id, { type: 'fail', fence, fault })
      return [job.id, { type: 'reopen' }]
    },
    strip: async (b) => {
      const { job, fence } = await b.running()
      await b.must(job.id, { type: 'complete', fence })
      return [job.id, { type: 'strip' }]
    },
  }

  const owned = (
    { job, fence }: { readonly job: { readonly id: string }; readonly fence: string },
    saying: (fence: string) => Saying,
  ): readonly [string, Saying] => [job.id, saying(fence)]

  it('has a case for every command', () => {
    const covered = new Set([...Object.keys(cases), 'enqueue', 'claim'])
    expect(COMMANDS.filter((command) => !covered.has(command))).toEqual([])
  })

  for (const [command, made] of Object.entries(cases)) {
    it.each(['here', 'in another process'])(`to ${command} is given again to a repetition %s`, async (where) => {
      const { fixture, between } = watched()
      const [id, saying] = await made(fixture)
      const word = fixture.word(id, saying)
      between.losing = 1
      await expect(fixture.engine.settle([word])).rejects.toThrow('connection lost')
      const done = await fixture.job(id)
      fixture.clock.advance(10)
      const engine = where === 'here' ? fixture.engine : fixture.another()
      const [answer] = await engine.settle([word])
      expect(answer).toMatchObject({ ok: true, replayed: true, rev: done.rev, state: done.state, at: done.updatedAt })
      expect(await fixture.job(id)).toEqual(done)
      const { annotations } = await fixture.store.events({ by: 'annotation', id })
      expect(annotations).toEqual([])
    })

    it(`to ${command} does not cover for other words under the same request id`, async () => {
      const fixture = new EngineFixture()
      const [id, saying] = await made(fixture)
      const word = fixture.word(id, saying)
      const [first] = await fixture.engine.settle([word])
      expect(first).toMatchObject({ ok: true, replayed: false })
      const other = fixture.word(id, { type: 'signal', name: 'other', requestId: word.command.requestId })
      const [answer] = await fixture.engine.settle([other])
      expect(refusal(answer)).toBe('REQUEST_ID_REUSED')
    })
  }

  it('to a claim is given again: the same jobs under the same fences', async () => {
    const { fixture, between } = watched()
    await fixture.enqueue()
    between.losing = 1
    await expect(fixture.claim(5, fixture.engine, 'q', 'c1')).rejects.toThrow('connection lost')
    await fixture.enqueue()
    const again = await fixture.claim(5, fixture.another(), 'q', 'c1')
    expect(again).toHaveLength(1)
    expect(again[0]).toMatchObject({ input: '{"n":1}', inputLater: false, job: { state: 'claimed', attempt: 1 } })
    const { job, fence } = again[0] as (typeof again)[number]
    expect((await fixture.must(job.id, { type: 'complete', fence })).state).toBe('succeeded')
  })

  it('to a heartbeat is given again', async () => {
    const { fixture, between } = watched()
    const { job, fence } = await fixture.running()
    fixture.clock.advance(100)
    const beat = { id: job.id, fence, requestId: 'b1' }
    between.losing = 1
    await expect(fixture.engine.heartbeat([beat])).rejects.toThrow('connection lost')
    expect(await fixture.engine.heartbeat([beat])).toMatchObject([{ ok: true, rev: 4 }])
    expect((await fixture.job(job.id)).lease?.beats).toBe(1)
  })
})

describe('heartbeats', () => {
  it('tell of a requested cancel, and who has lost the job and why', async () => {
    const fixture = new EngineFixture()
    const a = await fixture.running()
    const b = await fixture.running()
    const c = await fixture.running()
    await fixture.must(a.job.id, { type: 'cancel', mode: 'soft', reason: 'enough' })
    await fixture.must(b.job.id, { type: 'cancel', mode: 'hard' })
    const beats = [a, b, c].map(({ job, fence }, i) => ({ id: job.id, fence, requestId: `b${i}` }))
    const answers = await fixture.engine.heartbeat([...beats, { id: 'pj_zzz', fence: 'x', requestId: 'y' }])
    expect(answers).toMatchObject([
      { ok: true, cancel: { mode: 'soft', reason: 'enough' } },
      { ok: false, refusal: { code: 'STALE_FENCE', state: 'cancelled' } },
      { ok: true, cancel: undefined },
      { ok: false, refusal: { code: 'NOT_FOUND' } },
    ])
  })

  it('that tell of a cancel are the owner’s own words', async () => {
    const { fixture, between } = watched()
    const { job, fence } = await fixture.claimed()
    await fixture.must(job.id, { type: 'cancel', mode: 'soft' })
    fixture.clock.advance(1_000)
    // Whoever else speaks first, they are judged again and not lost.
    between.beforeCommit = async () => {
      await fixture.say(job.id, { type: 'signal', name: 'go' }, fixture.another())
    }
    const [answer] = await fixture.engine.heartbeat([{ id: job.id, fence, requestId: 'b1' }])
    const { lease, cancel, rev } = await fixture.job(job.id)
    expect(answer).toEqual({ ok: true, rev, leaseExpiresAt: lease?.expiresAt, cancel })
    expect(cancel?.deliveredAt).toBe(fixture.clock.now())
    expect((await fixture.log(job.id)).at(-1)).toMatchObject({ type: 'heartbeat', actor: 'worker:w1', requestId: 'b1' })
  })

  it('renew a lease whose row stays busy, also where its document wants to hear a revision', async () => {
    const busy = { status: 'busy' } as const
    const fixture = new EngineFixture({
      between: (store) => ({
        ...new Between().wrap(store),
        heartbeat: async (beats) => ({ now: fixture.clock.now(), items: beats.map(() => busy) }),
      }),
    })
    const { job, fence } = await fixture.claimed({ kind: kindOf({ dialect: '001' }) })
    const answers = await fixture.engine.heartbeat([{ id: job.id, fence, requestId: 'b1' }])
    expect(answers).toMatchObject([{ ok: true, rev: 3 }])
    expect((await fixture.log(job.id)).at(-1)).toMatchObject({ type: 'heartbeat', actor: 'worker:w1' })
  })

  it('that tell of a cancel are repeated where their answer was lost, to a process that has never seen the job', async () => {
    const fixture = new EngineFixture()
    const { job, fence } = await fixture.running()
    await fixture.must(job.id, { type: 'cancel', mode: 'soft' })
    const beat = { id: job.id, fence, requestId: 'b1' }
    const [first] = await fixture.another().heartbeat([beat])
    fixture.clock.advance(1_000)
    expect(await fixture.another().heartbeat([beat])).toEqual([first])
    expect((await fixture.job(job.id)).lease?.beats).toBe(1)
  })

  it('keep the held record true: the next word needs no load', async () => {
    const { fixture, between } = watched()
    const { job, fence } = await fixture.running()
    fixture.clock.advance(5_000)
    await fixture.engine.heartbeat([{ id: job.id, fence, requestId: 'b1' }])
    between.calls.load = 0
    await fixture.must(job.id, { type: 'complete', fence })
    expect(between.calls.load).toBe(0)
    expect(derive(await fixture.log(job.id))).toEqual(await fixture.job(job.id))
  })
})

describe('a store that disagrees with core', () => {
  it('about a claim is told so, and the jobs beside it are worked on', async () => {
    const fixture = new EngineFixture({
      between: (store) => ({
        ...new Between().wrap(store),
        claim: async (grant) => {
          const answer = await store.claim(grant)
          return { ...answer, jobs: answer.jobs.map((job, i) => (i === 0 ? { ...job, rev: 7 } : job)) }
        },
      }),
    })
    const lines: string[] = []
    const log = linesTo(
      (line) => lines.push(line),
      () => 0,
    )
    const { store, clock } = fixture
    const engine = new LocalEngine({ store, clock, random: realRandom, timers: realTimers, log })
    await fixture.enqueue()
    const second = await fixture.enqueue()
    const assignments = await fixture.claim(2, engine)
    expect(assignments.map(({ job }) => job.id)).toEqual([second.id])
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'error', job_id: 'pj_1', store: 'rev 7, attempt 1, until 1800000031000' },
    ])
  })

  it('about a record is told so, and only that job’s words are refused', async () => {
    const fixture = new EngineFixture({
      between: (store) => ({
        ...new Between().wrap(store),
        load: async (items) => {
          const answer = await store.load(items)
          const spoil = (each: (typeof answer.items)[number]) =>
            each?.job.id === 'pj_1' ? { ...each, job: { ...each.job, inbox: undefined as never } } : each
          return { ...answer, items: answer.items.map(spoil) }
        },
      }),
    })
    const first = await fixture.enqueue()
    const second = await fixture.enqueue()
    const words = [first, second].map(({ id }) => fixture.word(id, { type: 'signal', name: 'go' }))
    const answers = await fixture.engine.settle(words)
    expect(answers.map(refusal)).toEqual(['INVALID', undefined])
  })
})

describe('002: a retry that is a new job', () => {
  it.each(['live', 'forever', '1h'] as const)('takes over input, budget and dedupe key (%s)', async (dedupeFor) => {
    const fixture = new EngineFixture()
    const kind = kindOf({ dialect: '002', dedupe: { for: dedupeFor }, retry: { attempts: 3, jitter: 'none' } })
    const { job, fence } = await fixture.running({ kind, dedupeKey: 'once' })
    const answer = await fixture.must(job.id, { type: 'fail', fence, fault: { code: 'E_GPU_OOM', message: 'x' } })
    expect(answer.state).toBe('failed')
    const { jobs } = await fixture.store.find({ parentId: job.id, order: 'newest', limit: 10 })
    expect(jobs).toMatchObject([{ state: 'pending', failures: 1, attempt: 0 }])
    const [loaded] = (await fixture.store.load([{ id: jobs[0]?.id ?? '', bodies: ['input'] }])).items
    expect(loaded?.bodies['input']).toBe('{"n":1}')
    expect(await fixture.tryEnqueue({ kind, dedupeKey: 'once' })).toMatchObject({ ok: true, deduped: true })
    expect((await verify(fixture.engine)).discrepancies).toEqual([])
  })
})
