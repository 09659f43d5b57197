import { describe, expect, it } from 'vitest'
import type { Judged } from '../../src/core/admission.ts'
import { explain } from '../../src/core/explain.ts'
import type { Job } from '../../src/core/job.ts'
import { admission, forgotten, type Judge } from '../../src/engine/admission.ts'
import type { LocalEngine } from '../../src/engine/local.ts'
import { Workers } from '../../src/engine/workers.ts'
import type { Store } from '../../src/store/store.ts'
import { linesTo, silentLog } from '../../src/system/log.ts'
import { realTimers } from '../../src/system/timers.ts'
import { scaled } from '../support/scale.ts'
import { EngineFixture, kindOf } from './engine-fixture.ts'

const ADMITTED = kindOf({ admission: true, timeout: '5m', retry: { attempts: 7 } })
const BOUND = kindOf({ dialect: '002' })

const word = (over: Partial<Judged> = {}): Judged => ({
  letsIn: true,
  rule: 'r1',
  policyHash: 'h1',
  reason: undefined,
  terms: undefined,
  approval: undefined,
  ...over,
})

const judging = (judge: (job: Job) => Judged, look = () => true): Judge => ({ judge, look })

const serviceOn = (engine: LocalEngine, judge: Judge, log = silentLog) =>
  admission({ admit: (by, limit) => engine.admit(by, limit), judge, timers: realTimers, log })

async function waiting(fixture: EngineFixture, count: number, kind = ADMITTED): Promise<readonly Job[]> {
  const jobs: Job[] = []
  for (let i = 0; i < count; i += 1) jobs.push(await fixture.enqueue({ kind }))
  return jobs
}

describe('admission', () => {
  it('lets in and turns away, as the scheduler’s word, with rule and policy in the event', async () => {
    const fixture = new EngineFixture()
    const [one, two] = await waiting(fixture, 2)
    const denied = word({ letsIn: false, rule: 'no', reason: 'not today' })
    await serviceOn(
      fixture.engine,
      judging((job) => (job.id === one?.id ? word() : denied)),
    ).runOnce()
    expect((await fixture.log(one?.id ?? '')).at(-1)).toMatchObject({
      type: 'admitted',
      to: 'queued',
      actor: 'system:scheduler',
      payload: { verdict: { rule: 'r1', policyHash: 'h1' } },
    })
    expect((await fixture.log(two?.id ?? '')).at(-1)).toMatchObject({
      type: 'denied',
      actor: 'system:scheduler',
      cause: 'policy_violation',
      payload: { verdict: { rule: 'no', policyHash: 'h1', reason: 'not today' } },
    })
  })

  it('schedules what it denies, where a document has it so, in one commit', async () => {
    const fixture = new EngineFixture()
    const [job] = await waiting(fixture, 1, BOUND)
    await serviceOn(
      fixture.engine,
      judging(() => word({ letsIn: false })),
    ).runOnce()
    expect((await fixture.log(job?.id ?? '')).map(({ type }) => type)).toEqual(['enqueued', 'admitted', 'denied'])
  })

  it('judges all that waits, batch after batch, each job once among many that judge', async () => {
    const fixture = new EngineFixture()
    const jobs = await waiting(fixture, 450)
    const seen: string[] = []
    const judge = judging((job) => {
      seen.push(job.id)
      return word()
    })
    const engines = [fixture.engine, fixture.another(), fixture.another()]
    await Promise.all(engines.map((engine) => serviceOn(engine, judge).runOnce()))
    expect(seen.toSorted()).toEqual(jobs.map(({ id }) => id).toSorted())
    for (const { id } of jobs) expect((await fixture.job(id)).state).toBe('queued')
  })

  it('judges nobody while there is no policy, and nothing but what waits', async () => {
    const fixture = new EngineFixture()
    const [job] = await waiting(fixture, 1)
    await fixture.enqueue()
    const asked: string[] = []
    const judge = (look: () => boolean) =>
      judging((each) => {
        asked.push(each.id)
        return word()
      }, look)
    await serviceOn(
      fixture.engine,
      judge(() => false),
    ).runOnce()
    expect(asked).toEqual([])
    await serviceOn(
      fixture.engine,
      judge(() => true),
    ).runOnce()
    expect(asked).toEqual([job?.id])
  })

  it('leaves a job waiting that it cannot tell about, says so, and comes back to it', async () => {
    const lines: string[] = []
    const fixture = new EngineFixture({
      log: linesTo(
        (line) => void lines.push(line),
        () => 0,
      ),
    })
    const [job, other] = await waiting(fixture, 2)
    let broken = true
    const judge = judging(({ id }) => {
      if (broken && id === job?.id) throw new Error('cannot tell')
      return word()
    })
    await serviceOn(fixture.engine, judge).runOnce()
    expect((await fixture.job(job?.id ?? '')).state).toBe('pending')
    expect((await fixture.job(other?.id ?? '')).state).toBe('queued')
    expect(lines.join()).toContain('cannot tell')
    broken = false
    fixture.clock.advance(5_000)
    await serviceOn(fixture.engine, judge).runOnce()
    expect((await fixture.job(job?.id ?? '')).state).toBe('queued')
  })

  it('judges again what gets a second chance', async () => {
    const fixture = new EngineFixture()
    const [job] = await waiting(fixture, 1)
    await fixture.must(job?.id ?? '', { type: 'cancel', mode: 'hard' })
    await fixture.must(job?.id ?? '', { type: 'reopen' })
    await serviceOn(
      fixture.engine,
      judging(() => word()),
    ).runOnce()
    expect(await fixture.job(job?.id ?? '')).toMatchObject({ state: 'queued', generation: 1 })
  })
})

