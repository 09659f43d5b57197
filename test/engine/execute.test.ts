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
import { Bench, kindOf, type Saying } from './bench.ts'
import { Between } from './between.ts'

const refusal = (answer: Answer | undefined): RefusalCode | undefined =>
  answer === undefined || answer.ok ? undefined : answer.refusal.code

function watched(): { bench: Bench; between: Between } {
  const between = new Between()
  return { bench: new Bench({ between: (store) => between.wrap(store) }), between }
}

describe('words of a local owner', () => {
  it('are judged on the record held here: a claimed job is settled by one commit and no load', async () => {
    const { bench, between } = watched()
    const { job, fence } = await bench.claimed()
    between.calls.load = 0
    await bench.must(job.id, { type: 'complete', fence })
    expect(between.calls).toMatchObject({ load: 0, commit: 1 })
    expect((await bench.job(job.id)).state).toBe('succeeded')
  })

  it('are judged again on a fresh record when somebody else spoke in between', async () => {
    const { bench, between } = watched()
    const { job, fence } = await bench.running()
    const other = bench.another()
    between.beforeCommit = async () => {
      await bench.say(job.id, { type: 'cancel', mode: 'soft' }, other)
    }
    const answer = await bench.must(job.id, { type: 'complete', fence })
    expect(answer).toMatchObject({ state: 'succeeded', replayed: false })
    const log = await bench.log(job.id)
    expect(log.map(({ type }) => type)).toEqual(['enqueued', 'claimed', 'started', 'cancel_requested', 'succeeded'])
    expect(log.at(-1)?.reason).toBe('cancel_came_too_late')
  })

  it('are refused when what happened in between took the job away, and noted beside the log once', async () => {
    const { bench, between } = watched()
    const { job, fence } = await bench.running()
    const other = bench.another()
    between.beforeCommit = async () => {
      await bench.say(job.id, { type: 'cancel', mode: 'hard' }, other)
    }
    expect(refusal(await bench.say(job.id, { type: 'complete', fence }))).toBe('STALE_FENCE')
    expect(refusal(await bench.say(job.id, { type: 'complete', fence }))).toBe('STALE_FENCE')
    const { annotations } = await bench.store.events({ by: 'annotation', id: job.id })
    expect(annotations).toMatchObject([{ jobId: job.id, command: 'complete', attempt: 1 }])
    expect((await bench.job(job.id)).state).toBe('cancelled')
  })

  it('are refused after the lease has ended by the store’s clock, although nobody has noticed yet', async () => {
    const bench = new Bench()
    const { job, fence, leaseExpiresAt } = await bench.running()
    bench.clock.advance(leaseExpiresAt - bench.clock.now())
    expect(refusal(await bench.say(job.id, { type: 'complete', fence }))).toBe('LEASE_EXPIRED')
    expect((await bench.job(job.id)).state).toBe('running')
  })

  it('that the store finds too late although this process thought there was time', async () => {
    const { bench, between } = watched()
    const { job, fence, leaseExpiresAt } = await bench.running()
    between.beforeCommit = () => bench.clock.advance(leaseExpiresAt - bench.clock.now())
    expect(refusal(await bench.say(job.id, { type: 'complete', fence }))).toBe('LEASE_EXPIRED')
    expect((await bench.job(job.id)).rev).toBe(3)
  })

  it('survive heartbeats that another thread sent', async () => {
    const bench = new Bench()
    const { job, fence } = await bench.running()
    bench.clock.advance(1_000)
    const keeper = bench.another()
    expect(await keeper.heartbeat([{ id: job.id, fence, requestId: 'b1' }])).toMatchObject([{ ok: true, rev: 4 }])
    expect(await bench.must(job.id, { type: 'complete', fence })).toMatchObject({ state: 'succeeded', rev: 5 })
  })
})

describe('words of anybody else', () => {
  it('cost one load, which also tells whether they were said before, and one commit', async () => {
    const { bench, between } = watched()
    const { job } = await bench.running()
    between.calls.load = 0
    between.calls.commit = 0
    await bench.must(job.id, { type: 'cancel', mode: 'soft' })
    expect(between.calls).toMatchObject({ load: 1, commit: 1 })
  })
})

