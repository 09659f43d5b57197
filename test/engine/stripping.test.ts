/** Retention removes what is beside jobs that ended long ago: of which, when, and what is left of them. */
import { describe, expect, it } from 'vitest'
import type { Job, TerminalState } from '../../src/core/job.ts'
import { redriven } from '../../src/engine/redriven.ts'
import { retention } from '../../src/engine/retention.ts'
import type { RetentionOptions } from '../../src/engine/retention-options.ts'
import { verify } from '../../src/engine/verify.ts'
import { verifyJobs } from '../../src/engine/verify-jobs.ts'
import type { EventQuery } from '../../src/store/store.ts'
import { silentLog } from '../../src/system/log.ts'
import { realTimers } from '../../src/system/timers.ts'
import { EngineFixture, kindOf } from './engine-fixture.ts'

const HOUR = 3_600_000

const stripping = (fixture: EngineFixture, options: RetentionOptions) =>
  retention({ store: fixture.store, engine: fixture.engine, timers: realTimers, log: silentLog }, options)

/** Ended as asked, with an input, and with a memo beside it. */
async function ended(fixture: EngineFixture, state: TerminalState, request: object = {}): Promise<string> {
  const { job, fence } = await fixture.running(request)
  const text = '"m"'
  const step = { name: 's', compensate: false, body: { name: 'step/s', size: text.length, digest: undefined } }
  await fixture.say(job.id, { type: 'record', fence, step }, fixture.engine, [{ name: 'step/s', text }])
  const result = { name: 'output', size: 1, digest: undefined }
  if (state === 'succeeded')
    await fixture.say(job.id, { type: 'complete', fence, result }, fixture.engine, [{ name: 'output', text: '1' }])
  else if (state === 'cancelled') await fixture.must(job.id, { type: 'cancel', mode: 'hard' })
  else await fixture.must(job.id, { type: 'fail', fence, fault: { code: 'x', message: 'x', class: 'permanent' } })
  return job.id
}

const bodiesOf = async ({ store }: EngineFixture, id: string) =>
  Object.keys((await store.load([{ id, bodies: ['input', 'output', 'step/'] }])).items[0]?.bodies ?? {})

const ALL = ['input', 'output', 'step/s']