describe('what waits and is handed to nobody', () => {
  const sweep = async (engine: LocalEngine, judge: Judge) =>
    forgotten({
      admitForgotten: (by, cursor) => engine.admitForgotten(by, cursor),
      judge,
      timers: realTimers,
      log: silentLog,
    }).runOnce()

  /** As a store does with what code from before schedulers has written. */
  const handingOutNothing = (store: Store): Store => {
    const due = store.due.bind(store)
    store.due = (limit, agenda) => due(agenda === 'judgements' ? 0 : limit, agenda)
    return store
  }

  it('is found and judged once it has waited for a minute, however many wait for an approval beside it', async () => {
    const fixture = new EngineFixture({
      between: handingOutNothing,
    })
    const jobs = await waiting(fixture, 450)
    const asking = word({ approval: { expiresMs: 3_600_000, fourEyes: false } })
    const [first, last] = [jobs[0]?.id, jobs.at(-1)?.id]
    const judge = judging(({ id }) => (id === first || id === last ? word() : asking))
    await sweep(fixture.engine, judge)
    expect((await fixture.job(first ?? '')).state).toBe('pending')
    fixture.clock.advance(60_000)
    await sweep(fixture.engine, judge)
    for (const id of [first, last]) expect((await fixture.job(id ?? '')).state).toBe('queued')
    const { approval } = await fixture.job(jobs[1]?.id ?? '')
    fixture.clock.advance(60_000)
    await sweep(fixture.engine, judge)
    expect((await fixture.job(jobs[1]?.id ?? '')).approval).toEqual(approval)
  })

  it('goes on waiting while nobody may judge', async () => {
    const fixture = new EngineFixture()
    const [job] = await waiting(fixture, 1)
    fixture.clock.advance(60_000)
    const judge = judging(
      () => word(),
      () => false,
    )
    await sweep(fixture.engine, judge)
    expect((await fixture.job(job?.id ?? '')).state).toBe('pending')
  })
})

