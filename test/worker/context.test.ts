import { describe, expect, it, vi } from 'vitest'
import type { Context, Waited } from '../../src/worker/context.ts'
import { definition, openWorkerFixture, type WorkerFixture } from './worker-fixture.ts'

const retrySoon = { base: 1_000, factor: 1, max: 1_000, jitter: 'none' } as const

describe('step', () => {
  it('runs once, whatever happens after it, and answers the same on another worker', async () => {
    await using fixture = openWorkerFixture()
    const ran: string[] = []
    const seen: unknown[] = []
    const saga = definition(
      async (_, ctx) => {
        const at = await ctx.step('first', () => {
          ran.push('first')
          return { at: new Date(0), nothing: undefined }
        })
        const second = await ctx.step('second', async () => ran.push('second'))
        seen.push(at, second)
        if (ctx.attempt === 1) await new Promise(() => {})
        if (ctx.attempt === 2) throw new Error('again')
        return 'done'
      },
      { retry: retrySoon },
    )
    const id = await fixture.enqueue(saga)
    const { mortal } = fixture.work([saga])
    await fixture.time.advance(300)
    mortal.kill()
    fixture.work([saga])
    await fixture.time.advance(20_000)
    expect((await fixture.load(id)).state).toBe('succeeded')
    expect(ran).toEqual(['first', 'second'])
    const memo = { at: '1970-01-01T00:00:00.000Z' }
    expect(seen).toEqual([memo, 2, memo, 2, memo, 2])
    expect(await fixture.load(id)).toMatchObject({ attempt: 3, stalls: 1, failures: 1, steps: 2 })
  })

  it('tells steps of the same name apart by their order', async () => {
    await using fixture = openWorkerFixture()
    let runs = 0
    const twice = definition(
      async (_, ctx) => {
        const answers = []
        for (let i = 0; i < 3; i += 1) answers.push(await ctx.step('page', () => ++runs))
        if (ctx.attempt === 1) throw new Error('again')
        return answers
      },
      { retry: retrySoon },
    )
    const id = await fixture.enqueue(twice)
    fixture.work([twice])
    await fixture.time.advance(10_000)
    expect(await fixture.body(id, 'output')).toEqual([1, 2, 3])
    expect(await fixture.body(id, 'step/page#2')).toMatchObject({ value: 2 })
  })

  it('is not remembered if it throws', async () => {
    await using fixture = openWorkerFixture()
    let runs = 0
    const flaky = definition(
      (_, ctx) =>
        ctx.step('flaky', () => {
          runs += 1
          if (runs < 3) throw new Error('not yet')
          return runs
        }),
      { retry: retrySoon },
    )
    const id = await fixture.enqueue(flaky)
    fixture.work([flaky])
    await fixture.time.advance(20_000)
    expect(await fixture.body(id, 'output')).toBe(3)
  })

  it('that was a wait before is a permanent error: the handler is not deterministic', async () => {
    await using fixture = openWorkerFixture()
    const fickle = definition(async (_, ctx) => {
      if (ctx.attempt === 1) await ctx.waitFor('x', { timeout: 1_000 })
      else await ctx.step('x', () => 1)
    })
    const id = await fixture.enqueue(fickle)
    fixture.work([fickle])
    await fixture.time.advance(10_000)
    expect(await fixture.load(id)).toMatchObject({ state: 'failed', error: { code: 'E_NONDETERMINISTIC' } })
  })

  it('cannot wait elsewhere than it waited before', async () => {
    await using fixture = openWorkerFixture()
    const fickle = definition(async (_, ctx) => {
      await ctx.waitFor(ctx.attempt === 1 ? 'x' : 'y', { timeout: 1_000 })
    })
    const id = await fixture.enqueue(fickle)
    fixture.work([fickle])
    await fixture.time.advance(10_000)
    expect(await fixture.load(id)).toMatchObject({ state: 'failed', error: { code: 'E_NONDETERMINISTIC' } })
  })
})