describe('words of many others about one job', () => {
  it('cost one load and one commit together while they move nothing, and keep their order', async () => {
    const { bench, between } = watched()
    const { id } = await bench.enqueue()
    between.calls.commit = 0
    const words = Array.from({ length: 40 }, (_, n) => bench.word(id, { type: 'signal', name: `s${n}` }))
    const answers = await bench.engine.settle([...words, bench.word(id, { type: 'reschedule', priority: 1 })])
    expect(answers.map((answer) => answer.ok && answer.rev)).toEqual(Array.from({ length: 41 }, (_, n) => n + 2))
    expect(between.calls).toMatchObject({ load: 1, commit: 1 })
    expect((await bench.job(id)).inbox.map(({ name }) => name)).toEqual(words.map((_, n) => `s${n}`))
    expect(derive(await bench.log(id))).toEqual(await bench.job(id))
  })

  it('are each answered, also those that come after the one that moved it, and those said before', async () => {
    const bench = new Bench()
    const { job, fence } = await bench.running()
    await bench.must(job.id, { type: 'wait', fence, name: 'go' })
    const known = bench.word(job.id, { type: 'signal', name: 'a', requestId: 'known' })
    await bench.engine.settle([known])
    const twice = bench.word(job.id, { type: 'signal', name: 'b', requestId: 'twice' })
    const answers = await bench.engine.settle([
      known,
      twice,
      twice,
      bench.word(job.id, { type: 'signal', name: 'go' }),
      bench.word(job.id, { type: 'signal', name: 'late' }),
      bench.word(job.id, { type: 'cancel', mode: 'soft' }),
      bench.word(job.id, { type: 'signal', name: 'too late' }),
    ])
    const told = answers.map((answer) =>
      answer.ok ? `${answer.state}${answer.replayed ? ' replayed' : ''}` : answer.refusal.code,
    )
    expect(told).toEqual(['parked replayed', 'parked', 'parked replayed', 'queued', 'queued', 'cancelled', 'ENDED'])
    expect((await bench.job(job.id)).signals).toBe(4)
  })

  it('keep what they were told when another of them is refused its key', async () => {
    const bench = new Bench()
    const first = await bench.enqueue({ dedupeKey: 'k' })
    const cancel = bench.word(first.id, { type: 'cancel', mode: 'soft', requestId: 'c' })
    await bench.engine.settle([cancel])
    await bench.enqueue({ dedupeKey: 'k' })
    const answers = await bench.engine.settle([cancel, bench.word(first.id, { type: 'reopen' })])
    expect(answers[0]).toMatchObject({ ok: true, replayed: true, state: 'cancelled' })
    expect(refusal(answers[1])).toBe('KEY_TAKEN')
  })
})

