import { describe, expect, it } from 'vitest'
import { defineJob } from '../../src/index.ts'
import { EVERYWHERE } from './placed.ts'

const mail = defineJob({ type: 'mail', queue: 'mail', run: () => 1 })

describe.each(Object.entries(EVERYWHERE))('an idempotency key, on %s', (_, placed) => {
  it('stands for the whole call: with other words it is refused', async () => {
    await using place = await placed()
    const { pawl } = place
    const asked = { idempotencyKey: 'k', priority: 'batch', delay: '1h', labels: { a: 'b' }, queue: 'mail' } as const
    const first = await pawl.enqueue(mail, { to: 'ann' }, asked)
    const again = async (input: object, more: object) =>
      pawl.enqueue(mail, input as never, { ...asked, ...more }).then(
        ({ id, replayed }) => (id === first.id && replayed ? 'the same' : 'another'),
        (error: { code?: string }) => error.code,
      )
    expect(await again({ to: 'ann' }, {})).toBe('the same')
    await pawl.reschedule(first.id, { priority: 'critical', delay: '2h' })
    expect(await again({ to: 'ann' }, {})).toBe('the same')
    for (const other of [
      { priority: 'normal' },
      { priority: undefined },
      { delay: '2h' },
      { delay: undefined },
      { labels: undefined },
      { policy: { retry: { attempts: 2 } } },
      { queue: 'elsewhere' },
      { topic: 'x' },
      { dedupeKey: 'd' },
    ]) {
      expect([other, await again({ to: 'ann' }, other)]).toEqual([other, 'KEY_REUSED'])
    }
    expect(await again({ to: 'bob' }, {})).toBe('KEY_REUSED')
    expect((await pawl.find()).jobs).toHaveLength(1)
  })
})