describe('waitFor', () => {
  const approval = () => {
    const answers: Waited<unknown>[] = []
    const job = definition(async (_, ctx: Context) => {
      const answer = await ctx.waitFor('approved', { timeout: '2h', key: 'k' })
      answers.push(answer)
      return answer
    })
    return { job, answers }
  }

  it('lets go of the worker, is parked, and goes on with what the signal brought', async () => {
    await using fixture = openWorkerFixture()
    const { job, answers } = approval()
    const id = await fixture.enqueue(job)
    const { worker } = fixture.work([job])
    await fixture.time.advance(500)
    expect(await fixture.load(id)).toMatchObject({ state: 'parked', failures: 0 })
    expect(worker.held).toBe(0)
    await fixture.time.advance(600_000)
    await fixture.settle(id, { type: 'signal', name: 'approved', key: 'other' })
    expect((await fixture.load(id)).state).toBe('parked')
    const command = { type: 'signal', name: 'approved', key: 'k', actor: 'ann', requestId: 's' } as const
    const text = '{"by":"ann"}'
    const body = { name: 'signal', size: text.length, digest: undefined }
    await fixture.engine.settle([{ id, command: { ...command, body }, bodies: [{ name: 'signal', text }] }])
    await fixture.time.advance(1_000)
    expect((await fixture.load(id)).state).toBe('succeeded')
    expect(answers).toEqual([{ timedOut: false, payload: { by: 'ann' } }])
  })

  it('takes a signal that came before anybody waited', async () => {
    await using fixture = openWorkerFixture()
    const { job, answers } = approval()
    const id = await fixture.enqueue(job, undefined, { delayMs: 5_000 })
    await fixture.settle(id, { type: 'signal', name: 'approved', key: 'k' })
    fixture.work([job])
    await fixture.time.advance(10_000)
    expect(answers).toEqual([{ timedOut: false, payload: undefined }])
    expect((await fixture.load(id)).inbox).toEqual([])
  })

  it('says when nothing came in time', async () => {
    await using fixture = openWorkerFixture()
    const { job, answers } = approval()
    const id = await fixture.enqueue(job)
    fixture.work([job])
    await fixture.time.advance(119 * 60_000)
    expect(answers).toEqual([])
    await fixture.time.advance(2 * 60_000)
    expect(answers).toEqual([{ timedOut: true, payload: undefined }])
    expect((await fixture.load(id)).state).toBe('succeeded')
  })
})

describe('two waits at once', () => {
  const WAYS: Readonly<Record<string, (ctx: Context) => Promise<unknown>>> = {
    'raced by name': (ctx) => Promise.race([ctx.waitFor('a'), ctx.waitFor('b')]),
    'raced against time': (ctx) => Promise.race([ctx.waitFor('a'), ctx.sleep('1h')]),
    'asked for together': (ctx) => Promise.all([ctx.waitFor('a'), ctx.waitFor('b')]),
    'with nobody listening to the second': async (ctx) => {
      const first = ctx.waitFor('a')
      void ctx.waitFor('b').catch(() => {})
      await first
    },
    'swallowed by the handler': async (ctx) => {
      await Promise.allSettled([ctx.sleep('1h'), ctx.sleep('2h')])
      return 'as if nothing were'
    },
  }

  it.each(Object.entries(WAYS))('are refused for good, and the error says what to do: %s', async (_, run) => {
    await using fixture = openWorkerFixture()
    const racing = definition((_, ctx) => run(ctx))
    const id = await fixture.enqueue(racing)
    fixture.work([racing])
    await fixture.time.advance(1_000)
    const { state, error, attempt } = await fixture.load(id)
    expect({ state, attempt, code: error?.code }).toEqual({ state: 'failed', attempt: 1, code: 'E_TWO_WAITS' })
    expect(error?.message).toMatch(/Promise\.race.*one after the other.*timeout/)
  })

  it('are one after the other: signals may come in any order', async () => {
    await using fixture = openWorkerFixture()
    const patient = definition(async (_, ctx) => {
      const first = await ctx.waitFor('a')
      const second = await ctx.waitFor('b', { timeout: '1h' })
      await ctx.sleep('1s')
      return [first.timedOut, second.timedOut]
    })
    const id = await fixture.enqueue(patient)
    fixture.work([patient])
    await fixture.time.advance(1_000)
    await fixture.settle(id, { type: 'signal', name: 'b' })
    await fixture.settle(id, { type: 'signal', name: 'a' })
    await fixture.time.advance(5_000)
    expect((await fixture.load(id)).state).toBe('succeeded')
  })
})