describe('contention', () => {
  /** Somebody else speaks each time just before our commit; each of its words takes the given time. */
  function interfered(bench: Bench, between: Between, id: string, times: number, eachMs = 1) {
    const other = bench.another()
    let n = 0
    const interfere = async () => {
      n += 1
      bench.clock.advance(eachMs)
      await bench.say(id, { type: 'signal', name: `s${n % 50}`, requestId: `i${n}` }, other)
      if (n < times) between.beforeCommit = interfere
    }
    // The other engine's commits pass through the same hook, which is off while it works.
    between.beforeCommit = interfere
    return () => n
  }

  it('is no reason to refuse anybody, however often somebody else was faster', async () => {
    const { bench, between } = watched()
    const { job, fence } = await bench.running()
    const met = interfered(bench, between, job.id, 12)
    expect(await bench.must(job.id, { type: 'complete', fence })).toMatchObject({ state: 'succeeded', rev: 16 })
    expect(met()).toBe(12)
  })

  it('for longer than anybody’s patience is said so: nothing was changed, and it may be said again', async () => {
    const { bench, between } = watched()
    const { job } = await bench.running()
    interfered(bench, between, job.id, 80, PATIENCE_MS / 6)
    const cancel = { type: 'cancel', mode: 'soft', requestId: 'c' } as const
    const answer = await bench.say(job.id, cancel)
    between.beforeCommit = undefined
    expect(answer).toMatchObject({ ok: false, refusal: { code: 'OVERLOADED', job: job.id, retryAfterMs: 500 } })
    expect((await bench.job(job.id)).cancel).toBeUndefined()
    expect(await bench.must(job.id, cancel)).toMatchObject({ replayed: false })
  })

  it('is a conflict for whoever said which revision was meant, and for nobody else', async () => {
    const { bench, between } = watched()
    const { job, fence } = await bench.running()
    interfered(bench, between, job.id, 1)
    const answer = await bench.say(job.id, { type: 'progress', fence, counters: { n: 1 }, expectedRev: 3 })
    expect(refusal(answer)).toBe('REV_CONFLICT')
  })

  it('does not hold up the words that came along', async () => {
    const { bench, between } = watched()
    const one = await bench.running()
    const two = await bench.running()
    interfered(bench, between, one.job.id, 5)
    between.calls.commit = 0
    const words = [one, two].map(({ job, fence }) => bench.word(job.id, { type: 'complete', fence }))
    const answers = await bench.engine.settle(words)
    expect(answers).toMatchObject([{ state: 'succeeded' }, { state: 'succeeded', rev: 4 }])
  })
})

