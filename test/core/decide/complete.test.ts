import { describe, expect, it } from 'vitest'
import { given } from '../given.ts'

describe('complete', () => {
  it('keeps a result by its pointer, or as a body, which is empty where nothing was said', () => {
    const completed = (words: object) =>
      given()
        .starts()
        .does({ type: 'complete', fence: 'mine', ...words }).record.result
    expect(completed({ resultPtr: 's3://x' })).toEqual({ ptr: 's3://x' })
    expect(completed({ result: { name: 'output', size: 3, digest: 'd' } })).toMatchObject({ body: { size: 3 } })
    expect(completed({})).toEqual({ body: { name: 'output', size: 0, digest: undefined } })
  })

  it.each([{}, { resultPtr: 's3://x' }, { result: { name: 'output', size: 3, digest: 'd' } }])(
    'of the same result is a replay, under whatever request id: %j',
    (result) => {
      const history = given().starts()
      const { fence } = history
      history
        .does({ type: 'complete', fence, ...result })
        .when({ type: 'complete', fence, ...result })
        .replayed()
      history.when({ type: 'complete', fence, result: { name: 'output', size: 99 } }).refused('STALE_FENCE')
      history.when({ type: 'complete', fence: '0.1.fedcba9876543210', ...result }).refused('STALE_FENCE')
    },
  )
})