describe('turns', () => {
  const OTHER = { ...ADMITTED, tenant: 'b' }
  const fixtureWith = async (many: number) => {
    const fixture = new EngineFixture()
    await waiting(fixture, many)
    const [theirs] = await waiting(fixture, 1, OTHER)
    return { fixture, theirs: theirs?.id ?? '' }
  }

  it('are taken by tenant: however many one has, another’s is judged in the first round', async () => {
    for (const many of [400, scaled(2_000, 20_000)]) {
      const { fixture, theirs } = await fixtureWith(many)
      await fixture.engine.admit(
        judging(() => word()),
        200,
      )
      expect((await fixture.job(theirs)).state).toBe('queued')
    }
  })

  it('are not held up by a judge that takes long for another, and nothing is judged twice for that', async () => {
    const { fixture, theirs } = await fixtureWith(450)
    const asked: string[] = []
    const answers: (() => void)[] = []
    const judge: Judge = {
      look: () => true,
      judge: async ({ id, spec }) => {
        asked.push(id)
        if (spec.kind.tenant !== 'b') await new Promise<void>((resolve) => answers.push(resolve))
        return word()
      },
    }
    const first = await fixture.engine.admit(judge, 200)
    expect(first.underWay).toBeGreaterThan(0)
    expect((await fixture.job(theirs)).state).toBe('queued')
    // One tenant has half of the places, however often it is handed out.
    for (let n = 0; n < 5; n += 1) await fixture.engine.admit(judge, 200)
    expect(asked.filter((id) => id !== theirs)).toHaveLength(200)
    const more = await waiting(fixture, 1, OTHER)
    await fixture.engine.admit(judge, 200)
    expect((await fixture.job(more[0]?.id ?? '')).state).toBe('queued')
    fixture.clock.advance(5_000)
    await fixture.engine.admit(judge, 200)
    expect(new Set(asked).size, 'what is handed out again is being judged').toBe(asked.length)
    for (const answer of answers.splice(0)) answer()
    await fixture.engine.admit(judge, 0)
    const { jobs } = await fixture.engine.find({ states: ['queued'], order: 'newest', limit: 1_000 })
    expect(jobs).toHaveLength(202)
  })

  it('leave time for what may take long: who asks knows how long a job is theirs', async () => {
    const fixture = new EngineFixture()
    await waiting(fixture, 1)
    const left: number[] = []
    await fixture.engine.admit(
      {
        look: () => true,
        judge: (_job, _whoIsThere, leftMs) => {
          left.push(leftMs())
          fixture.clock.advance(2_000)
          left.push(leftMs())
          return undefined
        },
      },
      200,
    )
    expect(left).toEqual([5_000, 3_000])
  })

  it('pass over a tenant that nobody may judge, and what waits for approvals', async () => {
    const fixture = new EngineFixture()
    const asking = word({ approval: { expiresMs: 3_600_000, fourEyes: false } })
    await waiting(fixture, 120, OTHER)
    const judgeOthers = (of: (job: Job) => Judged | undefined): Judge => ({ look: () => true, judge: of })
    await serviceOn(
      fixture.engine,
      judgeOthers(() => asking),
    ).runOnce()
    await waiting(fixture, 1_000)
    await waiting(fixture, 30, { ...ADMITTED, tenant: 'c' })
    const [last] = await waiting(fixture, 1, OTHER)
    let broken = 0
    const judge = judgeOthers(({ spec }) => {
      if (spec.kind.tenant === 'c') broken += 1
      return spec.kind.tenant === 'c' ? undefined : word()
    })
    for (let n = 0; n < 4; n += 1) await fixture.engine.admit(judge, 100)
    expect((await fixture.job(last?.id ?? '')).state).toBe('queued')
    expect(broken).toBeLessThanOrEqual(10)
  })
})

describe('what is routed', () => {
  const route = { pool: 'code', capabilities: ['gpu'] }
  const lanes = [{ tenant: 't', queue: 'q', priority: 5 }]

  it('is for workers of its pool that can do it; explained, where there is none', async () => {
    const fixture = new EngineFixture()
    const { engine } = fixture
    const [job] = (await waiting(fixture, 1)) as [Job]
    await serviceOn(
      engine,
      judging(() => word({ route })),
    ).runOnce()
    const workers = new Workers(engine)
    const explained = async () =>
      explain(await fixture.job(job.id), {
        now: engine.now(),
        paused: undefined,
        held: undefined,
        workers: await workers.around(await fixture.job(job.id)),
      }).because
    expect(await explained()).toBe('No live worker in pool code can do gpu: nobody is there.')
    await workers.report('t', 'w0', undefined, { queues: ['q'], concurrency: 2, running: 1 })
    await workers.report('t', 'w1', undefined, { queues: ['q'], pool: 'code', capabilities: ['cuda'] })
    expect(await explained()).toBe('No live worker in pool code can do gpu: 1 there, and none of them does.')
    await workers.report('t', 'w2', undefined, { queues: ['q'], pool: 'code', capabilities: ['gpu'] })
    expect(await explained()).toContain('no worker has claimed it yet')
    const claim = (able: object) =>
      engine.claim({ requestId: fixture.requestId(), workerId: 'w', lanes, limit: 1, ...able })
    expect(await claim({})).toEqual([])
    expect(await claim({ pool: 'code' })).toEqual([])
    expect(await claim({ serves: ['other'], capabilities: ['gpu'] })).toEqual([])
    expect(await claim({ serves: [], pool: 'code', capabilities: ['gpu', 'x'] })).toMatchObject([
      { job: { id: job.id } },
    ])
  })

  it('is told who is there once for a round, and by tenant', async () => {
    let asked = 0
    const fixture = new EngineFixture({
      between: (store) => {
        const settings = store.settings.bind(store)
        store.settings = (operations) => {
          asked += operations.filter(({ collection }) => collection === 'worker').length
          return settings(operations)
        }
        return store
      },
    })
    await waiting(fixture, 20)
    await new Workers(fixture.engine).report('t', 'w', undefined, { pool: 'code', capabilities: ['gpu'] })
    await new Workers(fixture.engine).report('other', 'w', undefined, { pool: 'theirs' })
    asked = 0
    const seen: unknown[] = []
    const judge: Judge = {
      look: () => true,
      judge: async (job, whoIsThere) => {
        seen.push(await whoIsThere(job.spec.kind.tenant))
        return word()
      },
    }
    await serviceOn(fixture.engine, judge).runOnce()
    expect(asked).toBe(1)
    expect(seen).toHaveLength(20)
    expect(seen[0]).toEqual([{ pool: 'code', can: ['gpu'] }])
  })
})

