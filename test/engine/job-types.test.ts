/** What workers announce, and what that costs the store. */
import { expect, it } from 'vitest'
import { resolvePolicy } from '../../src/core/resolve.ts'
import { JobTypes } from '../../src/engine/job-types.ts'
import type { SettingOperation } from '../../src/store/store.ts'
import { EngineFixture } from './engine-fixture.ts'

const resolved = resolvePolicy({})
const policy = resolved.ok ? resolved.policy : expect.unreachable()
const kindOf = (n: number) => ({ tenant: `t${n}`, queue: `q${n}`, type: `type-${n}`, policy })

it('any number of types is announced in two calls, and in one where nothing is new', async () => {
  const { engine } = new EngineFixture()
  const calls: (readonly SettingOperation[])[] = []
  const heard = {
    now: () => engine.now(),
    settings: (operations: readonly SettingOperation[]) => {
      calls.push(operations)
      return engine.settings(operations)
    },
  }
  const types = new JobTypes(heard)
  const kinds = Array.from({ length: 100 }, (_, n) => kindOf(n))
  await types.announce(kinds)
  expect(calls.map((operations) => [operations[0]?.op, operations.length])).toEqual([
    ['get', 100],
    ['put', 100],
  ])
  calls.length = 0
  await types.announce([...kinds.slice(0, 99), { ...kindOf(99), queue: 'elsewhere' }])
  await types.announce(kinds.slice(0, 99))
  expect(calls.map((operations) => [operations[0]?.op, operations.length])).toEqual([
    ['get', 100],
    ['put', 1],
    ['get', 99],
  ])
  expect(await types.kind('t7', 'type-7')).toEqual(kinds[7])
  expect((await types.kind('t99', 'type-99'))?.queue).toBe('elsewhere')
})
