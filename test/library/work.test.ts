import { describe, expect, it } from 'vitest'
import { defineJob } from '../../src/library/define-job.ts'
import { duration } from '../../src/library/duration.ts'
import { Invalid } from '../../src/library/errors.ts'
import { openAt, PLACES } from '../engine/opened.ts'

const mail = defineJob({ type: 'mail', queue: 'mail', run: () => 'sent' })

describe('a worker', () => {
  it('is refused where nothing could run, or nobody could say what does', async () => {
    await using pawl = await openAt(await PLACES.memory())
    expect(() => pawl.work([])).toThrow('work: no job types are given')
    expect(() => pawl.work([mail, mail])).toThrow('work: mail is given twice')
    const other = defineJob({ type: 'mail', queue: 'elsewhere', run: () => 'lost' })
    expect(() => pawl.work([mail, other])).toThrow('work: mail is given twice')
    expect(() => pawl.work([mail], { queues: {} })).toThrow('queues: names none to serve')
    expect(() => pawl.work([mail], { queues: { mail: 0 } })).toThrow('queues.mail: a weight is a number above 0')
    expect(() => pawl.work([mail], { drain: 'soon' as never })).toThrow(
      "drain: must be milliseconds, or text like '250ms'",
    )
  })

  it('serves the queues it is told to, also those that are not its types’ own', async () => {
    await using pawl = await openAt(await PLACES.memory())
    await using _worker = pawl.work([mail], { queues: { bulk: 1 } })
    const there = await pawl.enqueue('mail', undefined, { queue: 'bulk' })
    expect(await there.result({ timeout: '30s' })).toBe('sent')
    const own = await pawl.enqueue(mail)
    expect((await own.job())?.attempt).toBe(0)
  })
})

describe('a duration from configuration', () => {
  it('is the milliseconds it stands for, or refused in words', () => {
    expect(duration('4m59s')).toBe(299_000)
    expect(() => duration('5 parsecs')).toThrow(Invalid)
    expect(() => duration('5 parsecs')).toThrow('duration "5 parsecs": duration: must be milliseconds, or text like')
  })
})