describe('bodies of ended jobs', () => {
  it('go after so long, and the job, its log and its counts stay as they are', async () => {
    const fixture = new EngineFixture()
    const id = await ended(fixture, 'succeeded')
    const [before, log] = [await fixture.job(id), await fixture.log(id)]
    const service = stripping(fixture, { bodiesMs: HOUR })
    fixture.clock.advance(HOUR - 1)
    await service.runOnce()
    expect(await bodiesOf(fixture, id)).toEqual(ALL)
    fixture.clock.advance(HOUR / 10)
    await service.runOnce()
    expect(await bodiesOf(fixture, id)).toEqual([])
    const { rev, baseRev, updatedAt, strippedAt: _, ...kept } = await fixture.job(id)
    expect({ ...before, ...kept }).toEqual({ ...before, strippedAt: undefined })
    expect(rev).toBe(before.rev + 1)
    expect([baseRev, updatedAt]).toEqual([rev, fixture.clock.now()])
    const now = await fixture.log(id)
    expect(now.slice(0, -1)).toEqual(log)
    expect(now.at(-1)).toMatchObject({ type: 'stripped', actor: 'system:retention', state: 'succeeded' })
    fixture.clock.advance(HOUR)
    await service.runOnce()
    expect((await fixture.log(id)).length, 'once').toBe(log.length + 1)
  })

  it('stay without a word about them, and where somebody gives their type longer', async () => {
    const fixture = new EngineFixture()
    const types = ['short', 'long', 'other'].map((type) => ({ ...kindOf(), type }))
    const ids: string[] = []
    for (const kind of types) ids.push(await ended(fixture, 'succeeded', { kind }))
    const stripped = async () =>
      (await Promise.all(ids.map((id) => fixture.job(id)))).map((job) => job.strippedAt !== undefined)
    fixture.clock.advance(10 * HOUR)
    await stripping(fixture, {}).runOnce()
    expect(await stripped()).toEqual([false, false, false])
    await stripping(fixture, { bodiesMsByType: { short: HOUR, long: 20 * HOUR } }).runOnce()
    expect(await stripped()).toEqual([true, false, false])
    await stripping(fixture, { bodiesMs: HOUR, bodiesMsByType: { long: 20 * HOUR } }).runOnce()
    expect(await stripped()).toEqual([true, false, true])
  })

  it('stay with what can be reopened, until its state is named; then it cannot be', async () => {
    const fixture = new EngineFixture()
    const [failed, cancelled] = [await ended(fixture, 'failed'), await ended(fixture, 'cancelled')]
    fixture.clock.advance(2 * HOUR)
    await stripping(fixture, { bodiesMs: HOUR }).runOnce()
    expect(await bodiesOf(fixture, failed)).toEqual(['input', 'step/s'])
    await stripping(fixture, { bodiesMs: HOUR, bodiesEvenOf: ['failed'] }).runOnce()
    expect(await bodiesOf(fixture, failed)).toEqual([])
    expect(await bodiesOf(fixture, cancelled)).toEqual(['input', 'step/s'])
    expect(await fixture.say(failed, { type: 'reopen' })).toMatchObject({ ok: false, refusal: { code: 'STRIPPED' } })
    expect(await fixture.say(cancelled, { type: 'reopen' })).toMatchObject({ ok: true })
  })

  it('stay with a child while its parent lives', async () => {
    const fixture = new EngineFixture()
    const { job: parent } = await fixture.running()
    const child = await ended(fixture, 'succeeded', { parentId: parent.id })
    fixture.clock.advance(2 * HOUR)
    const once = () => stripping(fixture, { bodiesMs: 10 }).runOnce()
    await once()
    expect(await bodiesOf(fixture, child)).toEqual(ALL)
    await fixture.must(parent.id, { type: 'cancel', mode: 'hard' })
    fixture.clock.advance(HOUR)
    await once()
    expect(await bodiesOf(fixture, child)).toEqual([])
  })
})

describe('a job without bodies', () => {
  it('is no discrepancy, and one of which something is left is', async () => {
    const fixture = new EngineFixture()
    const id = await ended(fixture, 'succeeded')
    fixture.clock.advance(2 * HOUR)
    await stripping(fixture, { bodiesMs: HOUR }).runOnce()
    expect((await verify(fixture.engine)).discrepancies).toEqual([])
    const load: EngineFixture['engine']['load'] = async (items) => {
      const answer = await fixture.engine.load(items)
      const withMore = answer.items.map((item) => item && { ...item, bodies: { ...item.bodies, output: '1' } })
      return { ...answer, items: withMore }
    }
    const events = (query: EventQuery) => fixture.engine.events(query)
    const [found] = (await verifyJobs({ load, events }, [id])).discrepancies
    expect(found).toMatchObject({ job: id, about: 'body', what: 'output is there, and was removed' })
  })

  it('is given no successor where its document has only those', async () => {
    const fixture = new EngineFixture()
    const id = await ended(fixture, 'failed', { kind: kindOf({ dialect: '004' }) })
    fixture.clock.advance(2 * HOUR)
    await stripping(fixture, { bodiesMs: HOUR, bodiesEvenOf: ['failed'] }).runOnce()
    const asked = { actor: 'operator:ann', requestId: 'again' }
    const jobs: readonly Job[] = [await fixture.job(id)]
    expect(await redriven(fixture.engine, jobs, asked)).toMatchObject([{ ok: false, refusal: { code: 'STRIPPED' } }])
  })

  it('is what a producer meets that asks for it again', async () => {
    const fixture = new EngineFixture()
    const again = { id: 'mine', input: '{"n":1}' }
    const id = await ended(fixture, 'succeeded', again)
    fixture.clock.advance(2 * HOUR)
    await stripping(fixture, { bodiesMs: HOUR }).runOnce()
    expect(await fixture.tryEnqueue(again)).toMatchObject({ ok: true, replayed: true, job: { id } })
    const other = { ...again, input: '{"n":12}' }
    expect(await fixture.tryEnqueue(other)).toMatchObject({ ok: false, refusal: { code: 'ID_TAKEN' } })
  })
})
