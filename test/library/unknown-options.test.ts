/** An option that nobody knows is a typing mistake: it is refused, with what was probably meant, wherever options are taken. */
import { describe, expect, it } from 'vitest'
import { defineJob, defineSpec, implementJob } from '../../src/library/define-job.ts'
import { Invalid } from '../../src/library/errors.ts'
import { open, openOn } from '../../src/open.ts'
import { openMemoryStore } from '../../src/store/memory/memory.ts'
import { realClock } from '../../src/system/clock.ts'
import { openTesting } from '../../src/testing/testing.ts'

const run = () => 1
const misspelt = (words: object): never => words as never

describe('an option that nobody knows', () => {
  it.each([
    ['defineJob', () => defineJob(misspelt({ type: 'x', run, leaze: '30s' })), 'leaze: did you mean lease?'],
    ['defineJob', () => defineJob(misspelt({ type: 'x', run, limits: [] })), 'limits: did you mean limit?'],
    ['defineJob', () => defineJob(misspelt({ type: 'x', run, priority: 1 })), 'priority: must be one of type, queue'],
    ['defineSpec', () => defineSpec(misspelt({ type: 'x', timeOut: '1s' })), 'timeOut: did you mean timeout?'],
    ['defineSpec', () => defineSpec(misspelt({ type: 'x', run })), 'run: must be one of'],
    ['implementJob', () => implementJob(defineSpec({ type: 'x' }), run, misspelt({ isolated: 1 })), 'isolate?'],
    [
      'a limit',
      () => defineJob(misspelt({ type: 'x', run, limit: { key: 'a', concurency: 1 } })),
      'limits.0.concurency: did you mean concurrency?',
    ],
    ['retry', () => defineJob(misspelt({ type: 'x', run, retry: { atempts: 1 } })), 'did you mean attempts?'],
  ])('of %s is refused', (_, define, told) => {
    expect(define).toThrow(Invalid)
    expect(define).toThrow(told)
  })

  it('is one only where something is said by it', () => {
    expect(() => defineJob(misspelt({ type: 'x', run, leaze: undefined }))).not.toThrow()
  })

  it('of open is refused before anything is opened', async () => {
    await expect(open('memory:', misspelt({ tenent: 'a' }))).rejects.toThrow('open: tenent: did you mean tenant?')
    await expect(open('memory:', misspelt({ ticker: { every: 1 } }))).rejects.toThrow('ticker.every')
    await expect(open('http://127.0.0.1:1', misspelt({ tokn: 'a' }))).rejects.toThrow('did you mean token?')
    const store = openMemoryStore({ clock: realClock })
    expect(() => openOn(store, misspelt({ codek: 1 }))).toThrow('did you mean codec?')
    await store.close()
  })

  it('of enqueue, of many, of one of many, of schedules and of work is refused, and nothing is done', async () => {
    const job = defineJob({ type: 'x', run })
    await using testing = await openTesting([])
    const { pawl } = testing
    await expect(pawl.enqueue(job, 1, misspelt({ dely: '1s' }))).rejects.toThrow('dely: did you mean delay?')
    await expect(pawl.enqueue('x', 1, misspelt({ prioritty: 1 }))).rejects.toThrow('did you mean priority?')
    await expect(pawl.enqueue(job, 1, misspelt({ policy: { leese: '1s' } }))).rejects.toThrow('did you mean lease?')
    await expect(pawl.enqueueMany(job, [1], misspelt({ atomik: true }))).rejects.toThrow('did you mean atomic?')
    await expect(pawl.enqueueMany(job, [1], () => misspelt({ lables: {} }))).rejects.toThrow('did you mean labels?')
    await expect(pawl.schedule('s', misspelt({ evry: '1s' }), job, 1)).rejects.toThrow('evry: did you mean every?')
    await expect(pawl.schedules.add('s', misspelt({ evry: '1s' }), job)).rejects.toThrow(Invalid)
    expect(() => pawl.work([job], misspelt({ concurency: 1 }))).toThrow('concurency: did you mean concurrency?')
    expect((await pawl.find({ limit: 10 })).jobs).toEqual([])
    expect(await pawl.schedules.list()).toEqual([])
  })
})
