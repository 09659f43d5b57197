/** Duplicates that come at once, again, in a transaction, and under limits. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Pawl } from '../../src/library/pawl.ts'
import { holderIn } from './holder.ts'
import { openAt, PLACES, type Place, STORES } from './opened.ts'

const REPLACE = { onDuplicate: 'replace' } as const
const DEBOUNCE = { onDuplicate: 'debounce', within: 60_000 } as const

/** Redis lets nothing in by names yet. */
const LIMITING = STORES.filter((name) => name !== 'redis')

function opened(name: keyof typeof PLACES): { readonly pawl: Pawl } {
  const at: { place?: Place; pawl?: Pawl } = {}
  beforeAll(async () => {
    at.place = await PLACES[name]()
    at.pawl = await openAt(at.place)
  })
  afterAll(async () => {
    await at.pawl?.close()
    await at.place?.[Symbol.asyncDispose]()
  })
  return {
    get pawl() {
      if (at.pawl === undefined) throw new Error('opened before each')
      return at.pawl
    },
  }
}

describe.each(STORES)('duplicates that are repeated or come at once: %s', (name) => {
  const at = opened(name)

  it('a repeated enqueue brings nothing back that was newer', async () => {
    const first = await holderIn(at.pawl, 'queued', REPLACE, { requestId: 'birth' })
    await first.enqueue(2)
    expect(await first.enqueue(1, { runAt: 0, requestId: 'birth' })).toMatchObject({ job: { id: first.id } })
    expect(await at.pawl.body(first.id, 'input')).toEqual({ n: 2 })
  })

  it('of many at once each is on record, and one of them is what runs', async () => {
    for (const where of ['queued', 'running'] as const) {
      const first = await holderIn(at.pawl, where, REPLACE)
      const all = await Promise.all(Array.from({ length: 20 }, (_, i) => first.enqueue(i + 2)))
      expect(new Set(all.map(({ effect }) => effect))).toEqual(new Set([where === 'queued' ? 'replaced' : 'next']))
      const log = await at.pawl.events(first.id)
      expect(log.filter(({ type }) => type === 'replaced')).toHaveLength(20)
    }
  })

  it.each(['complete', 'release'] as const)('none is lost that comes while its owner says %s', async (word) => {
    for (let round = 0; round < 5; round += 1) {
      const first = await holderIn(at.pawl, 'running', REPLACE)
      const [answer] = await Promise.all([first.enqueue(2), first.say(word)])
      await first.say(...(word === 'release' ? ['cancel'] : []))
      const [live, ...others] = await first.live()
      expect(others).toEqual([])
      expect(await at.pawl.body(live?.id ?? '', 'input')).toEqual({ n: 2 })
      // Either it met the one that ends, or it was the next piece of business itself.
      expect(answer.effect).toBe(answer.deduped ? 'next' : undefined)
    }
  })

  it('what stands in for a job that has ended brings nothing newer', async () => {
    const first = await holderIn(at.pawl, 'queued', REPLACE)
    const answer = await first.enqueue(2, { older: true })
    expect(answer).toMatchObject({ deduped: true, job: { id: first.id, rev: 1 } })
    expect(await at.pawl.body(first.id, 'input')).toEqual({ n: 1 })
  })

  it('without an input it moves the time, and the input stays', async () => {
    const first = await holderIn(at.pawl, 'queued', DEBOUNCE)
    await first.enqueue(2)
    await first.enqueue(3, { input: undefined })
    expect(await at.pawl.body(first.id, 'input')).toEqual({ n: 2 })
  })
})

describe.each(LIMITING)('duplicates under limits: %s', (name) => {
  const at = opened(name)
  const flow = (key: string) => ({ flow: { keys: [key], fair: undefined } })

  it('one that is debounced while it stands is taken back, and its slot is free', async () => {
    const first = await holderIn(at.pawl, 'queued', DEBOUNCE, flow('stands'))
    expect(await at.pawl.limits.get('stands')).toMatchObject({ taken: 1 })
    await first.enqueue(2, flow('stands'))
    expect(await at.pawl.limits.get('stands')).toMatchObject({ taken: 0 })
    expect((await at.pawl.verify()).discrepancies).toEqual([])
  })

  it('what comes next is let in by the names of its own input', async () => {
    const first = await holderIn(at.pawl, 'running', REPLACE, flow('old'))
    expect(await first.enqueue(2, flow('new'))).toMatchObject({ effect: 'next' })
    await first.say('complete')
    const [next] = await first.live()
    expect(next?.spec.flow).toEqual(flow('new').flow)
    expect(await at.pawl.limits.get('old')).toMatchObject({ taken: 0, held: 0 })
    expect(await at.pawl.limits.get('new')).toMatchObject({ taken: 1, held: 0 })
    expect((await at.pawl.verify()).discrepancies).toEqual([])
  })

  it('an input under other names does not run within these: it comes next, and so do all after it', async () => {
    const first = await holderIn(at.pawl, 'queued', REPLACE, flow('mine'))
    expect(await first.enqueue(2, flow('mine'))).toMatchObject({ effect: 'replaced' })
    expect(await first.enqueue(3, flow('theirs'))).toMatchObject({ effect: 'next' })
    expect(await first.enqueue(4, flow('mine'))).toMatchObject({ effect: 'next' })
    expect(await at.pawl.body(first.id, 'input')).toEqual({ n: 2 })
    await first.say('cancel')
    const [next] = await first.live()
    expect(next?.spec.flow).toEqual(flow('mine').flow)
    expect(await at.pawl.body(next?.id ?? '', 'input')).toEqual({ n: 4 })
  })

  it('who names none leaves the job under its own', async () => {
    const first = await holderIn(at.pawl, 'running', REPLACE, flow('kept'))
    await first.enqueue(2)
    await first.say('complete')
    expect((await first.live())[0]?.spec.flow).toEqual(flow('kept').flow)
  })
})
