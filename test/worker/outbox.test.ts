import { describe, expect, it } from 'vitest'
import type { Answer, Word } from '../../src/engine/engine.ts'
import { crowded } from '../../src/engine/turns.ts'
import { silentLog } from '../../src/system/log.ts'
import { VirtualTime } from '../../src/testing/virtual-time.ts'
import { Outbox } from '../../src/worker/outbox.ts'

const word = (id: string, n = 1): Word => ({
  id,
  command: { type: 'heartbeat', actor: 'a', requestId: `${id}/${n}`, fence: '0.1.00000000000000aa' },
})
const answer = (jobId: string): Answer => ({
  ok: true,
  jobId,
  rev: 1,
  state: 'queued',
  at: 0,
  replayed: false,
  cancel: undefined,
})

/** An engine whose calls are answered when the test says so. */
function slowEngine() {
  const calls: { ids: string[]; answer: () => void; crowd: () => void; fail: () => void }[] = []
  const settle = (words: readonly Word[]) =>
    new Promise<readonly Answer[]>((resolve, reject) => {
      const ids = words.map(({ id }) => id)
      calls.push({
        ids,
        answer: () => resolve(ids.map(answer)),
        crowd: () => resolve(words.map((each) => ({ ok: false, refusal: crowded(each) }))),
        fail: () => reject(new Error('the store is away')),
      })
    })
  const heartbeat = () => Promise.reject(new Error('the store is away'))
  return { calls, settle, heartbeat }
}

function open() {
  const engine = slowEngine()
  const time = new VirtualTime(0)
  const outbox = new Outbox({ engine, timers: time, log: silentLog })
  const answered: string[] = []
  const post = (id: string, lone = true) =>
    outbox.post(word(id), { answered: ({ id: about }) => void answered.push(about) }, lone)
  return { ...engine, time, outbox, answered, post }
}

describe('the outbox', () => {
  it('sends what has gathered in one call, and what gathers meanwhile in the next', async () => {
    const { calls, post, time, answered, outbox } = open()
    post('a')
    post('b')
    await time.settle()
    post('c')
    post('d')
    await time.settle()
    expect(calls.map(({ ids }) => ids)).toEqual([['a', 'b']])
    calls[0]?.answer()
    await time.settle()
    expect(calls.map(({ ids }) => ids)).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ])
    calls[1]?.answer()
    await outbox.idle()
    expect(answered).toEqual(['a', 'b', 'c', 'd'])
  })

  it('has a second call under way when many wait, and never a third', async () => {
    const { calls, post, time } = open()
    post('first')
    await time.settle()
    for (let i = 0; i < 99; i += 1) post(`j${i}`)
    await time.settle()
    expect(calls.map(({ ids }) => ids.length)).toEqual([1])
    for (let i = 99; i < 700; i += 1) post(`j${i}`)
    await time.settle()
    expect(calls.map(({ ids }) => ids.length)).toEqual([1, 500])
    calls[0]?.answer()
    await time.settle()
    expect(calls.map(({ ids }) => ids.length)).toEqual([1, 500, 200])
  })

  it('has no job in two calls, so that no word overtakes another', async () => {
    const { calls, post, time, answered, outbox } = open()
    const going = (id: string) => post(id, false)
    going('a')
    going('b')
    await time.settle()
    going('a')
    for (let i = 0; i < 14; i += 1) going(`j${i}`)
    await time.settle()
    expect(calls.length).toBe(1)
    going('b')
    going('a')
    await time.settle()
    expect(calls[1]?.ids).toEqual(Array.from({ length: 14 }, (_, i) => `j${i}`))
    calls[1]?.answer()
    await time.settle()
    expect(calls.length).toBe(2)
    calls[0]?.answer()
    await time.settle()
    expect(calls[2]?.ids).toEqual(['a', 'b', 'a'])
    calls[2]?.answer()
    await outbox.idle()
    expect(answered.slice(-3)).toEqual(['a', 'b', 'a'])
  })

  it('lets what came later wait while all that came before is about jobs of the call under way', async () => {
    const { calls, post, time } = open()
    post('a', false)
    await time.settle()
    for (let i = 0; i < 520; i += 1) post('a', false)
    post('z', false)
    await time.settle()
    expect(calls.length).toBe(1)
    calls[0]?.answer()
    await time.settle()
    expect(calls.map(({ ids }) => ids.length)).toEqual([1, 500, 1])
    expect(calls[2]?.ids).toEqual(['z'])
    calls[1]?.answer()
    await time.settle()
    expect(calls.map(({ ids }) => ids.length)).toEqual([1, 500, 1, 20])
  })

  it('repeats a call that fails, in its place', async () => {
    const { calls, post, time, answered, outbox } = open()
    post('a', false)
    await time.settle()
    post('b', false)
    calls[0]?.fail()
    await time.settle()
    expect(calls.length).toBe(1)
    await time.advance(20)
    expect(calls[1]?.ids).toEqual(['a'])
    calls[1]?.answer()
    await time.settle()
    calls[2]?.answer()
    await outbox.idle()
    expect(answered).toEqual(['a', 'b'])
  })

  it('says again what nobody heard because so many spoke about its job', async () => {
    const { calls, post, time, answered, outbox } = open()
    post('a', false)
    await time.settle()
    calls[0]?.crowd()
    await time.settle()
    expect(answered).toEqual([])
    expect(calls[1]?.ids).toEqual(['a'])
    calls[1]?.crowd()
    await time.settle()
    // Where many speak, asking without a pause would be one more.
    expect(calls.length).toBe(2)
    await time.advance(20)
    calls[2]?.answer()
    await outbox.idle()
    expect(answered).toEqual(['a'])
  })

  it('gives up on what fails once it is closed', async () => {
    const { calls, post, time, answered, outbox } = open()
    post('a')
    await time.settle()
    outbox.close()
    calls[0]?.fail()
    await outbox.idle()
    expect(answered).toEqual([])
    expect(time.pending).toBe(0)
  })
})