describe('batches', () => {
  it('answer each word in its place, whatever became of its neighbours', async () => {
    const { bench, between } = watched()
    const jobs = await Promise.all([1, 2, 3].map(() => bench.enqueue()))
    const [a, b] = await bench.claim(2)
    if (a === undefined || b === undefined) throw new Error('two jobs were to be claimed')
    between.calls.commit = 0
    const answers = await bench.engine.settle([
      bench.word('pj_zzz', { type: 'cancel', mode: 'soft' }),
      bench.word(a.job.id, { type: 'complete', fence: a.fence }),
      bench.word(jobs[2]?.id ?? '', { type: 'cancel', mode: 'soft' }),
      bench.word(b.job.id, { type: 'complete', fence: '0.1.0123456789abcdef' }),
      bench.word(b.job.id, { type: 'fail', fence: b.fence, fault: { code: '', message: '' } }),
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
    const { bench, between } = watched()
    const { job, fence } = await bench.claimed()
    between.calls.commit = 0
    const answers = await bench.engine.settle([
      bench.word(job.id, { type: 'start', fence }),
      bench.word(job.id, { type: 'progress', fence, counters: { pages: 2 } }),
      bench.word(job.id, { type: 'progress', fence, counters: { pages: 3 } }),
      bench.word(job.id, { type: 'complete', fence }),
    ])
    expect(answers.map((answer) => answer.ok && answer.rev)).toEqual([3, 4, 5, 6])
    expect(between.calls.commit).toBe(1)
    const record = await bench.job(job.id)
    expect(record).toMatchObject({ state: 'succeeded', counters: { pages: 5 } })
    expect(derive(await bench.log(job.id))).toEqual(record)
  })

  it('go on after the words that close a lease, one commit each', async () => {
    const bench = new Bench()
    const { job, fence } = await bench.claimed()
    const answers = await bench.engine.settle([
      bench.word(job.id, { type: 'start', fence }),
      bench.word(job.id, { type: 'deadLetter', fence, reason: 'policy_violation', stage: 'exec' }),
      bench.word(job.id, { type: 'complete', fence }),
      bench.word(job.id, { type: 'reopen' }),
      bench.word(job.id, { type: 'cancel', mode: 'soft' }),
    ])
    expect(answers.map((answer) => (answer.ok ? answer.state : answer.refusal.code))).toEqual([
      'running',
      'dead_lettered',
      'STALE_FENCE',
      'queued',
      'cancelled',
    ])
    expect(derive(await bench.log(job.id))).toEqual(await bench.job(job.id))
  })

  it('answer a word that is repeated within the batch as a repetition', async () => {
    const bench = new Bench()
    const { job, fence } = await bench.claimed()
    const word = bench.word(job.id, { type: 'progress', fence, counters: { n: 1 }, requestId: 'same' })
    const answers = await bench.engine.settle([bench.word(job.id, { type: 'start', fence }), word, word])
    expect(answers.map((answer) => answer.ok && answer.replayed)).toEqual([false, false, true])
    expect((await bench.job(job.id)).counters).toEqual({ n: 1 })
  })

  it('settle hundreds of jobs in one commit', async () => {
    const { bench, between } = watched()
    await bench.engine.enqueue(
      Array.from({ length: 300 }, () => ({ actor: 'producer', kind: bench.kind, priority: 5, input: undefined })),
    )
    const assignments = await bench.claim(300)
    between.calls.commit = 0
    between.calls.load = 0
    const words = assignments.map(({ job, fence }) => bench.word(job.id, { type: 'complete', fence }))
    expect((await bench.engine.settle(words)).every(({ ok }) => ok)).toBe(true)
    expect(between.calls).toMatchObject({ load: 0, commit: 1 })
  })
})

describe('bodies', () => {
  it('are written with their event, a signal’s under its number', async () => {
    const bench = new Bench()
    const { job, fence } = await bench.running()
    const ref = (name: string, text: string) => ({ name, size: text.length, digest: 'd' })
    const checkpoint = { name: 'checkpoint', text: '[1]' }
    await bench.say(job.id, { type: 'checkpoint', fence, body: ref('checkpoint', '[1]') }, bench.engine, [checkpoint])
    for (const text of ['1', '2']) {
      await bench.say(job.id, { type: 'signal', name: 'go', body: ref('signal', text) }, bench.engine, [
        { name: 'signal', text },
      ])
    }
    const wait: Saying = { type: 'wait', fence, name: 'go', memo: 'go#1' }
    expect(await bench.must(job.id, wait)).toMatchObject({ state: 'queued' })
    const [loaded] = (await bench.store.load([{ id: job.id, bodies: ['checkpoint', 'signal/', 'step/'] }])).items
    expect(loaded?.bodies).toEqual({
      checkpoint: '[1]',
      'signal/1': '1',
      'signal/2': '2',
      'step/go#1': '{"signal":1}',
    })
  })

  it('cannot be smuggled in under names the command does not write', async () => {
    const bench = new Bench()
    const { job, fence } = await bench.running()
    const answer = await bench.say(job.id, { type: 'complete', fence }, bench.engine, [{ name: 'input', text: 'evil' }])
    expect(refusal(answer)).toBe('INVALID')
    const [loaded] = (await bench.store.load([{ id: job.id, bodies: ['input'] }])).items
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
  const scenes: Readonly<Record<string, (bench: Bench) => Promise<readonly [string, Saying]>>> = {
    admit: async (b) => [(await b.enqueue(admission)).id, { type: 'admit', rule: 'r', policyHash: 'h' }],
    deny: async (b) => [(await b.enqueue(admission)).id, { type: 'deny', rule: 'r', policyHash: 'h' }],
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
  }

  const owned = (
    { job, fence }: { readonly job: { readonly id: string }; readonly fence: string },
    saying: (fence: string) => Saying,
  ): readonly [string, Saying] => [job.id, saying(fence)]

  it('has a scene for every command', () => {
    const covered = new Set([...Object.keys(scenes), 'enqueue', 'claim'])
    expect(COMMANDS.filter((command) => !covered.has(command))).toEqual([])
  })

  for (const [command, scene] of Object.entries(scenes)) {
    it.each(['here', 'in another process'])(`to ${command} is given again to a repetition %s`, async (where) => {
      const { bench, between } = watched()
      const [id, saying] = await scene(bench)
      const word = bench.word(id, saying)
      between.losing = 1
      await expect(bench.engine.settle([word])).rejects.toThrow('connection lost')
      const done = await bench.job(id)
      bench.clock.advance(10)
      const engine = where === 'here' ? bench.engine : bench.another()
      const [answer] = await engine.settle([word])
      expect(answer).toMatchObject({ ok: true, replayed: true, rev: done.rev, state: done.state, at: done.updatedAt })
      expect(await bench.job(id)).toEqual(done)
      const { annotations } = await bench.store.events({ by: 'annotation', id })
      expect(annotations).toEqual([])
    })

    it(`to ${command} does not cover for other words under the same request id`, async () => {
      const bench = new Bench()
      const [id, saying] = await scene(bench)
      const word = bench.word(id, saying)
      const [first] = await bench.engine.settle([word])
      expect(first).toMatchObject({ ok: true, replayed: false })
      const other = bench.word(id, { type: 'signal', name: 'other', requestId: word.command.requestId })
      const [answer] = await bench.engine.settle([other])
      expect(refusal(answer)).toBe('REQUEST_ID_REUSED')
    })
  }

  it('to a claim is given again: the same jobs under the same fences', async () => {
    const { bench, between } = watched()
    await bench.enqueue()
    between.losing = 1
    await expect(bench.claim(5, bench.engine, 'q', 'c1')).rejects.toThrow('connection lost')
    await bench.enqueue()
    const again = await bench.claim(5, bench.another(), 'q', 'c1')
    expect(again).toHaveLength(1)
    expect(again[0]).toMatchObject({ input: '{"n":1}', inputLater: false, job: { state: 'claimed', attempt: 1 } })
    const { job, fence } = again[0] as (typeof again)[number]
    expect((await bench.must(job.id, { type: 'complete', fence })).state).toBe('succeeded')
  })

  it('to a heartbeat is given again', async () => {
    const { bench, between } = watched()
    const { job, fence } = await bench.running()
    bench.clock.advance(100)
    const beat = { id: job.id, fence, requestId: 'b1' }
    between.losing = 1
    await expect(bench.engine.heartbeat([beat])).rejects.toThrow('connection lost')
    expect(await bench.engine.heartbeat([beat])).toMatchObject([{ ok: true, rev: 4 }])
    expect((await bench.job(job.id)).lease?.beats).toBe(1)
  })
})

describe('heartbeats', () => {
  it('tell of a requested cancel, and who has lost the job and why', async () => {
    const bench = new Bench()
    const a = await bench.running()
    const b = await bench.running()
    const c = await bench.running()
    await bench.must(a.job.id, { type: 'cancel', mode: 'soft', reason: 'enough' })
    await bench.must(b.job.id, { type: 'cancel', mode: 'hard' })
    const beats = [a, b, c].map(({ job, fence }, i) => ({ id: job.id, fence, requestId: `b${i}` }))
    const answers = await bench.engine.heartbeat([...beats, { id: 'pj_zzz', fence: 'x', requestId: 'y' }])
    expect(answers).toMatchObject([
      { ok: true, cancel: { mode: 'soft', reason: 'enough' } },
      { ok: false, refusal: { code: 'STALE_FENCE', state: 'cancelled' } },
      { ok: true, cancel: undefined },
      { ok: false, refusal: { code: 'NOT_FOUND' } },
    ])
  })

  it('that tell of a cancel are the owner’s own words', async () => {
    const { bench, between } = watched()
    const { job, fence } = await bench.claimed()
    await bench.must(job.id, { type: 'cancel', mode: 'soft' })
    bench.clock.advance(1_000)
    // Whoever else speaks first, they are judged again and not lost.
    between.beforeCommit = async () => {
      await bench.say(job.id, { type: 'signal', name: 'go' }, bench.another())
    }
    const [answer] = await bench.engine.heartbeat([{ id: job.id, fence, requestId: 'b1' }])
    const { lease, cancel, rev } = await bench.job(job.id)
    expect(answer).toEqual({ ok: true, rev, leaseExpiresAt: lease?.expiresAt, cancel })
    expect(cancel?.deliveredAt).toBe(bench.clock.now())
    expect((await bench.log(job.id)).at(-1)).toMatchObject({ type: 'heartbeat', actor: 'worker:w1', requestId: 'b1' })
  })

  it('renew a lease whose row stays busy, also where its document wants to hear a revision', async () => {
    const busy = { status: 'busy' } as const
    const bench = new Bench({
      between: (store) => ({
        ...new Between().wrap(store),
        heartbeat: async (beats) => ({ now: bench.clock.now(), items: beats.map(() => busy) }),
      }),
    })
    const { job, fence } = await bench.claimed({ kind: kindOf({ dialect: '001' }) })
    const answers = await bench.engine.heartbeat([{ id: job.id, fence, requestId: 'b1' }])
    expect(answers).toMatchObject([{ ok: true, rev: 3 }])
    expect((await bench.log(job.id)).at(-1)).toMatchObject({ type: 'heartbeat', actor: 'worker:w1' })
  })

  it('that tell of a cancel are repeated where their answer was lost, to a process that has never seen the job', async () => {
    const bench = new Bench()
    const { job, fence } = await bench.running()
    await bench.must(job.id, { type: 'cancel', mode: 'soft' })
    const beat = { id: job.id, fence, requestId: 'b1' }
    const [first] = await bench.another().heartbeat([beat])
    bench.clock.advance(1_000)
    expect(await bench.another().heartbeat([beat])).toEqual([first])
    expect((await bench.job(job.id)).lease?.beats).toBe(1)
  })

  it('keep the held record true: the next word needs no load', async () => {
    const { bench, between } = watched()
    const { job, fence } = await bench.running()
    bench.clock.advance(5_000)
    await bench.engine.heartbeat([{ id: job.id, fence, requestId: 'b1' }])
    between.calls.load = 0
    await bench.must(job.id, { type: 'complete', fence })
    expect(between.calls.load).toBe(0)
    expect(derive(await bench.log(job.id))).toEqual(await bench.job(job.id))
  })
})

describe('a store that disagrees with core', () => {
  it('about a claim is told so, and the jobs beside it are worked on', async () => {
    const bench = new Bench({
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
    const { store, clock } = bench
    const engine = new LocalEngine({ store, clock, random: realRandom, timers: realTimers, log })
    await bench.enqueue()
    const second = await bench.enqueue()
    const assignments = await bench.claim(2, engine)
    expect(assignments.map(({ job }) => job.id)).toEqual([second.id])
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'error', job_id: 'pj_1', store: 'rev 7, attempt 1, until 1800000031000' },
    ])
  })

  it('about a record is told so, and only that job’s words are refused', async () => {
    const bench = new Bench({
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
    const first = await bench.enqueue()
    const second = await bench.enqueue()
    const words = [first, second].map(({ id }) => bench.word(id, { type: 'signal', name: 'go' }))
    const answers = await bench.engine.settle(words)
    expect(answers.map(refusal)).toEqual(['INVALID', undefined])
  })
})

describe('002: a retry that is a new job', () => {
  it.each(['live', 'forever', '1h'] as const)('takes over input, budget and dedupe key (%s)', async (dedupeFor) => {
    const bench = new Bench()
    const kind = kindOf({ dialect: '002', dedupeFor, retry: { attempts: 3, jitter: 'none' } })
    const { job, fence } = await bench.running({ kind, dedupeKey: 'once' })
    const answer = await bench.must(job.id, { type: 'fail', fence, fault: { code: 'E_GPU_OOM', message: 'x' } })
    expect(answer.state).toBe('failed')
    const { jobs } = await bench.store.find({ parentId: job.id, order: 'newest', limit: 10 })
    expect(jobs).toMatchObject([{ state: 'pending', failures: 1, attempt: 0 }])
    const [loaded] = (await bench.store.load([{ id: jobs[0]?.id ?? '', bodies: ['input'] }])).items
    expect(loaded?.bodies['input']).toBe('{"n":1}')
    expect(await bench.tryEnqueue({ kind, dedupeKey: 'once' })).toMatchObject({ ok: true, deduped: true })
    expect((await verify(bench.engine)).discrepancies).toEqual([])
  })
})