describe('a run that is over before anybody saw it running', () => {
  const types = async (fixture: WorkerFixture, id: string) =>
    (await fixture.engine.events({ by: 'job', id, afterRev: 0, limit: 100 })).events.map(({ type }) => type)

  const ENDS: Readonly<Record<string, readonly [run: (ctx: Context) => unknown, end: string]>> = {
    'a snooze': [(ctx) => ctx.snooze(0), 'released'],
    'a cancel of its own': [(ctx) => ctx.cancel('enough'), 'cancelled'],
    'a dead letter': [(ctx) => ctx.deadLetter('policy_violation'), 'dead_lettered'],
    'a wait': [(ctx) => ctx.waitFor('x', { timeout: '10s' }), 'waiting'],
    'a sleep': [(ctx) => ctx.sleep('10s'), 'waiting'],
    success: [() => 1, 'succeeded'],
    failure: [() => Promise.reject(new Error('no')), 'retry_scheduled'],
  }

  it.each(Object.entries(ENDS))('began all the same, and its log says so: %s', async (_, [run, end]) => {
    await using fixture = openWorkerFixture()
    let runs = 0
    const brief = definition((_, ctx) => {
      runs += 1
      return runs === 1 ? run(ctx) : new Promise(() => {})
    })
    const id = await fixture.enqueue(brief)
    fixture.work([brief])
    await fixture.time.settle()
    expect((await types(fixture, id)).slice(0, 4)).toEqual(['enqueued', 'claimed', 'started', end])
  })

  it('began all the same where the worker went away at once; what was never begun does not say that it was', async () => {
    await using fixture = openWorkerFixture()
    const slow = definition(() => new Promise(() => {}))
    const [begun, held] = [await fixture.enqueue(slow), await fixture.enqueue(slow)]
    const { worker } = fixture.work([slow], { concurrency: 1, prefetch: 1 })
    await fixture.time.settle()
    const stopped = worker.stop({ drain: 0 })
    await fixture.time.advance(2_000)
    await stopped
    expect(await types(fixture, begun)).toEqual(['enqueued', 'claimed', 'started', 'released'])
    expect(await types(fixture, held)).not.toContain('started')
  })
})

