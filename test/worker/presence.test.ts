import { expect, it } from 'vitest'
import { definition, openWorkerFixture } from './worker-fixture.ts'

it('is seen while it works, and gone when it has stopped', async () => {
  await using fixture = openWorkerFixture()
  const listed = async () => {
    const [answer] = await fixture.engine.settings([{ op: 'list', collection: 'worker', after: '', limit: 10 }])
    return answer?.settings.map(({ key, text }) => [JSON.parse(key), JSON.parse(text)])
  }
  const slow = definition(() => new Promise(() => {}), {}, { queue: 'slow' })
  await fixture.enqueue(slow)
  const { worker } = fixture.work([slow], { id: 'w1', concurrency: 3 })
  await fixture.time.advance(31_000)
  const words = {
    queues: ['slow'],
    types: ['job'],
    concurrency: 3,
    running: 1,
    host: expect.any(String),
    pid: process.pid,
  }
  expect(await listed()).toEqual([[['default', 'w1'], words]])
  const stopped = worker.stop({ drain: 100 })
  await fixture.time.advance(200)
  await stopped
  expect(await listed()).toEqual([])
})

it('tells each tenant of its own queues and types, and of nobody else’s', async () => {
  await using fixture = openWorkerFixture()
  const own = (name: string) => definition(() => {}, {}, { type: `type-${name}`, queue: `queue-${name}`, tenant: name })
  fixture.work([own('a'), own('b')], { id: 'w1' })
  await fixture.time.advance(1_000)
  const [answer] = await fixture.engine.settings([{ op: 'list', collection: 'worker', after: '', limit: 10 }])
  expect(answer?.settings.map(({ key, text }) => [JSON.parse(key), JSON.parse(text)])).toMatchObject([
    [['a', 'w1'], { queues: ['queue-a'], types: ['type-a'] }],
    [['b', 'w1'], { queues: ['queue-b'], types: ['type-b'] }],
  ])
})
