/** What one job may leave behind: so many observations, bodies of such a size, and nothing that has to end is held up. */
import { describe, expect, it } from 'vitest'
import { compact } from '../../src/core/compact.ts'
import { decide } from '../../src/core/decide.ts'
import { derive } from '../../src/core/evolve.ts'
import type { Job } from '../../src/core/job.ts'
import { LENGTHS, SIZES } from '../../src/core/limits.ts'
import { given, type History, T0 } from './given.ts'

const body = (name: string, size: number) => ({ name, size, digest: undefined })

const running = (): History => given().starts()

/** The record as it would be after that many: a hundred thousand commands would only take longer. */
const withMuch = (history: History, much: Partial<Job>): Job => ({ ...history.record, ...much }) as Job

const said = (job: Job, words: Readonly<Record<string, unknown>>) =>
  decide(job, { actor: 'a', requestId: 'r', fence: job.lease?.fence, ...words } as never, T0)

const OBSERVED = [
  { type: 'progress', progress: { done: 1, total: undefined, message: undefined, etaAt: undefined } },
  { type: 'checkpoint', body: body('checkpoint', 1) },
  { type: 'record', step: { name: 's', body: body('step/s', 1), compensate: false } },
  { type: 'record', artifact: { name: 'a', ptr: 'p' } },
  { type: 'signal', name: 's', fence: undefined },
] as const

describe('the number of observations', () => {
  it('is counted, heartbeats apart', () => {
    const history = running()
    for (const words of OBSERVED) history.does({ ...words, fence: 'fence' in words ? undefined : 'mine' })
    history.does({ type: 'heartbeat', fence: 'mine' })
    expect(history.record.observations).toBe(OBSERVED.length)
  })

  it.each(OBSERVED)('is bounded: $type', (words) => {
    expect(said(withMuch(running(), { observations: SIZES.observations - 1 }), words).kind).toBe('accepted')
    const decision = said(withMuch(running(), { observations: SIZES.observations }), words)
    expect(decision).toMatchObject({ kind: 'refused', refusal: { code: 'LIMIT_REACHED' } })
    expect(decision.kind === 'refused' && decision.refusal.message).toContain('observations')
  })

  it('bounds rescheduling, too', () => {
    const job = withMuch(given(), { observations: SIZES.observations })
    expect(said(job, { type: 'reschedule', priority: 1 })).toMatchObject({ refusal: { code: 'LIMIT_REACHED' } })
  })

  it.each([
    { type: 'heartbeat' },
    { type: 'complete' },
    { type: 'fail', fault: { code: 'E', message: '' } },
    { type: 'release', reason: 'handed_back' },
    { type: 'wait', name: 's' },
    { type: 'cancel', mode: 'soft', fence: undefined },
    { type: 'cancel', mode: 'hard', fence: undefined },
    { type: 'deadLetter', reason: 'timeout', stage: 'exec' },
  ])('never stands in the way of what ends something: $type $mode', (words) => {
    const much = { observations: SIZES.observations, bodySize: SIZES.bodySize }
    expect(said(withMuch(running(), much), words).kind).toBe('accepted')
  })

  it('never keeps a job waiting: a signal it waits for is heard', () => {
    const waiting = running().does({ type: 'wait', name: 's', fence: 'mine', timeoutMs: 1_000 })
    const job = withMuch(waiting, { observations: SIZES.observations, bodySize: SIZES.bodySize })
    expect(said(job, { type: 'signal', name: 's', fence: undefined }).kind).toBe('accepted')
  })
})

describe('the size of bodies', () => {
  it('is that of the last checkpoint, and of all memos and signals', () => {
    const history = running()
      .does({ type: 'checkpoint', body: body('checkpoint', 70), fence: 'mine' })
      .does({ type: 'checkpoint', body: body('checkpoint', 30), fence: 'mine' })
      .does({ type: 'record', step: { name: 's', body: body('step/s', 5), compensate: false }, fence: 'mine' })
      .does({ type: 'signal', name: 'early', body: body('signal', 7) })
      .does({ type: 'wait', name: 's', fence: 'mine', timeoutMs: 1_000 })
      .does({ type: 'signal', name: 's', body: body('signal', 11) })
    expect(history.record.bodySize).toBe(30 + 5 + 7 + 11)
  })

  it.each([
    { type: 'record', step: { name: 's', body: body('step/s', 11), compensate: false } },
    { type: 'checkpoint', body: body('checkpoint', 11) },
    { type: 'signal', name: 's', body: body('signal', 11), fence: undefined },
  ])('is bounded: $type', (words) => {
    expect(said(withMuch(running(), { bodySize: SIZES.bodySize - 11 }), words).kind).toBe('accepted')
    const decision = said(withMuch(running(), { bodySize: SIZES.bodySize - 10 }), words)
    expect(decision).toMatchObject({ kind: 'refused', refusal: { code: 'LIMIT_REACHED' } })
    expect(decision.kind === 'refused' && decision.refusal.message).toContain('bodySize')
  })

  it('leaves room for a checkpoint in place of one as large', () => {
    const history = running().does({ type: 'checkpoint', body: body('checkpoint', 1_000), fence: 'mine' })
    const job = withMuch(history, { bodySize: SIZES.bodySize })
    expect(said(job, { type: 'checkpoint', body: body('checkpoint', 1_000) }).kind).toBe('accepted')
    expect(said(job, { type: 'checkpoint', body: body('checkpoint', 1_001) }).kind).toBe('refused')
  })
})

it('what is told of an error is bounded, and is a body', () => {
  const fails = (told: unknown) =>
    said(running().record, { type: 'fail', fault: { code: 'E', message: '', body: told } })
  expect(fails(body('error/1', LENGTHS.description)).kind).toBe('accepted')
  for (const told of [body('error/1', LENGTHS.description + 1), 'a text', 7])
    expect(fails(told)).toMatchObject({ kind: 'refused', refusal: { code: 'INVALID' } })
})

it('a compacted log still says how much there was', () => {
  const history = running()
    .does({ type: 'checkpoint', body: body('checkpoint', 70), fence: 'mine' })
    .does({ type: 'signal', name: 'early', body: body('signal', 7) })
    .does({ type: 'record', step: { name: 's', body: body('step/s', 5), compensate: false }, fence: 'mine' })
    .does({ type: 'complete', fence: 'mine' })
  const { event, replaces } = compact(history.events) ?? {}
  const left = history.events.filter(({ rev }) => !replaces?.includes(rev))
  const compacted = [...left, event as never].sort((a, b) => a.rev - b.rev)
  expect(derive(compacted)).toEqual(history.record)
  expect(history.record).toMatchObject({ observations: 3, bodySize: 82 })
})