describe('sleep, snooze, cancel, deadLetter', () => {
  it('sleeps without a worker, and only once', async () => {
    await using fixture = openWorkerFixture()
    let runs = 0
    const sleeper = definition(async (_, ctx) => {
      runs += 1
      await ctx.sleep('10m')
      await ctx.sleep('10m')
      return runs
    })
    const id = await fixture.enqueue(sleeper)
    fixture.work([sleeper])
    await fixture.time.advance(19 * 60_000)
    expect((await fixture.load(id)).state).toBe('parked')
    await fixture.time.advance(2 * 60_000)
    expect(await fixture.body(id, 'output')).toBe(3)
  })

  it('snoozes without burning budget', async () => {
    await using fixture = openWorkerFixture()
    const drowsy = definition(
      (_, ctx) => {
        if (ctx.attempt < 4) ctx.snooze('1m')
        return 'awake'
      },
      { retry: { attempts: 1 } },
    )
    const id = await fixture.enqueue(drowsy)
    fixture.work([drowsy])
    await fixture.time.advance(5 * 60_000)
    expect(await fixture.load(id)).toMatchObject({ state: 'succeeded', failures: 0, stalls: 0, attempt: 4 })
  })

  it('ends itself', async () => {
    await using fixture = openWorkerFixture()
    const quitter = definition((_, ctx) => ctx.cancel('not needed'), {}, { type: 'quitter' })
    const hopeless = definition(async (_, ctx) => ctx.deadLetter('policy_violation', 'no'), {}, { type: 'hopeless' })
    const first = await fixture.enqueue(quitter)
    const second = await fixture.enqueue(hopeless)
    fixture.work([quitter, hopeless])
    await fixture.time.settle()
    expect(await fixture.load(first)).toMatchObject({ state: 'cancelled' })
    expect((await fixture.load(second)).deadLetter).toMatchObject({ reason: 'policy_violation', stage: 'exec' })
  })

  it('has chosen for good: what the handler does afterwards does not count', async () => {
    await using fixture = openWorkerFixture()
    const stubborn = definition(async (_, ctx) => {
      try {
        ctx.snooze('1h')
      } catch {}
      return 'but I am done'
    })
    const id = await fixture.enqueue(stubborn)
    fixture.work([stubborn])
    await fixture.time.settle()
    expect((await fixture.load(id)).state).toBe('queued')
  })
})

describe('progress, count, checkpoint, artifact, log', () => {
  it('shows where the work stands, at most once a second, with an estimate of its end', async () => {
    await using fixture = openWorkerFixture()
    const busy = definition(async (_, ctx) => {
      for (let i = 1; i <= 100; i += 1) {
        await fixture.time.sleep(100)
        ctx.progress({ done: i, total: 100, message: `page ${i}` })
        ctx.count('urls_total', 2)
      }
    })
    const id = await fixture.enqueue(busy)
    fixture.work([busy])
    const start = fixture.time.now()
    await fixture.time.advance(5_000)
    const job = await fixture.load(id)
    expect(job.progress).toMatchObject({ total: 100 })
    expect(job.progress?.done).toBeGreaterThanOrEqual(35)
    expect(job.progress?.etaAt).toBeGreaterThan(start + 9_500)
    expect(job.progress?.etaAt).toBeLessThan(start + 10_500)
    await fixture.time.advance(6_000)
    const ended = await fixture.load(id)
    expect(ended).toMatchObject({ state: 'succeeded', counters: { urls_total: 200 }, progress: { done: 100 } })
    const { events } = await fixture.engine.events({ by: 'job', id, afterRev: 0, limit: 500 })
    expect(events.filter(({ type }) => type === 'progressed').length).toBeLessThanOrEqual(12)
  })

  it('travels with the step that comes after it, in one commit', async () => {
    await using fixture = openWorkerFixture()
    const settle = vi.spyOn(fixture.engine, 'settle')
    const stepping = definition(async (_, ctx) => {
      for (const n of [1, 2]) {
        ctx.progress({ done: n, total: 2 })
        ctx.count('seen')
        await ctx.step(`step ${n}`, () => n)
        await fixture.time.sleep(n * 2_000)
      }
    })
    const id = await fixture.enqueue(stepping)
    fixture.work([stepping])
    await fixture.time.advance(10_000)
    const calls = settle.mock.calls.map(([words]) => words.map(({ command }) => command.type))
    expect(calls).toEqual([['start', 'progress', 'record'], ['progress', 'record'], ['complete']])
    expect(await fixture.load(id)).toMatchObject({ state: 'succeeded', counters: { seen: 2 }, progress: { done: 2 } })
  })

  it('keeps counters of an attempt that failed', async () => {
    await using fixture = openWorkerFixture()
    const failing = definition(
      (_, ctx) => {
        ctx.count('tried')
        throw new Error('no')
      },
      { retry: { ...retrySoon, attempts: 3 } },
    )
    const id = await fixture.enqueue(failing)
    fixture.work([failing])
    await fixture.time.advance(20_000)
    expect((await fixture.load(id)).counters).toEqual({ tried: 3 })
  })

  it('resumes from a checkpoint', async () => {
    await using fixture = openWorkerFixture()
    const seen: unknown[] = []
    const resumable = definition(
      async (_, ctx) => {
        seen.push(await ctx.checkpoint())
        await ctx.checkpoint({ page: ctx.attempt })
        if (ctx.attempt < 3) throw new Error('again')
      },
      { retry: retrySoon },
    )
    const id = await fixture.enqueue(resumable)
    fixture.work([resumable])
    await fixture.time.advance(20_000)
    expect((await fixture.load(id)).state).toBe('succeeded')
    expect(seen).toEqual([undefined, { page: 1 }, { page: 2 }])
  })

  it('names artifacts and logs with the job in every line', async () => {
    await using fixture = openWorkerFixture()
    const maker = definition(async (_, ctx) => {
      await ctx.artifact('report', 's3://bucket/report.pdf')
      ctx.log.info('made', { pages: 3 })
    })
    const id = await fixture.enqueue(maker)
    fixture.work([maker])
    await fixture.time.settle()
    expect((await fixture.load(id)).artifacts).toEqual({ report: 's3://bucket/report.pdf' })
    expect(fixture.lines).toContainEqual({
      level: 'info',
      message: 'made',
      fields: expect.objectContaining({ pages: 3, job_id: id, attempt: 1, type: 'job' }),
    })
  })

  it('spawns each child once', async () => {
    await using fixture = openWorkerFixture()
    const child = definition(() => {}, {}, { type: 'child' })
    const parent = definition(
      async (_, ctx) => {
        const ids = [await ctx.spawn(child, { n: 1 }), await ctx.spawn(child, { n: 2 })]
        if (ctx.attempt === 1) throw new Error('again')
        return ids
      },
      { retry: retrySoon },
      { type: 'parent' },
    )
    const id = await fixture.enqueue(parent)
    fixture.work([parent, child])
    await fixture.time.advance(10_000)
    const { jobs } = await fixture.engine.find({ types: ['child'], order: 'oldest', limit: 10 })
    expect(jobs.map((job) => [job.state, job.spec.parentId])).toEqual([
      ['succeeded', id],
      ['succeeded', id],
    ])
    expect(await fixture.body(id, 'output')).toEqual(jobs.map((job) => job.id))
  })
})