describe('terms', () => {
  it('narrow what a job may, and are kept from then on', async () => {
    const fixture = new EngineFixture()
    const [job] = await waiting(fixture, 1)
    const terms = { attemptMs: 30_000, maxAttempts: 1 }
    await serviceOn(
      fixture.engine,
      judging(() => word({ terms })),
    ).runOnce()
    expect(await fixture.job(job?.id ?? '')).toMatchObject({ state: 'queued', terms, spec: { kind: ADMITTED } })
    const [{ fence } = { fence: '' }] = await fixture.claim()
    await fixture.must(job?.id ?? '', { type: 'start', fence })
    const { nextTickAt, startedAt } = await fixture.job(job?.id ?? '')
    expect((nextTickAt ?? 0) - (startedAt ?? 0)).toBe(30_000)
    await fixture.must(job?.id ?? '', { type: 'fail', fence, fault: { code: 'E_GPU_OOM', message: 'oom' } })
    expect((await fixture.job(job?.id ?? '')).state).toBe('dead_lettered')
  })

  it('never widen: what asks for more than the policy has is not there', async () => {
    const fixture = new EngineFixture()
    const [wide, half] = await waiting(fixture, 2)
    const hour = 3_600_000
    const judge = judging(({ id }) => word({ terms: { attemptMs: hour, maxAttempts: id === wide?.id ? 100 : 3 } }))
    await serviceOn(fixture.engine, judge).runOnce()
    expect((await fixture.job(wide?.id ?? '')).terms).toBeUndefined()
    expect((await fixture.job(half?.id ?? '')).terms).toEqual({ attemptMs: undefined, maxAttempts: 3 })
  })
})

