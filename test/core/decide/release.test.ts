import { describe, expect, it } from 'vitest'
import { RELEASE_REASONS } from '../../../src/core/command.ts'
import { evolve } from '../../../src/core/evolve.ts'
import { given, NONCE } from '../given.ts'

const unknown = { type: 'release', fence: 'mine', reason: 'unknown_type' } as const

describe('release', () => {
  it('burns no budget, now or later', () => {
    const history = given()
      .starts()
      .does({ type: 'release', fence: 'mine', reason: 'snoozed', runAt: 1_600_000, executionMs: 5 })
    expect(history.record).toMatchObject({
      state: 'queued',
      failures: 0,
      stalls: 0,
      attempt: 1,
      readyAt: 1_600_000,
      executionMs: 5,
    })
  })

  it.each(RELEASE_REASONS.filter((reason) => reason !== 'unknown_type'))(
    'says nothing about needs where the reason is %s',
    (reason) => {
      expect(given().claims().does({ type: 'release', fence: 'mine', reason }).record.needs).toBeUndefined()
    },
  )
})

describe('a job whose type its worker does not know', () => {
  it('is queued at once, for who knows it, and nothing is counted against it', () => {
    const { record, events, now } = given().claims().does(unknown)
    expect(record).toMatchObject({ state: 'queued', needs: 'crawl.page', runAt: now, readyAt: now })
    expect(record).toMatchObject({ attempt: 1, failures: 0, stalls: 0 })
    expect(events.at(-1)).toMatchObject({ type: 'released', reason: 'unknown_type', payload: { needs: 'crawl.page' } })
  })

  it('needs that for the rest of its life, whatever comes', () => {
    const job = given({ retry: { attempts: 2, base: 1, factor: 1, jitter: 'none' } })
      .claims()
      .does(unknown)
    expect(job.starts().fails().record).toMatchObject({ state: 'retrying', needs: 'crawl.page' })
    expect(job.after(10).starts().fails({ code: 'bad_request' }).record.needs).toBe('crawl.page')
    expect(job.does({ type: 'reopen' }).record).toMatchObject({ state: 'queued', needs: 'crawl.page' })
  })

  it('says so once: who was given it all the same adds nothing, and is not given it again at once', () => {
    const again = given().claims().does(unknown).claims().does(unknown)
    expect(again.events.at(-1)).toMatchObject({ type: 'released', payload: { needs: undefined } })
    expect(again.record).toMatchObject({ needs: 'crawl.page', readyAt: again.now + 10_000 })
    const runAt = again.now + 60_000
    expect(
      again
        .after(10_000)
        .claims()
        .does({ ...unknown, runAt }).record.readyAt,
    ).toBe(runAt)
  })

  it('may be put off by whoever says so', () => {
    const history = given().claims()
    const runAt = history.now + 5_000
    expect(history.does({ ...unknown, runAt }).record).toMatchObject({ needs: 'crawl.page', readyAt: runAt })
  })

  it('is cancelled where that was asked for, like any other', () => {
    const history = given().claims().does({ type: 'cancel', mode: 'soft' }).does(unknown)
    expect(history.record).toMatchObject({ state: 'cancelled', needs: undefined })
  })
})

describe('a job that nobody could hand back, because its document knows no release', () => {
  it('is for who knows its type as soon as it is admitted (002)', () => {
    const pending = given({ dialect: '002' })
    expect(pending.record.needs).toBeUndefined()
    expect(pending.does({ type: 'admit', rule: 'all', policyHash: 'p1' }).record).toMatchObject({
      state: 'queued',
      needs: 'crawl.page',
    })
    expect(
      given({ admission: true }).does({ type: 'admit', rule: 'all', policyHash: 'p1' }).record.needs,
    ).toBeUndefined()
  })

  it.each(['001', '004'] as const)('is from birth (%s)', (dialect) => {
    expect(given({ dialect }).record).toMatchObject({ state: 'queued', needs: 'crawl.page' })
  })

  it.each(['001', '004'] as const)(
    'is once a claim of it has come to nothing, where it was born before that was said (%s)',
    (dialect) => {
      const exact = (history: ReturnType<typeof given>) =>
        dialect === '001' ? { expectedRev: history.record.rev } : {}
      const history = bornBefore(dialect)
      history.does({ type: 'claim', workerId: 'w1', nonce: NONCE, ...exact(history) }).after(600_000)
      history.ticks()
      expect(history.record.needs).toBe('crawl.page')
      // A second one adds nothing.
      history
        .after(600_000)
        .does({ type: 'claim', workerId: 'w2', nonce: NONCE, ...exact(history) })
        .after(600_000)
      history.ticks()
      expect(history.record.needs).toBe('crawl.page')
      expect(history.events.filter(({ type }) => type === 'stalled').map(({ payload }) => payload)).toMatchObject([
        { needs: 'crawl.page' },
        { needs: undefined },
      ])
      const begun = bornBefore(dialect)
      begun.does({ type: 'claim', workerId: 'w1', nonce: NONCE, ...exact(begun) })
      begun.does({ type: 'start', fence: 'mine', ...exact(begun) }).after(600_000)
      begun.ticks()
      expect(begun.record.needs).toBeUndefined()
    },
  )

  it('is anybody’s where there is a release', () => {
    expect(given().claims().after(600_000).does({ type: 'stall' }).record.needs).toBeUndefined()
    expect(given({ dialect: '000A' }).claims().after(600_000).does({ type: 'stall' }).record.needs).toBeUndefined()
  })
})

/** As its log has it from before jobs were born with what they need. */
function bornBefore(dialect: '001' | '004'): ReturnType<typeof given> {
  const history = given({ dialect })
  const [born] = history.events.splice(0)
  if (born?.type !== 'enqueued') throw new Error('a job is born first')
  const old = { ...born, payload: { ...born.payload, needs: undefined } }
  history.events.push(old)
  history.job = evolve(undefined, old)
  return history
}
