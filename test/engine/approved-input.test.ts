/** What was approved is what runs: duplicates that bring another input while it waits, once it was approved, and once it was let in. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineJob, type Pawl } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { policyFolder } from '../support/policy-folder.ts'
import { openAt, PLACES, type Place, STORES } from './opened.ts'

const POLICY = `
rules:
  - { id: all, decision: allow }
  - { id: big, when: job.inputSize > 40, decision: deny }
  - { id: looked-at, decision: require_approval, fourEyes: true }
`

const pay = defineJob({
  type: 'pay',
  admission: true,
  dedupe: { key: ({ to }: { to: string; amount: number; note?: string }) => to, onDuplicate: 'replace' },
  async run({ amount }) {
    return amount
  },
})

describe.each(STORES)('an approval, and what the job says: %s', (name) => {
  const folder = policyFolder(POLICY)
  let place: Place
  let pawl: Pawl
  beforeAll(async () => {
    place = await PLACES[name]()
    pawl = await openAt(place, { policy: folder.path, ticker: {} })
  })
  afterAll(async () => {
    await pawl.close()
    await place[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })

  const asks = async (to: string, amount: number, actor = 'producer:ann', note?: string) => {
    const { id } = await pawl.enqueue(pay, { to, amount, ...(note !== undefined && { note }) }, { actor })
    return id
  }
  const asked = async (id: string, than?: string) => {
    await eventually('somebody is asked', async () => {
      const { approval } = (await pawl.get(id)) ?? {}
      return approval !== undefined && approval.given === undefined && approval.jobHash !== than
    })
    return (await pawl.get(id))?.approval?.jobHash ?? ''
  }
  const approve = (id: string, jobHash: string, actor = 'operator:bob') => pawl.approve(id, { jobHash, actor })
  const runs = async () => {
    const ran: number[] = []
    await using _ = pawl.work([{ ...pay, run: async ({ amount }) => void ran.push(amount) }], { concurrency: 1 })
    await eventually('it runs', async () => ran.length > 0)
    return ran
  }

  it('is void once a duplicate has brought another input, which is asked about under another hash', async () => {
    const id = await asks('a', 1)
    const seen = await asked(id)
    expect(await asks('a', 1_000_000)).toBe(id)
    await expect(approve(id, seen)).rejects.toThrow(/another input|What is asked for now/)
    const anew = await asked(id, seen)
    await expect(approve(id, seen)).rejects.toThrow('What is asked for now')
    await approve(id, anew)
    expect(await runs()).toEqual([1_000_000])
  })

  it('that was given already is void, too, and is not given by who brought the other', async () => {
    const id = await asks('b', 1)
    const seen = await asked(id)
    // Nothing is let in between: what was approved and what is brought are said in one breath.
    await Promise.all([approve(id, seen), asks('b', 2, 'producer:bob')].map((said) => said.catch(() => undefined)))
    const log = async () => (await pawl.events(id)).map(({ type }) => type)
    if ((await log()).includes('admitted')) return
    const anew = await asked(id, seen)
    await expect(approve(id, anew)).rejects.toThrow('brought its input')
    await approve(id, anew, 'operator:eve')
    expect(await runs()).toEqual([2])
  })

  it('stands for what was let in by it: what comes later is the next, which is asked about as whoever brought it', async () => {
    const id = await asks('c', 1)
    await approve(id, await asked(id))
    await eventually('it is let in', async () => (await pawl.get(id))?.state === 'queued')
    expect(await asks('c', 1_000_000, 'producer:bob')).toBe(id)
    expect(await pawl.body(id, 'input')).toEqual({ to: 'c', amount: 1 })
    expect(await runs()).toEqual([1])
    const { jobs } = await pawl.find({ types: ['pay'], states: ['pending'] })
    const next = jobs.find((job) => job.newer === undefined && job.spec.dedupeKey === 'c')?.id ?? ''
    const hash = await asked(next)
    await expect(approve(next, hash)).rejects.toThrow('producer:bob')
    expect(await pawl.body(next, 'input')).toEqual({ to: 'c', amount: 1_000_000 })
    await pawl.cancel(next, { mode: 'hard' })
  })

  it('is not asked for where the policy denies what a duplicate has brought', async () => {
    const id = await asks('d', 1)
    await asked(id)
    await asks('d', 2, 'producer:ann', 'x'.repeat(60))
    await eventually('it is denied', async () => (await pawl.get(id))?.state === 'denied')
    expect((await pawl.get(id))?.verdict?.rule).toBe('big')
  })
})