describe('compensation', () => {
  it('undoes steps in reverse order before the job ends, each once', async () => {
    await using fixture = openWorkerFixture()
    const done: string[] = []
    const undone: string[] = []
    const trip = definition(
      async (_, ctx) => {
        for (const what of ['flight', 'hotel']) {
          await ctx.step(what, () => done.push(what), {
            compensate: (nth) => {
              if (what === 'flight' && ctx.attempt < 4) throw new Error('the airline is asleep')
              undone.push(`${what} ${nth}`)
            },
          })
        }
        throw new Error('no taxi')
      },
      { retry: { ...retrySoon, attempts: 2 } },
    )
    const id = await fixture.enqueue(trip)
    fixture.work([trip])
    await fixture.time.advance(30_000)
    expect(await fixture.load(id)).toMatchObject({
      state: 'dead_lettered',
      deadLetter: { reason: 'exhausted_retries' },
    })
    expect(done).toEqual(['flight', 'hotel'])
    expect(undone).toEqual(['hotel 2', 'flight 1'])
    // What was undone is done again when the job gets a second chance.
    const reopen = { type: 'reopen', actor: 'ann', requestId: 'again' } as const
    await fixture.engine.settle([{ id, command: reopen }])
    await fixture.time.advance(30_000)
    expect(done).toEqual(['flight', 'hotel', 'flight', 'hotel'])
  })
})