describe('approvals', () => {
  const asking = (over: Partial<Judged> = {}) =>
    judging(() => word({ rule: 'ask', approval: { expiresMs: 60_000, fourEyes: false }, ...over }))

  async function asked(over: Partial<Judged> = {}) {
    const fixture = new EngineFixture()
    const [job] = await waiting(fixture, 1)
    const id = job?.id ?? ''
    const judge = (by = asking(over)) => serviceOn(fixture.engine, by).runOnce()
    await judge()
    const approval = async () => (await fixture.job(id)).approval
    const { policyHash = '', jobHash = '' } = (await approval()) ?? {}
    const approve = (saying: object = {}) =>
      fixture.say(id, { type: 'approve', policyHash, jobHash, reason: 'looked', ...saying })
    return { fixture, id, judge, approval, approve, state: async () => (await fixture.job(id)).state }
  }

  it('are asked for once, and let the job in once given: who, when and why is in the log', async () => {
    const { fixture, id, judge, approval, approve, state } = await asked({ reason: 'risky' })
    expect(await approval()).toMatchObject({ rule: 'ask', policyHash: 'h1', reason: 'risky', given: undefined })
    fixture.clock.advance(30_000)
    await judge()
    expect((await fixture.log(id)).map(({ type }) => type)).toEqual(['enqueued', 'approval_asked'])
    expect(await approve()).toMatchObject({ ok: true, state: 'pending' })
    await judge()
    expect(await state()).toBe('queued')
    expect((await fixture.log(id)).slice(2)).toMatchObject([
      { type: 'approved', actor: 'tester', payload: { reason: 'looked' } },
      {
        type: 'admitted',
        actor: 'system:scheduler',
        payload: { verdict: { rule: 'ask', reason: 'Approved by tester.' } },
      },
    ])
    expect(await approval()).toBeUndefined()
  })

  it('expire: what nobody approved in time is denied', async () => {
    const { fixture, judge, approve, state, id } = await asked()
    fixture.clock.advance(60_000)
    expect(await approve()).toMatchObject({ ok: false, refusal: { code: 'NOT_APPROVABLE' } })
    await judge()
    expect(await state()).toBe('denied')
    expect((await fixture.job(id)).verdict).toMatchObject({ rule: 'ask', reason: 'Nobody approved it in time.' })
  })

  it('that came too late to be of use are asked for again', async () => {
    const { fixture, judge, approve, approval } = await asked()
    await approve()
    fixture.clock.advance(60_000)
    await judge()
    expect(await approval()).toMatchObject({ given: undefined, expiresAt: fixture.clock.now() + 60_000 })
  })

  it('are void once the policy has changed: asked for anew, or not needed any more', async () => {
    const { judge, approve, approval, state } = await asked()
    await approve()
    await judge(asking({ policyHash: 'h2' }))
    expect(await approval()).toMatchObject({ policyHash: 'h2', given: undefined })
    expect(await approve()).toMatchObject({ ok: false, refusal: { code: 'NOT_APPROVABLE' } })
    expect(await approve({ policyHash: 'h2' })).toMatchObject({ ok: true })
    await judge(judging(() => word({ policyHash: 'h3' })))
    expect(await state()).toBe('queued')
  })

  it('are bound to the job as it was asked about, and are given once', async () => {
    const { approve } = await asked()
    expect(await approve({ jobHash: 'another' })).toMatchObject({ ok: false })
    expect(await approve()).toMatchObject({ ok: true })
    expect(await approve()).toMatchObject({ ok: false, refusal: { message: expect.stringContaining('tester') } })
  })

  it('want another pair of eyes where the rule does', async () => {
    const { approve, approval } = await asked({ approval: { expiresMs: 60_000, fourEyes: true } })
    expect(await approval()).toMatchObject({ notBy: 'producer' })
    expect(await approve({ actor: 'producer' })).toMatchObject({ ok: false, refusal: { code: 'NOT_APPROVABLE' } })
    expect(await approve({ actor: 'operator:ann' })).toMatchObject({ ok: true })
  })

  it('of a retry that is a new job want other eyes than those of whoever asked for the first', async () => {
    const fixture = new EngineFixture()
    const fourEyes = { expiresMs: 60_000, fourEyes: true }
    const judge = (by: Judge) => serviceOn(fixture.engine, by).runOnce()
    let job = await fixture.enqueue({ kind: kindOf({ dialect: '002', retry: { attempts: 3 } }) })
    for (let n = 0; n < 2; n += 1) {
      await judge(judging(() => word()))
      const [{ fence } = { fence: '' }] = await fixture.claim()
      await fixture.must(job.id, { type: 'start', fence })
      await fixture.must(job.id, { type: 'fail', fence, fault: { code: 'E_5XX_ORIGIN', message: 'x' } })
      fixture.clock.advance(60_000)
      const { jobs } = await fixture.engine.find({ parentId: job.id, order: 'newest', limit: 1 })
      job = jobs[0] ?? job
    }
    await judge(judging(() => word({ rule: 'ask', approval: fourEyes })))
    expect((await fixture.log(job.id))[0]?.actor).not.toBe('producer')
    expect((await fixture.job(job.id)).approval?.notBy).toBe('producer')
  })

  it('are not there for what nobody asks about', async () => {
    const fixture = new EngineFixture()
    const [job] = await waiting(fixture, 1)
    const answer = await fixture.say(job?.id ?? '', { type: 'approve', policyHash: 'h1', jobHash: 'j' })
    expect(answer).toMatchObject({ ok: false, refusal: { message: expect.stringContaining('Nobody has asked') } })
  })
})
