/** Words that come too late: refused, and kept with what they said. */
import { describe, expect, it } from 'vitest'
import { bodyRef } from '../../src/core/body.ts'
import { given, type Words } from './given.ts'

/** A job that was lost by its first owner, who has not noticed. */
const lost = () => {
  const history = given().starts()
  const { fence } = history
  history.after(120_000).ticks().accepted()
  return { history, fence }
}

const noted = (words: Words) => {
  const { history, fence } = lost()
  const { decision } = history.when({ ...words, fence } as Words)
  if (decision.kind !== 'refused') throw new Error(`${words.type} was ${decision.kind}`)
  return decision.annotation
}

describe('a late word', () => {
  it('of success keeps the pointer, the size and digest of a value, and how long it took', () => {
    const outcome = { state: 'succeeded', resultPtr: 'mem://late', result: undefined, error: undefined, executionMs: 7 }
    const words = { type: 'complete', fence: 'mine' } as const
    expect(noted({ ...words, resultPtr: 'mem://late', executionMs: 7 })).toMatchObject({ attempt: 1, outcome })
    const result = bodyRef('output', '"late"')
    expect(noted({ ...words, result })?.outcome).toMatchObject({ state: 'succeeded', result, resultPtr: undefined })
  })

  it('of failure keeps code and message', () => {
    const fault = { code: 'E_LATE', message: 'too late' }
    expect(noted({ type: 'fail', fence: 'mine', fault })?.outcome).toMatchObject({ state: 'failed', error: fault })
  })

  it('of cancel or dead letter keeps which', () => {
    expect(noted({ type: 'cancel', mode: 'soft', fence: 'mine' })?.outcome).toMatchObject({ state: 'cancelled' })
    const buried = noted({ type: 'deadLetter', reason: 'policy_violation', stage: 'exec', fence: 'mine' })
    expect(buried?.outcome).toMatchObject({ state: 'dead_lettered', error: { code: 'policy_violation', message: '' } })
  })

  it('that ends nothing says nothing more than that it came', () => {
    expect(noted({ type: 'heartbeat', fence: 'mine' })).toMatchObject({ command: 'heartbeat', outcome: undefined })
  })

  it('under a fence that nobody was given is not kept at all', () => {
    const { decision } = given().starts().when({ type: 'complete', fence: '0.9.00000000000000ff' })
    expect(decision).toMatchObject({ kind: 'refused', annotation: undefined })
  })
})
