/** Document 003, what it leaves to its readers: every state and word shown, plans, nodes and tools told, replay and verification. */
import { describe, expect, it } from 'vitest'
import { deriveDialect } from '../../../src/core/dialects/derive.ts'
import { log } from '../../../src/core/dialects/history.ts'
import { refinement } from '../../../src/core/dialects/refinement.ts'
import { READINGS } from '../../../src/core/dialects/registry.ts'
import { view } from '../../../src/core/dialects/view.ts'
import { attestationOf, attested, broken } from '../../../src/engine/attestation.ts'
import { AuditLog } from '../../../src/engine/audit.ts'
import { implementJob } from '../../../src/library/define-job.ts'
import type { Context } from '../../../src/worker/context.ts'
import { Actor, fault } from '../actor.ts'
import { onStores } from '../stage.ts'

const strict = { dialect: '003' } as const
const SOON = { base: 1, max: 1 } as const

describe('003 read with all its states', () => {
  it('003:20 003:80 tells every state change of ours along its own table', () => {
    const refined = refinement([READINGS['003-explicit']])
    expect(refined.filter(({ faults }) => faults.length > 0)).toEqual([])
    const rows = new Set(READINGS['003-explicit'].table.map(({ from, to, word }) => `${from} ${word} ${to}`))
    const steps = refined.flatMap(({ steps }) => steps ?? [])
    expect(steps.filter(({ from, word, to }) => !rows.has(`${from} ${word} ${to}`))).toEqual([])
  })
})

