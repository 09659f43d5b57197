import { expect, it } from 'vitest'
import { sendAll } from '../../../src/store/redis/script/portions.ts'

it('portions are sent in their order, four at once', async () => {
  const sent: number[] = []
  const answers: (() => void)[] = []
  const all = sendAll([1, 2, 3, 4, 5, 6], (portion) => {
    sent.push(portion)
    return new Promise<void>((resolve) => answers.push(resolve))
  })
  expect(sent).toEqual([1, 2, 3, 4])
  while (answers.length > 0) {
    answers.shift()?.()
    await Promise.resolve().then(() => {})
  }
  await all
  expect(sent).toEqual([1, 2, 3, 4, 5, 6])
})

it('one that fails is told when nothing is under way, and nothing is sent behind it', async () => {
  const sent: number[] = []
  let answered = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  const all = sendAll([1, 2, 3, 4, 5, 6], async (portion) => {
    sent.push(portion)
    if (portion === 2) throw new Error('two is lost')
    await promise
    answered += 1
  })
  let isTold = false
  const told = all.catch((error: unknown) => {
    isTold = true
    return error
  })
  await Promise.resolve()
  expect(isTold).toBe(false)
  resolve()
  expect(await told).toEqual(new Error('two is lost'))
  expect([sent, answered]).toEqual([[1, 2, 3, 4], 3])
})
