import { describe, expect, it } from 'vitest'
import { given } from '../given.ts'

describe('deadLetter', () => {
  it('keeps the message that was given, or else the last failure', () => {
    const said = given()
      .claims()
      .does({ type: 'deadLetter', reason: 'parse_error', stage: 'input', message: 'not JSON', fence: 'mine' })
    expect(said.record.deadLetter).toMatchObject({
      reason: 'parse_error',
      stage: 'input',
      lastError: { message: 'not JSON' },
      lastOwner: 'w1',
    })
    const kept = given().starts().fails().does({ type: 'deadLetter', reason: 'policy_violation', stage: 'exec' })
    expect(kept.record.deadLetter?.lastError.code).toBe('E_5XX_ORIGIN')
    const never = given().does({ type: 'deadLetter', reason: 'policy_violation', stage: 'input' })
    expect(never.record.deadLetter).toMatchObject({ lastOwner: null, lastLeaseExpiresAt: null, attempts: 0 })
  })
})