onStores('003 traced', {}, (stage) => {
  const actor = (policy: object = {}) => new Actor(stage(), { ...strict, ...policy })
  const explicit = async (each: Actor, id: string) => {
    const shown = view(await each.job(id), '003-explicit')
    const told = log(await each.events(id), '003-explicit')
    expect(deriveDialect('003-explicit', told)).toMatchObject({ status: shown['State'], violations: [] })
    expect(told.filter(({ implied }) => implied)).toEqual([])
    return { shown, words: told.map((entry) => entry['Event']) }
  }

  it('003:14 003:31 003:34 a parked job is Parked where asked for; job_queued and job_running are written', async () => {
    const each = actor()
    const { job, fence } = await each.running()
    await each.must(job.id, { type: 'wait', fence, name: 'approved' })
    const { shown, words } = await explicit(each, job.id)
    expect(shown).toMatchObject({ State: 'Parked', JobStatus: 'StatusParked' })
    expect(words).toEqual(['job_queued', 'job_leased', 'job_running', 'job_waiting', 'job_parked'])
    expect(await each.view(job.id)).toMatchObject({ State: 'Waiting', JobStatus: 'StatusWaiting' })
    await each.must(job.id, { type: 'signal', name: 'approved' })
    expect((await explicit(each, job.id)).words.at(-1)).toBe('wait_completed')
  })

  it('003:15 a job that waits for its retry is Retrying where asked for', async () => {
    const each = actor({ retry: { base: '1h', max: '1h' } })
    const { job, fence } = await each.running()
    await each.must(job.id, { type: 'fail', fence, fault: fault('network_error') })
    const { shown, words } = await explicit(each, job.id)
    expect(shown).toMatchObject({ State: 'Retrying', JobStatus: 'StatusRetrying' })
    expect(words.at(-1)).toBe('job_retrying')
    expect(await each.view(job.id)).toMatchObject({ State: 'Queued', JobStatus: 'StatusPending' })
  })

  it('003:20 003:30 claimed and not begun is Leased where asked for; who waits for admission was created, not queued', async () => {
    const each = new Actor(stage(), { admission: true })
    const { job } = await each.assigned()
    const { shown, words } = await explicit(each, job.id)
    expect(shown).toMatchObject({ State: 'Leased', JobStatus: 'StatusRunning' })
    expect(words).toEqual(['job_created', 'job_leased'])
  })

  const NOTES = [
    'plan_generated',
    'node_started',
    'tool_invocation_started',
    'tool_invocation_finished',
    'node_finished',
  ]
  const planned = async (ctx: Context) => {
    await ctx.record('plan_generated', 'crawl', { nodes: ['fetch'] })
    await ctx.record('node_started', 'fetch')
    await ctx.record('tool_invocation_started', 'http', { url: 'https://example.org' })
    const size = await ctx.step('get', () => 7)
    await ctx.record('tool_invocation_finished', 'http', { size })
    await ctx.record('node_finished', 'fetch')
    return size
  }

  it('003:41 plans, nodes and tools are told once, and change no status', async () => {
    const each = actor({ retry: { attempts: 3, ...SOON } })
    const job = implementJob(each.spec, async (_: unknown, ctx) => {
      const size = await planned(ctx)
      if (ctx.attempt === 1) throw new Error('again')
      return size
    })
    await using _ = each.pawl.work([job], { poll: 20 })
    const { id } = await each.enqueue()
    await each.until(id, 'succeeded')
    const told = await each.log(id)
    const words = told.map((entry) => entry['Event'])
    expect(words.filter((word) => NOTES.includes(String(word)))).toEqual(NOTES)
    expect(words).toEqual([...['job_created', 'job_leased', ...NOTES, 'job_requeued', 'job_leased', 'job_completed']])
    expect(deriveDialect('003', told)).toMatchObject({ status: 'Completed', violations: [], passedOver: NOTES.length })
    expect(await each.pawl.body(id, 'step/tool_invocation_started http#1')).toMatchObject({
      value: { url: 'https://example.org' },
    })
  })

  it('003:41 replay: the handler against its log, without effects', async () => {
    const each = actor()
    let worked = 0
    const job = implementJob(each.spec, async (_: unknown, ctx) => {
      const one = await ctx.step('one', () => ++worked)
      await ctx.record('node_started', 'sum')
      return one + (await ctx.step('two', () => ++worked))
    })
    const { id } = await each.enqueue()
    {
      await using _ = each.pawl.work([job])
      await each.until(id, 'succeeded')
    }
    const before = await each.events(id)
    const same = await each.pawl.replay(id, job)
    expect(same).toMatchObject({ came: ['one#1', 'node_started sum#1', 'two#1'], difference: undefined })
    const told = async (run: (ctx: Context) => unknown) =>
      (
        await each.pawl.replay(
          id,
          implementJob(each.spec, (_: unknown, ctx) => run(ctx)),
        )
      ).difference
    expect(await told((ctx) => ctx.step('other', () => ++worked))).toMatchObject({
      at: 'other#1',
      replayed: 'came to it',
    })
    expect(await told((ctx) => ctx.step('one', () => ++worked))).toMatchObject({ replayed: 'never came to it' })
    const summed = async (ctx: Context, add: number) => {
      const one = await ctx.step('one', () => ++worked)
      await ctx.record('node_started', 'sum')
      return one + (await ctx.step('two', () => ++worked)) + add
    }
    expect(await told((ctx) => summed(ctx, 1))).toEqual({ at: 'end', logged: 'returned 3', replayed: 'returned 4' })
    const broke = async (ctx: Context) => {
      await summed(ctx, 0)
      throw Object.assign(new Error('no'), { code: 'E_NO' })
    }
    expect(await told(broke)).toEqual({ at: 'end', logged: 'returned 3', replayed: 'failed with E_NO' })
    expect(worked).toBe(2)
    expect(await each.events(id)).toEqual(before)
  })

  it('003:41 replay of a job that waits stops where its log does', async () => {
    const each = actor()
    const job = implementJob(each.spec, async (_: unknown, ctx) => {
      await ctx.step('one', () => 1)
      await ctx.waitFor('approved')
      return ctx.step('two', () => 2)
    })
    await using _ = each.pawl.work([job])
    const { id } = await each.enqueue()
    await each.until(id, 'parked')
    expect(await each.pawl.replay(id, job)).toMatchObject({ came: ['one#1', 'approved#1'], difference: undefined })
  })

  it('003:41 verification: who verified which stretch, with its hash; what was changed since shows', async () => {
    const each = actor()
    const { job, fence } = await each.running()
    const early = await each.events(job.id)
    const audit = new AuditLog(each.pawl.engine)
    await audit.append('default', { ...attested(job, attestationOf(early)), by: 'auditor:ann' })
    await each.must(job.id, { type: 'complete', fence })
    const later = await each.events(job.id)
    const { entries } = await audit.page('default', undefined, 1)
    expect(entries).toMatchObject([
      { act: 'log.verified', about: job.id, by: 'auditor:ann', attestation: { fromRev: 1, toRev: 3 } },
    ])
    expect(await broken(audit, job, later)).toEqual([])
    const forged = later.map((event) => (event.rev === 2 ? { ...event, actor: 'worker:other' } : event))
    expect(await broken(audit, job, forged)).toMatchObject([
      { job: job.id, about: 'log', what: expect.stringContaining('auditor:ann') },
    ])
    expect(
      await broken(
        audit,
        job,
        later.filter(({ rev }) => rev !== 2),
      ),
    ).toHaveLength(1)
  })
})
