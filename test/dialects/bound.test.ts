import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decide } from '../../src/core/decide.ts'
import { history } from '../../src/core/dialects/history.ts'
import { DIALECTS } from '../../src/core/dialects/registry.ts'
import { isInvented } from '../../src/core/dialects/telling.ts'
import { DIALECT_NAMES, type DialectName } from '../../src/core/policy.ts'
import { type PolicyInput, resolvePolicy } from '../../src/core/resolve.ts'
import { kindOf, T0 } from '../core/given.ts'
import { WORDS } from '../core/sample.ts'
import { scaled } from '../support/scale.ts'
import { livedUnder } from './random-history.ts'

/** Every word of a policy that may lead to another ending, each of them. */
const CHOICES: readonly PolicyInput[] = [
  {},
  { admission: true },
  { admission: false },
  { deadline: '1m' },
  { startWithin: '50s' },
  { startWithin: '50s', onNotStarted: 'timed_out' },
  { onStall: 'requeue' },
  { onStall: 'retry' },
  { onStall: 'timed_out' },
  { onTimeout: 'timed_out', timeout: '5s' },
  { onWaitTimeout: 'timed_out' },
  { onExhausted: 'failed', retry: { attempts: 2 } },
  { onExhausted: 'dead_letter', retry: { attempts: 2 } },
  { onInvalid: 'failed' },
  { onInvalid: 'dead_letter' },
  { idempotent: true },
  { idempotent: false },
  { retry: { stalls: 5 } },
  { retry: { budget: 'shared', attempts: 3 } },
  { retry: { budget: 'separate', attempts: 3 } },
  { compensateWithin: '5s' },
  { dedupe: { onDuplicate: 'replace' } },
]

const INPUT = 'dedupe.onDuplicate'

/** What each document has no move for, by the words of its table. */
const REFUSED: Readonly<Record<DialectName, readonly string[]>> = {
  '000A': [INPUT],
  '000B': [INPUT, 'deadline', 'startWithin'],
  '001': [INPUT, 'deadline', 'startWithin', 'retry.stalls', 'retry.budget', 'onStall', 'admission'],
  '002': [INPUT, 'admission', 'deadline', 'onStall'],
  '003': [INPUT, 'deadline', 'startWithin', 'onWaitTimeout', 'admission'],
  '004': [INPUT, 'startWithin', 'onStall'],
}

const policiesOf = (dialect: DialectName): readonly PolicyInput[] =>
  CHOICES.flatMap((one) => CHOICES.map((other) => ({ ...one, ...other, dialect }))).filter(
    (input) => resolvePolicy(input).ok,
  )

describe.each([...DIALECT_NAMES])('a job bound to %s', (dialect) => {
  it('has a log in which nobody did what nobody did, whatever happens, and no tick is refused', {
    timeout: 120_000,
  }, () => {
    fc.assert(
      fc.property(livedUnder(policiesOf(dialect)), ({ events, refusedTicks }) => {
        const told = history(events, dialect)
        expect(told.filter(({ step }) => isInvented(step)).map(({ step }) => step)).toEqual([])
        expect(refusedTicks).toEqual([])
      }),
      { numRuns: scaled(300, 10_000) },
    )
  })

  it('is refused at its definition what the document has no move for, and told why', () => {
    const refused = new Set<string>()
    for (const choice of CHOICES) {
      const resolved = resolvePolicy({ ...choice, dialect })
      for (const { field, rule } of resolved.ok ? [] : resolved.violations) {
        expect(rule).toContain(`document ${dialect} cannot tell it: `)
        refused.add(field)
      }
    }
    expect([...refused].sort()).toEqual([...REFUSED[dialect]].sort())
    expect(DIALECTS[dialect].forbids.map(({ field }) => field).sort()).toEqual([...REFUSED[dialect]].sort())
  })

  it('is refused it at enqueue as well, whoever made the policy', () => {
    const kind = kindOf({ dialect })
    for (const { field } of DIALECTS[dialect].forbids) {
      const asked = { deadlineMs: 1, startWithinMs: 1, maxStalls: 9, budget: 'shared', onWaitTimeout: 'timed_out' }
      const onStall = dialect === '002' ? 'retry' : 'requeue'
      const policy = {
        ...kind.policy,
        ...asked,
        onDuplicate: { does: 'replace' },
        onStall,
        admission: dialect !== '002',
      }
      const wrong = dialect === '001' ? { ...policy, onStall: 'retry' } : policy
      const command = { ...WORDS.enqueue, actor: 'p', requestId: 'r', kind: { ...kind, policy: wrong } }
      const decision = decide(undefined, command as never, T0)
      expect(decision).toMatchObject({ kind: 'refused', refusal: { code: 'INVALID' } })
      const fields = decision.kind === 'refused' ? decision.refusal.violations.map((one) => one.field) : []
      expect(fields).toContain(`kind.policy.${field}`)
    }
  })
})
