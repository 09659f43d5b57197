import { describe, expect, it } from 'vitest'
import type { Circumstances } from '../../src/core/explain.ts'
import { type Job, STATES } from '../../src/core/job.ts'
import { type Now, now } from '../../src/core/now.ts'
import { given, type History } from './given.ts'
import { HISTORIES } from './sample.ts'

const said = (history: History, around: Partial<Circumstances> = {}): Now =>
  now(history.record, { now: history.now, paused: undefined, workers: undefined, held: undefined, ...around })

/** A record as it might be besides: what a history of commands would take long to come to. */
const record = (history: History, change: object): Now =>
  now({ ...history.record, ...change } as Job, {
    now: history.now,
    paused: undefined,
    workers: undefined,
    held: undefined,
  })

describe('the phrase beside a job', () => {
  it('is never empty: each state has words, a moment or a length', () => {
    for (const state of STATES) {
      const { before, when, after, tookMs } = said(HISTORIES[state]())
      expect([before !== '', when !== undefined, after !== undefined, tookMs !== undefined], state).toContain(true)
    }
  })

  it('says when it is due, and after what', () => {
    expect(said(given({}, { runAt: 2_000_000 }))).toEqual({ before: 'due', when: 2_000_000, after: undefined })
    const retrying = given({ retry: { jitter: 'none' } })
      .starts()
      .fails({ code: 'E_5XX_ORIGIN' })
    expect(said(retrying)).toEqual({ before: 'due', when: retrying.now + 2_000, after: 'after E_5XX_ORIGIN' })
    expect(said(retrying.after(2_000)).before).toBe('waits for a worker, ready')
    expect(record(given(), { readyAt: undefined, nextTickAt: 7 })).toMatchObject({ before: 'due', when: 7 })
  })

  it('says why a ready one is not taken', () => {
    const ready = given()
    expect(said(ready, { paused: { by: 'ann', since: 5 } })).toEqual({ before: 'paused: queue crawl, by ann', when: 5 })
    expect(said(ready, { paused: { by: undefined, since: undefined } }).before).toBe('paused: queue crawl')
    const held = { because: 'Key shop runs 2 of 2.', who: 'the jobs of key shop', when: 9, next: 'Wait.' }
    expect(said(ready, { held })).toEqual({ before: 'held by the jobs of key shop', when: 9 })
    expect(said(ready, { workers: { serving: 0, able: [] } }).before).toBe('no worker serves queue crawl, ready')
    expect(said(ready, { workers: { serving: 1, able: [] } }).before).toBe('no worker knows type crawl.page, ready')
    expect(said(ready, { workers: { serving: 1, able: ['w'] } }).before).toBe('waits for a worker, ready')
    const nobody = { workers: { routed: { inPool: 0, capable: 0 }, serving: 0, able: [] } }
    const routed = (route: object) =>
      given({ admission: true }).does({ type: 'admit', rule: 'r', policyHash: 'h', route })
    expect(said(routed({ pool: 'code', capabilities: [] }), nobody).before).toBe('no worker in pool code, ready')
    expect(said(routed({ capabilities: ['gpu'] }), nobody).before).toBe('no worker can do gpu, ready')
  })

  it('says who has it, how far it is, and that it is asked to stop', () => {
    expect(said(given().claims())).toMatchObject({ after: 'about to start' })
    const running = given().starts()
    expect(said(running).after).toBeUndefined()
    expect(record(running, { progress: { done: 5, total: 8 } }).after).toBe('62 %')
    expect(record(running, { progress: { done: 5, total: undefined } }).after).toBe('5 done')
    expect(record(running, { progress: { done: 5, total: 0 } }).after).toBe('5 done')
    expect(record(running, { cancel: { by: 'ann' } }).after).toBe('cancel requested by ann')
  })

  it('says what it waits for, and until when', () => {
    const waiting = HISTORIES.waiting()
    expect(record(waiting, { wait: { name: 'approved', key: undefined, timeoutAt: undefined } })).toEqual({
      before: 'waits for approved',
    })
    expect(record(waiting, { wait: { name: 'approved', key: 'k', timeoutAt: 9 } })).toEqual({
      before: 'waits for approved (k), until',
      when: 9,
    })
  })

  it('says what became of a lost one', () => {
    const stalled = HISTORIES.stalled()
    expect(said(stalled)).toMatchObject({
      before: expect.stringMatching(/^lease of .* ended$/),
      after: 'free to be claimed',
    })
    expect(record(stalled, { lastClaim: undefined, readyAt: undefined })).toEqual({
      before: 'its lease ended',
      when: undefined,
      after: 'the ticker decides',
    })
  })

  it('says how it ended', () => {
    expect(said(HISTORIES.succeeded()).tookMs).toBeGreaterThanOrEqual(0)
    const failed = HISTORIES.failed()
    expect(record(failed, { error: { code: 'E', stage: 'exec' } })).toEqual({ before: 'E', after: undefined })
    expect(record(failed, { error: { code: 'E', stage: 'output' } })).toEqual({ before: 'E', after: 'in output' })
    const letter = HISTORIES.dead_lettered()
    expect(record(letter, { error: { code: 'E' }, deadLetter: { reason: 'timeout' } })).toEqual({
      before: 'E',
      after: 'timeout',
    })
    const cancelled = HISTORIES.cancelled()
    expect(record(cancelled, { cancel: undefined }).before).toBe('')
    expect(record(cancelled, { cancel: { by: 'ann', reason: 'late' } })).toEqual({ before: 'by ann', after: 'late' })
    expect(said(HISTORIES.denied()).before).toMatch(/^rule /)
  })

  it('knows every state there is', () => {
    expect(() => record(given(), { state: 'elsewhere' })).toThrow()
  })
})
