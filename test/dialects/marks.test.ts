import { expect, it } from 'vitest'
import { log } from '../../src/core/dialects/history.ts'
import type { Event } from '../../src/core/event.ts'
import { given, type History } from '../core/given.ts'

/** The end of its log in the document's words, as its reconciler has told it. */
function lastOf({ events }: History, actor: string) {
  const told = events.map((event, i): Event => (i === events.length - 1 ? { ...event, actor } : event))
  return log(told, '002').at(-1)
}

it('a TIMEOUT of the reconciler says what it marks, and that of a worker nothing', () => {
  const waiting = given({ dialect: '002', startWithin: '31s' }).claims().after(31_000)
  waiting.ticks()
  expect(lastOf(waiting, 'system:reconciler')).toMatchObject({ state: 'TIMEOUT', marks: 'not-started' })
  const stale = given({ dialect: '002' }).starts().after(31_000)
  stale.ticks()
  expect(lastOf(stale, 'system:reconciler')).toMatchObject({ state: 'TIMEOUT', marks: 'stale' })
  expect(lastOf(stale, 'worker:w1')).not.toHaveProperty('marks')
})