describe('a handler that waits for no answer', () => {
  const words: Readonly<Record<string, (ctx: Context) => unknown>> = {
    sleep: (ctx) => ctx.sleep('1h'),
    'wait for a signal': (ctx) => ctx.waitFor('go'),
    step: (ctx) => ctx.step('late', () => 1),
    checkpoint: (ctx) => ctx.checkpoint(1),
    artifact: (ctx) => ctx.artifact('a', 'b'),
    tx: (ctx) => ctx.tx(async () => 1),
  }

  it.each(Object.keys(words))('harms nobody by a word that comes too late: %s', async (name) => {
    await using fixture = openWorkerFixture()
    const unheard: unknown[] = []
    const listen = (error: unknown) => void unheard.push(error)
    const late = Promise.withResolvers<void>()
    const careless = definition((_, ctx) => {
      // Its run is over, and nobody is told of what it says.
      void late.promise.then(() => void words[name]?.(ctx))
      return 'done'
    })
    const id = await fixture.enqueue(careless)
    fixture.work([careless], { transaction: (work) => work({ query: async () => ({ rows: [] }) }) })
    await fixture.time.advance(100)
    const others = process.listeners('unhandledRejection')
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', listen)
    try {
      late.resolve()
      await fixture.time.advance(100)
      await new Promise((resolve) => setImmediate(resolve))
    } finally {
      process.removeAllListeners('unhandledRejection')
      for (const other of others) process.on('unhandledRejection', other)
    }
    expect(unheard).toEqual([])
    expect(await fixture.load(id)).toMatchObject({ state: 'succeeded', attempt: 1 })
  })

  const refused: Readonly<Record<string, readonly [say: (ctx: Context) => unknown, code: string]>> = {
    'a step that throws': [(ctx) => ctx.step('s', () => Promise.reject(new RangeError('x'))), 'RangeError'],
    'a step that answers with what cannot be kept': [(ctx) => ctx.step('s', () => Number.NaN), 'not_json'],
    'a sleep without end': [(ctx) => ctx.sleep('for ever' as never), 'permanent'],
    'a wait for nothing': [(ctx) => ctx.waitFor(''), 'bad_request'],
    'a checkpoint that cannot be kept': [(ctx) => ctx.checkpoint(Number.NaN), 'not_json'],
    'an artifact without a name': [(ctx) => ctx.artifact('', 'p'), 'bad_request'],
    'an artifact that the store refuses': [(ctx) => ctx.artifact('a', 'p'.repeat(100_000)), 'INVALID'],
    'a child of a type that nobody knows': [(ctx) => ctx.spawn('nobody', 1), 'E_CHILD_REFUSED'],
    'a transaction that throws': [(ctx) => ctx.tx(() => Promise.reject(new RangeError('x'))), 'RangeError'],
    'progress that is no number': [(ctx) => ctx.progress({ done: Number.NaN }), 'bad_request'],
    'a count that is no number': [(ctx) => ctx.count('c', Number.NaN), 'bad_request'],
  }
  const ends: Readonly<Record<string, (ctx: Context) => unknown>> = {
    'at once': () => 'done',
    later: () => new Promise((resolve) => setImmediate(resolve)),
    'by letting go': (ctx) => new Promise((resolve) => setImmediate(resolve)).then(() => ctx.snooze('1h')),
    'by a wait': (ctx) => ctx.waitFor('go'),
  }

  it.each(Object.keys(refused).flatMap((what) => Object.keys(ends).map((how) => [what, how] as const)))(
    'fails by what is refused, as if it had waited: %s, and it ends %s',
    async (what, how) => {
      await using fixture = openWorkerFixture()
      const [say, code] = refused[what] as (typeof refused)[string]
      const careless = definition((_, ctx) => {
        void say(ctx)
        return ends[how]?.(ctx)
      })
      const id = await fixture.enqueue(careless)
      fixture.work([careless], { transaction: (work) => work({ query: async () => ({ rows: [] }) }) })
      await new Promise((resolve) => setImmediate(resolve))
      await fixture.time.advance(100)
      const job = await fixture.load(id)
      expect((job.error ?? job.lastFailure)?.code).toBe(code)
      expect(job).toMatchObject({ failures: 1, stalls: 0, attempt: 1 })
    },
  )

  it('loses nothing of what it said: its run ends when all of it has been answered', async () => {
    await using fixture = openWorkerFixture()
    const stepped = Promise.withResolvers<number>()
    const careless = definition((_, ctx) => {
      void ctx.artifact('a', 'kept')
      void ctx.checkpoint({ at: 1 })
      void ctx.step('slow', () => stepped.promise)
      return 'done'
    })
    const id = await fixture.enqueue(careless)
    fixture.work([careless])
    await fixture.time.advance(200)
    expect((await fixture.load(id)).state).toBe('running')
    stepped.resolve(7)
    await fixture.time.advance(100)
    expect(await fixture.load(id)).toMatchObject({ state: 'succeeded', artifacts: { a: 'kept' } })
    expect(await fixture.body(id, 'step/slow#1')).toMatchObject({ value: 7 })
    expect(await fixture.body(id, 'checkpoint')).toEqual({ at: 1 })
  })

  it('is not held up by what somebody else has listened to', async () => {
    await using fixture = openWorkerFixture()
    const never = new Promise<number>(() => {})
    const racing = definition(async (_, ctx) =>
      Promise.race([ctx.step('slow', () => never), ctx.step('fast', () => 1)]),
    )
    const id = await fixture.enqueue(racing)
    fixture.work([racing])
    await fixture.time.advance(100)
    expect(await fixture.load(id)).toMatchObject({ state: 'succeeded', attempt: 1 })
  })

  it('fails by its own error where it has one; what nobody waited for is a warning', async () => {
    await using fixture = openWorkerFixture()
    const careless = definition((_, ctx) => {
      void ctx.artifact('', 'p')
      throw new RangeError('mine')
    })
    const id = await fixture.enqueue(careless)
    fixture.work([careless])
    await fixture.time.advance(100)
    expect((await fixture.load(id)).lastFailure).toMatchObject({ code: 'RangeError' })
    const fields = { job_id: id, attempt: 1, code: 'bad_request' }
    expect(fixture.lines).toContainEqual({
      level: 'warn',
      message: 'something that nobody waited for was refused',
      fields,
    })
  })

  it('may listen late, as long as it listens', async () => {
    await using fixture = openWorkerFixture()
    const late = definition(async (_, ctx) => {
      const artifact = ctx.artifact('', 'p')
      await ctx.step('first', () => 1)
      return artifact.catch((error: Error) => error.name)
    })
    const id = await fixture.enqueue(late)
    fixture.work([late])
    await fixture.time.advance(100)
    expect(await fixture.body(id, 'output')).toBe('ValidationError')
  })

  it('is told of it where it does wait', async () => {
    await using fixture = openWorkerFixture()
    const told = Promise.withResolvers<unknown>()
    const patient = definition((_, ctx) => {
      void new Promise((resolve) => setImmediate(resolve)).then(() => ctx.checkpoint(1).catch(told.resolve))
    })
    await fixture.enqueue(patient)
    fixture.work([patient])
    await fixture.time.advance(100)
    expect(await told.promise).toMatchObject({ name: 'LeaseConflictError' })
  })

  it('fails by a snooze that nobody could wait for', async () => {
    await using fixture = openWorkerFixture()
    const sleepy = definition((_, ctx) => ctx.snooze(Number.MAX_VALUE))
    const id = await fixture.enqueue(sleepy)
    fixture.work([sleepy])
    await fixture.time.advance(100)
    expect(await fixture.load(id)).toMatchObject({ state: 'failed', stalls: 0, error: { code: 'INVALID' } })
  })
})
