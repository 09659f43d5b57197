import { describe, expect, it } from 'vitest'
import { SIZES } from '../../../src/core/limits.ts'
import { given } from '../given.ts'

const step = (name: string) => ({ type: 'record', fence: 'mine', step: { name, compensate: true } }) as const

describe('record', () => {
  it('counts steps, keeps artifacts, and knows its bounds', () => {
    const history = given()
      .starts()
      .does(
        { type: 'record', fence: 'mine', step: { name: 'a', body: { name: 'step/a', size: 1 }, compensate: false } },
        { type: 'record', fence: 'mine', artifact: { name: 'page', ptr: 's3://1' } },
        { type: 'record', fence: 'mine', artifact: { name: 'page', ptr: 's3://2' } },
      )
    expect(history.record).toMatchObject({ steps: 1, artifacts: { page: 's3://2' } })
    history.when({ type: 'record', fence: 'mine', undone: 'a' }).refused('WRONG_PHASE')
    for (let i = 1; i < SIZES.artifacts; i++)
      history.does({ type: 'record', fence: 'mine', artifact: { name: `a${i}`, ptr: 'p' } })
    history.when({ type: 'record', fence: 'mine', artifact: { name: 'one more', ptr: 'p' } }).refused('LIMIT_REACHED')
    for (let i = 0; i < SIZES.compensations; i++) history.does(step(`s${i}`))
    history.when(step('one more')).refused('LIMIT_REACHED')
  })
})
