import { describe, expect, expectTypeOf, it } from 'vitest'
import { type Duration, parseDuration } from '../../src/core/duration.ts'

describe('durations', () => {
  it('are milliseconds or words', () => {
    expect(['250ms', '30s', '5m', '2h', '1d', '1.5s', 42].map(parseDuration)).toEqual([
      250, 30_000, 300_000, 7_200_000, 86_400_000, 1_500, 42,
    ])
  })

  it('may have several parts, the greatest first, each once', () => {
    expect(['4m59s', '1d12h', '1h30m0.5s', '1d2h3m4s5ms', '1m500ms'].map(parseDuration)).toEqual([
      299_000, 129_600_000, 5_400_500, 93_784_005, 60_500,
    ])
    for (const odd of ['59s4m', '1h1h', '4m59', '4m 59s', 'm59s']) expect(parseDuration(odd)).toBeUndefined()
  })

  it('are typed as far as types can say it', () => {
    expectTypeOf<'4m59s' | '250ms' | '1.5h' | '1d12h' | '1m500ms' | 42>().toExtend<Duration>()
    expectTypeOf<'5 parsecs'>().not.toExtend<Duration>()
    expectTypeOf<'5 minutes'>().not.toExtend<Duration>()
    expectTypeOf<'59s4m'>().not.toExtend<Duration>()
    expectTypeOf<''>().not.toExtend<Duration>()
    expectTypeOf<string>().not.toExtend<Duration>()
  })

  it('are nothing else', () => {
    for (const odd of [
      '',
      '5',
      '-1s',
      '1e3s',
      's',
      '5 m',
      Number.NaN,
      Number.POSITIVE_INFINITY,
      null,
      undefined,
      {},
      true,
    ]) {
      expect(parseDuration(odd)).toBeUndefined()
    }
  })
})
