import { describe, expect, it } from 'vitest'
import { type Circumstances, type Explanation, explain, WAYS_NOT_TO_RUN } from '../../src/core/explain.ts'
import { STATES } from '../../src/core/job.ts'
import { given, type History } from './given.ts'
import { HISTORIES } from './sample.ts'

const asked = (history: History, around: Partial<Circumstances> = {}): Explanation =>
  explain(history.record, { now: history.now, paused: undefined, workers: undefined, held: undefined, ...around })

describe('why a job is not running', () => {
  it('has an answer in every state: one of seven words, or that it runs, or that it is over', () => {
    for (const state of STATES) {
      const told = asked(HISTORIES[state]())
      expect([...WAYS_NOT_TO_RUN, 'running', 'ended']).toContain(told.way)
      expect(told).toMatchObject({ job: 'pj_1', state })
      expect(told.because).not.toBe('')
      expect(told.next).not.toBe('')
    }
  })

  it('pending: who admits it', () => {
    const history = given({ admission: true, deadline: '1h' })
    expect(asked(history)).toMatchObject({ way: 'pending', who: 'admission', when: history.now + 3_600_000 })
  })

  it('queued: who could take it', () => {
    expect(asked(given())).toMatchObject({ way: 'queued', who: 'the workers of queue crawl' })
  })

  it('queued: nobody who is there knows its type', () => {
    const workers = { serving: 2, able: [] }
    const unknown = given().claims().does({ type: 'release', fence: 'mine', reason: 'unknown_type' })
    for (const history of [given(), unknown]) {
      expect(asked(history, { workers })).toMatchObject({
        way: 'queued',
        because: expect.stringContaining('No worker that is there knows type crawl.page: 2 serve queue crawl'),
        who: 'a worker of queue crawl that knows type crawl.page',
        next: 'Start a worker that has type crawl.page: pawl work <module>.',
      })
    }
    expect(asked(unknown, { workers }).because).toContain('has handed it back')
    const admitted = given({ dialect: '002' }).does({ type: 'admit', rule: 'all', policyHash: 'p1' })
    expect(asked(admitted, { workers }).because).not.toContain('handed it back')
    expect(asked(unknown).because).toContain('It is for workers that know type crawl.page: none has claimed it yet')
  })

  it('queued: nobody who is there is in its pool, or can do what it requires', () => {
    const routed = (pool: string | undefined, capabilities: readonly string[]) =>
      given({ admission: true }).does({ type: 'admit', rule: 'r', policyHash: 'h', route: { pool, capabilities } })
    const nobody = (inPool: number) => ({ workers: { routed: { inPool, capable: 0 }, serving: 0, able: [] } })
    expect(asked(routed('code', []), nobody(0))).toMatchObject({
      way: 'queued',
      because: 'No live worker is in pool code.',
      who: 'a worker in pool code',
      next: 'Start one: pawl work <module> --pool code.',
    })
    expect(asked(routed('code', ['gpu', 'cuda']), nobody(2))).toMatchObject({
      because: 'No live worker in pool code can do cuda and gpu: 2 there, and none of them does.',
      who: 'a worker in pool code that can do cuda and gpu',
      next: 'Start one: pawl work <module> --pool code --can cuda,gpu.',
    })
    expect(asked(routed(undefined, ['gpu']), nobody(0)).because).toBe('No live worker can do gpu: nobody is there.')
    const there = { workers: { routed: { inPool: 2, capable: 1 }, serving: 1, able: ['w1'] } }
    expect(asked(routed('code', ['gpu']), there).because).toContain('no worker has claimed it yet')
  })

  it('queued: who knows its type, after somebody did not', () => {
    const unknown = given().claims().does({ type: 'release', fence: 'mine', reason: 'unknown_type' })
    const able = ['w1', 'w2', 'w3', 'w4', 'w5']
    expect(asked(unknown, { workers: { serving: 7, able: able.slice(0, 2) } }).who).toBe('worker w1 or w2')
    expect(asked(unknown, { workers: { serving: 7, able } }).who).toBe('worker w1, w2, w3 or one of 2 others')
    expect(asked(given(), { workers: { serving: 7, able } }).who).toBe('the workers of queue crawl')
  })

  it('queued: an orphan that may run again', () => {
    expect(asked(HISTORIES.stalled())).toMatchObject({ way: 'queued' })
  })

  it('delayed: until when, and after which failure', () => {
    const later = given({}, { runAt: 2_000_000 })
    expect(asked(later)).toMatchObject({ way: 'delayed', when: 2_000_000, because: 'It is to run later.' })
    const retrying = given({ retry: { jitter: 'none' } })
      .starts()
      .fails({ code: 'E_5XX_ORIGIN' })
    expect(asked(retrying)).toMatchObject({ way: 'delayed', when: retrying.now + 2_000 })
    expect(asked(retrying).because).toMatch(/E_5XX_ORIGIN/)
    expect(asked(retrying.after(2_000))).toMatchObject({ way: 'queued' })
  })

  it('delayed: an orphan that the ticker has to judge', () => {
    const orphan = given({ retry: { stalls: 0 } })
      .starts()
      .after(60_000)
      .does({ type: 'stall' })
    expect(asked(orphan)).toMatchObject({ way: 'delayed', who: 'the ticker', when: orphan.now })
  })

  it('paused: by whom', () => {
    const paused = { by: 'operator:ann', since: 5 }
    expect(asked(given(), { paused })).toMatchObject({ way: 'paused', who: 'operator:ann' })
    expect(asked(given(), { paused }).because).toBe('Queue crawl is paused by operator:ann.')
    const nobody = { by: undefined, since: undefined }
    expect(asked(given(), { paused: nobody })).toMatchObject({ way: 'paused', because: 'Queue crawl is paused.' })
    expect(asked(given({}, { runAt: 2_000_000 }), { paused })).toMatchObject({ way: 'delayed' })
  })

  it('held: by which limit', () => {
    const held = { because: 'Key k runs 2 of 2.', who: 'the jobs of key k', when: 9, next: 'Wait.' }
    expect(asked(given(), { held })).toMatchObject({ way: 'held', ...held })
  })

  it('waiting, parked: for what, from whom, until when', () => {
    const waiting = HISTORIES.waiting()
    expect(asked(waiting)).toMatchObject({ way: 'waiting', when: waiting.now + 10 })
    const keyed = given().starts().does({ type: 'wait', fence: 'mine', name: 'ok', key: 'k7' })
    expect(asked(keyed)).toMatchObject({
      way: 'parked',
      when: undefined,
      who: 'whoever sends the signal ok with key k7',
    })
    expect(asked(keyed).because).toMatch(/without a time limit/)
    expect(asked(keyed).next).toBe('Send it: pawl jobs signal pj_1 ok --key k7.')
  })

  it('running after all: where, until when, and whether it is being cancelled', () => {
    expect(asked(HISTORIES.claimed())).toMatchObject({ way: 'running' })
    const running = HISTORIES.running()
    expect(asked(running)).toMatchObject({ way: 'running', when: running.record.lease?.expiresAt })
    expect(asked(running.does({ type: 'cancel', mode: 'soft' })).next).toMatch(/cancel was requested/)
  })

  it('ended: and whether it can be reopened', () => {
    expect(asked(HISTORIES.succeeded())).toMatchObject({ way: 'ended', next: 'Enqueue a new job.' })
    expect(asked(HISTORIES.denied())).toMatchObject({ way: 'ended', next: 'Enqueue a new job.' })
    expect(asked(HISTORIES.failed())).toMatchObject({ way: 'ended', next: 'Reopen it to run it again.' })
  })

  it('knows no state that is not one', () => {
    const job = { ...given().record, state: 'sleeping' } as never
    expect(() => explain(job, { now: 1, paused: undefined, workers: undefined, held: undefined })).toThrow(
      'unreachable',
    )
  })
})
