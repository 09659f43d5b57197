import { describe, expect, it } from 'vitest'
import { interfaceIn, type Member, optionInterfaces } from '../../scripts/docs/option-interfaces.ts'
import { MODULES } from '../../scripts/docs/options.ts'
import { type PolicyInput, resolvePolicy } from '../../src/core/resolve.ts'
import { RETENTION_DEFAULTS } from '../../src/engine/retention-options.ts'
import { TICKER_DEFAULTS } from '../../src/engine/ticker.ts'
import { DEFAULT_QUEUE, defineJob } from '../../src/library/define-job.ts'
import { settingsOf, type WorkerOptions } from '../../src/worker/worker-options.ts'

const all = optionInterfaces(...MODULES)
const members = (name: string): readonly Member[] => all.find((each) => each.name === name)?.members ?? []
const each = all.flatMap(({ name, members }) => members.map((member) => [`${name}.${member.name}`, member] as const))

describe('every option', () => {
  it('is found', () => {
    const names = all.map(({ name }) => name)
    for (const name of [
      'OpenOptions',
      'PolicyInput',
      'WorkerOptions',
      'EnqueueOptions',
      'SpecOptions',
      'Asked',
      'Hooks',
    ])
      expect(names).toContain(name)
    expect(each.length).toBeGreaterThan(100)
  })

  it.each(each)('%s says what it does, and what holds without it', (_, { meaning, optional, default: stated }) => {
    expect(meaning).toMatch(/\w{3}.*[.:`]$/)
    if (optional) expect(stated).toMatch(/\S/)
    else expect(stated).toBeUndefined()
  })

  it('would be noticed without a word, and without its default', () => {
    const text = `
export interface SomeOptions extends Other<string>, MoreOptions {
  readonly bare?: number | undefined
  /** Says something. */
  readonly silent?:
    | string
    | undefined
  /**
   * Says it all,
   * in two lines.
   * @default 'x'
   */
  readonly told?: string | undefined
  /** A method. */
  run(input: string): void
}
`
    const found = interfaceIn(text, 'SomeOptions', 'x.ts')
    expect(found?.bases).toEqual(['MoreOptions'])
    expect(found?.members).toEqual([
      { name: 'bare', optional: true, type: 'number', meaning: '', default: undefined },
      { name: 'silent', optional: true, type: '| string', meaning: 'Says something.', default: undefined },
      { name: 'told', optional: true, type: 'string', meaning: 'Says it all, in two lines.', default: "'x'" },
      { name: 'run', optional: false, type: '(input: string): void', meaning: 'A method.', default: undefined },
    ])
  })
})

/** The literal a doc comment begins with, where it begins with one. */
function literal(stated: string | undefined): unknown {
  const [, text, word] = /^(?:'([^']*)'|(\d+|true|false)\b)/.exec(stated ?? '') ?? []
  return text ?? (word === undefined ? undefined : JSON.parse(word))
}

describe('a default that is stated', () => {
  const spoken = (name: string) =>
    members(name).flatMap((member) => {
      const value = literal(member.default)
      return value === undefined || member.default?.startsWith('7 attempts') ? [] : [[member.name, value] as const]
    })

  it.each(spoken('PolicyInput'))('PolicyInput.%s: saying %j changes nothing', (name, value) => {
    expect(resolvePolicy({ [name]: value } as PolicyInput)).toEqual(resolvePolicy({}))
  })

  it.each([...spoken('RetryInput'), ...spoken('CurveInput')])(
    'RetryInput.%s: saying %j changes nothing',
    (name, value) => {
      expect(resolvePolicy({ retry: { [name]: value } })).toEqual(resolvePolicy({}))
    },
  )

  it.each(members('CurveInput').map(({ name, default: stated }) => [name, stated] as const))(
    'CurveInput.%s for throttled errors: %s changes nothing',
    (name, stated) => {
      const value = literal(stated?.split('; ')[1]) ?? literal(stated)
      expect(resolvePolicy({ retry: { throttled: { [name]: value } } })).toEqual(resolvePolicy({}))
    },
  )

  it.each(spoken('DuplicatesInput').filter(([name]) => name === 'for' || name === 'onDuplicate'))(
    'DuplicatesInput.%s: saying %j changes nothing',
    (name, value) => {
      expect(resolvePolicy({ dedupe: { [name]: value } })).toEqual(resolvePolicy({}))
    },
  )

  it('of what has none in the policy says so', () => {
    const resolved = resolvePolicy({})
    const { deadlineMs, startWithinMs, dialect, errors, breaking } = resolved.ok ? resolved.policy : {}
    expect({ deadlineMs, startWithinMs, dialect, errors, breaking }).toEqual({ errors: {} })
    const none = members('PolicyInput').filter((member) => literal(member.default) === undefined)
    expect(none.map(({ name }) => name)).toEqual(['dialect', 'deadline', 'startWithin', 'errors', 'dedupe', 'breaking'])
  })

  it.each(spoken('WorkerOptions').filter(([name]) => name !== 'signals' && name !== 'onBlocked'))(
    'WorkerOptions.%s: saying %j changes nothing',
    (name, value) => {
      const job = defineJob({ type: 'x', run: () => 1 })
      expect(settingsOf([job], { [name]: value } as WorkerOptions)).toEqual(settingsOf([job], {}))
    },
  )

  it('is that of the ticker, of retention and of a queue', () => {
    expect(Object.fromEntries(spoken('TickerOptions'))).toEqual(TICKER_DEFAULTS)
    expect(Object.fromEntries(spoken('RetentionOptions'))).toEqual(RETENTION_DEFAULTS)
    expect(Object.fromEntries(spoken('SpecOptions'))['queue']).toBe(DEFAULT_QUEUE)
  })
})
