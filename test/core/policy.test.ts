import { describe, expect, it } from 'vitest'
import { DEFAULTS, PRESETS } from '../../src/core/presets.ts'
import { type PolicyInput, resolvePolicy } from '../../src/core/resolve.ts'

const fields = (input: unknown): readonly string[] => {
  const resolved = resolvePolicy(input as PolicyInput)
  return resolved.ok ? [] : resolved.violations.map(({ field }) => field)
}

describe('resolving a policy', () => {
  it('fills in every default', () => {
    expect(resolvePolicy({})).toEqual({ ok: true, policy: DEFAULTS })
  })

  it.each(Object.keys(PRESETS) as (keyof typeof PRESETS)[])('takes the defaults of %s', (dialect) => {
    expect(resolvePolicy({ dialect })).toMatchObject({ ok: true, policy: { ...PRESETS[dialect], dialect } })
  })

  it('takes every word', () => {
    const resolved = resolvePolicy({
      lease: '90s',
      heartbeat: '20s',
      missedHeartbeats: 3,
      timeout: '1m',
      deadline: '1h',
      startWithin: '5m',
      parkAfter: '2m',
      cancelGrace: '10s',
      compensateWithin: '10m',
      retry: {
        attempts: 2,
        stalls: 1,
        budget: 'shared',
        base: 10,
        factor: 3,
        max: '1s',
        jitter: 'equal',
        throttled: { base: '1s', factor: 1, max: '2s', jitter: 'none' },
      },
      errors: { a: 'permanent' },
      onExhausted: 'failed',
      onInvalid: 'dead_letter',
      onTimeout: 'timed_out',
      onStall: 'retry',
      onNotStarted: 'timed_out',
      onWaitTimeout: 'timed_out',
      admission: true,
      idempotent: false,
      dedupe: { for: '1d' },
    })
    expect(resolved).toEqual({
      ok: true,
      policy: {
        dialect: undefined,
        leaseMs: 90_000,
        heartbeat: true,
        heartbeatMs: 20_000,
        missedHeartbeats: 3,
        attemptMs: 60_000,
        deadlineMs: 3_600_000,
        startWithinMs: 300_000,
        parkAfterMs: 120_000,
        cancelGraceMs: 10_000,
        compensateWithinMs: 600_000,
        maxAttempts: 2,
        maxStalls: 1,
        budget: 'shared',
        retry: { baseMs: 10, factor: 3, maxMs: 1_000, jitter: 'equal' },
        throttled: { baseMs: 1_000, factor: 1, maxMs: 2_000, jitter: 'none' },
        errors: { a: 'permanent' },
        retryFailures: true,
        onExhausted: 'failed',
        onInvalid: 'dead_lettered',
        onAttemptTimeout: 'timed_out',
        onStall: 'retry',
        onNotStarted: 'timed_out',
        onWaitTimeout: 'timed_out',
        admission: true,
        idempotent: false,
        dedupe: 86_400_000,
      },
    })
  })

  it('shortens the heartbeat with the lease, and lets the lease outlast the attempt without one', () => {
    expect(resolvePolicy({ lease: '1s' })).toMatchObject({ policy: { heartbeatMs: 500 } })
    expect(resolvePolicy({ heartbeat: false, timeout: '10m' })).toMatchObject({
      policy: { leaseMs: 601_000, heartbeat: false },
    })
    expect(resolvePolicy({ dedupe: { for: 'forever' } })).toMatchObject({ policy: { dedupe: 'forever' } })
  })

  it('names every violation at once', () => {
    expect(
      fields({
        lease: Number.NaN,
        heartbeat: -1,
        timeout: 'soon',
        retry: { attempts: 0, factor: Number.POSITIVE_INFINITY, jitter: 'some' },
        dialect: '005',
        admission: 'yes',
      }).toSorted(),
    ).toEqual(
      [
        'admission',
        'dialect',
        'heartbeat',
        'lease',
        'retry.attempts',
        'retry.factor',
        'retry.jitter',
        'timeout',
      ].toSorted(),
    )
  })

  it.each([
    [{ lease: '999ms' }, 'lease'],
    [{ lease: '2d' }, 'lease'],
    [{ lease: '10s', heartbeat: '10s' }, 'heartbeat'],
    [{ heartbeat: false, lease: '10s', timeout: '11s' }, 'lease'],
    [{ retry: { base: '10s', max: '9s' } }, 'retry.max'],
    [{ retry: { throttled: { base: '10s', max: '9s' } } }, 'retry.throttled.max'],
    [{ retry: { attempts: 1.5 } }, 'retry.attempts'],
    [{ retry: { attempts: 10_001 } }, 'retry.attempts'],
    [{ retry: { factor: '2' } }, 'retry.factor'],
    [{ retry: { factor: 101 } }, 'retry.factor'],
    [{ errors: { x: 'fatal' } }, 'errors.x'],
    [{ errors: Object.fromEntries(Array.from({ length: 257 }, (_, i) => [`e${i}`, 'permanent'])) }, 'errors'],
    [{ errors: null }, 'errors'],
    [{ errors: 5 }, 'errors'],
    [{ errors: { '': 'transient' } }, 'errors'],
    [{ errors: JSON.parse('{"__proto__":"transient"}') }, 'errors'],
    [{ errors: { ['e'.repeat(10_000)]: 'transient' } }, 'errors'],
    [{ retry: null }, 'retry'],
    [{ retry: 3 }, 'retry'],
    [{ retry: { atempts: 3 } }, 'retry.atempts'],
    [{ retry: { throttled: [] } }, 'retry.throttled'],
    [{ retry: { throttled: { baze: 1 } } }, 'retry.throttled.baze'],
    [{ heartbeat: false, timeout: '2d' }, 'lease'],
    [null, 'policy'],
    [undefined, 'policy'],
    ['000A', 'policy'],
    [[], 'policy'],
    [{ onExhausted: 'retry' }, 'onExhausted'],
    [{ dialect: '000A', lease: '29s' }, 'lease'],
    [{ dialect: '000A', lease: '121s' }, 'lease'],
    [{ dialect: '000B', heartbeat: '9s' }, 'heartbeat'],
    [{ dialect: '000B', lease: '120s', heartbeat: '31s' }, 'heartbeat'],
  ])('refuses %j', (input, field) => {
    expect(fields(input)).toContain(field)
  })
})
