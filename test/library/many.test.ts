import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineSpec, Invalid, type Refused, SomeRefused } from '../../src/index.ts'
import type { Pawl } from '../../src/library/pawl.ts'
import { openAt, PLACES } from '../engine/opened.ts'
import { EVERYWHERE } from './placed.ts'

const page = defineSpec({ type: 'page', input: z.object({ n: z.int() }) })
const inputs = (count: number) => Array.from({ length: count }, (_, n) => ({ n }))
const caught = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )
const count = async (pawl: Pawl) => (await pawl.find({ limit: 500 })).jobs.length

describe.each(Object.entries(EVERYWHERE))('many jobs at once, on %s', (_, placed) => {
  it('are each enqueued or refused by itself, and an error says which, why, and what there is of the others', async () => {
    await using place = await placed()
    const { pawl } = place
    await pawl.enqueue(page, { n: 99 }, { id: 'taken' })
    const error = await caught(
      pawl.enqueueMany(page, inputs(5), (_, i) => (i === 1 ? { priority: 42 } : i === 3 ? { id: 'taken' } : {})),
    )
    expect(error).toBeInstanceOf(SomeRefused)
    const { message, refused, enqueued, code } = error as SomeRefused<{ id: string }>
    expect(code).toBe('SOME_REFUSED')
    expect(refused.map(({ index, error }) => [index, (error as Refused).code])).toEqual([
      [1, 'INVALID'],
      [3, 'ID_TAKEN'],
    ])
    expect(message).toMatch(/^2 of 5 jobs were refused, 3 were enqueued: \[1\] INVALID: .*priority.*\[3\] ID_TAKEN/)
    expect(await count(pawl)).toBe(4)
    for (const { id } of enqueued) expect(await pawl.get(id)).toMatchObject({ state: 'queued' })
  })

  it('are told one by one to whoever does not want to be thrown at', async () => {
    await using place = await placed()
    const { pawl } = place
    const mixed = [{ n: 1 }, { n: 1.5 }, { n: 3 }]
    const outcomes = await pawl.enqueueEach(page, mixed, (_, i) => (i === 2 ? { priority: 42 } : {}))
    expect(outcomes.map(({ ok, index }) => [ok, index])).toEqual([
      [true, 0],
      [false, 1],
      [false, 2],
    ])
    const [first, second, third] = outcomes
    expect(first?.ok === true && (await first.job.input())).toEqual({ n: 1 })
    expect(second?.ok === false && second.error).toBeInstanceOf(Invalid)
    expect(third?.ok === false && third.error).toMatchObject({ code: 'INVALID' })
    expect(await count(pawl)).toBe(1)
  })

  it('are all there or none where that is asked for', async () => {
    await using place = await placed()
    const { pawl } = place
    await pawl.enqueue(page, { n: 99 }, { id: 'taken' })
    for (const each of [
      (i: number) => (i === 3 ? { id: 'taken' } : {}),
      (i: number) => (i === 3 ? { priority: 42 } : {}),
    ]) {
      const options = { atomic: true, each: (_: unknown, i: number) => each(i) }
      const error = await caught(pawl.enqueueMany(page, inputs(5), options))
      expect(error).toBeInstanceOf(SomeRefused)
      expect((error as SomeRefused).refused.map(({ index }) => index)).toEqual([3])
      expect((error as SomeRefused).message).toMatch(/^1 of 5 jobs were refused, nothing was enqueued: \[3\] /)
      const outcomes = await pawl.enqueueEach(page, inputs(5), options)
      expect(outcomes.map((each) => (each.ok ? 'ok' : (each.error as Refused).code === 'OTHERS_REFUSED'))).toEqual([
        ...[true, true, true],
        false,
        true,
      ])
      expect(await count(pawl)).toBe(1)
    }
    const handles = await pawl.enqueueMany(page, inputs(5), { atomic: true, labels: { of: 'all' } })
    expect(await Promise.all(handles.map((each) => each.input()))).toEqual(inputs(5))
    expect((await pawl.find({ labels: { of: 'all' } })).jobs).toHaveLength(5)
  })

  it('that exist already keep no others out: each gets its job', async () => {
    await using place = await placed()
    const { pawl } = place
    const known = await pawl.enqueue(page, { n: 0 }, { idempotencyKey: 'k0', dedupeKey: 'd' })
    for (const atomic of [false, true]) {
      const handles = await pawl.enqueueMany(page, inputs(3), {
        atomic,
        each: (_, i) => (i === 0 ? { idempotencyKey: 'k0', dedupeKey: 'd' } : i === 1 ? { dedupeKey: 'd' } : {}),
      })
      expect(handles.map(({ id, deduped, replayed }) => [id === known.id, deduped, replayed])).toEqual([
        [true, false, true],
        [true, true, false],
        [false, false, false],
      ])
    }
    expect(await count(pawl)).toBe(3)
  })

  it('are none at all where inputs break a rule: every place, with its index', async () => {
    await using place = await placed()
    const { pawl } = place
    const bad = [{ n: 1 }, { n: 0.5 }, { n: 2 }, { n: 'x' as never }]
    for (const atomic of [false, true]) {
      const error = await caught(pawl.enqueueMany(page, bad, { atomic }))
      expect(error).toBeInstanceOf(Invalid)
      expect((error as Invalid).violations.map(({ field }) => field)).toEqual(['inputs.1.n', 'inputs.3.n'])
    }
    const [good] = await pawl.enqueueEach(page, bad, { atomic: true })
    expect(good?.ok === false && good.error).toMatchObject({ code: 'OTHERS_REFUSED' })
    expect(await count(pawl)).toBe(0)
    expect(await pawl.enqueueMany(page, [])).toEqual([])
    expect(await pawl.enqueueMany(page, [], { atomic: true })).toEqual([])
  })
})

describe('many jobs at once', () => {
  it('are refused before the first is sent where what they share breaks a rule', async () => {
    await using pawl = await openAt(await PLACES.memory())
    await expect(pawl.enqueueMany(page, inputs(3), { priority: 'urgent' as never })).rejects.toBeInstanceOf(Invalid)
    await expect(pawl.enqueueMany(page, inputs(3), { delay: 'soon' as never })).rejects.toThrow('delay: must be')
    await expect(pawl.enqueueMany(page, inputs(10_001), { atomic: true })).rejects.toThrow(
      'at most 10000 come together',
    )
    expect(await count(pawl)).toBe(0)
  })

  it('lose no one to an `each` that throws, or that gives one of them what all must share', async () => {
    await using pawl = await openAt(await PLACES.memory())
    const outcomes = await pawl.enqueueEach(page, inputs(4), (_, i) => {
      if (i === 1) throw new Error('no idea')
      return i === 2 ? ({ tx: {} } as never) : {}
    })
    expect(outcomes.map((each) => (each.ok ? 'ok' : each.error.message))).toEqual([
      'ok',
      'no idea',
      'enqueueMany: tx: is given for all of them, beside `each`',
      'ok',
    ])
  })

  it('are refused with the store’s own words where it does not answer at all', async () => {
    const pawl = await openAt(await PLACES.memory())
    await pawl.close()
    const error = await caught(pawl.enqueueMany(page, inputs(3)))
    expect(error).not.toBeInstanceOf(SomeRefused)
    expect(error).toMatchObject({ message: expect.stringContaining('closed') })
  })

  it('over HTTP are refused together where they are more than a gateway takes', async () => {
    await using place = await EVERYWHERE.http()
    await expect(place.pawl.enqueueMany(page, inputs(1_001), { atomic: true })).rejects.toThrow(
      'at most 1000 jobs together',
    )
  })
})
