import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Judged } from '../../src/core/admission.ts'
import { KERNEL_BOUNDS, KernelJudge, kernelUrl } from '../../src/policy/kernel.ts'
import { silentLog } from '../../src/system/log.ts'
import { realTimers, type Timers } from '../../src/system/timers.ts'
import { given } from '../core/given.ts'

const ALLOWED: Judged = {
  letsIn: true,
  rule: 'everything',
  policyHash: 'h1',
  reason: undefined,
  terms: undefined,
  approval: undefined,
}

const job = (id = 'pj_1') => ({ ...given({ admission: true }).record, id })

type Answer = (request: IncomingMessage, response: ServerResponse, asked: string) => void

const saying =
  (words: object | string, status = 200): Answer =>
  (_, response) =>
    void response.writeHead(status).end(typeof words === 'string' ? words : JSON.stringify(words))

/** A kernel that listens, and a judge that asks it. */
async function kernel(
  first: Answer,
  { timers = realTimers, judged = ALLOWED }: { timers?: Timers; judged?: Judged } = {},
) {
  const asked: string[] = []
  const it = { answer: first, nowMs: 0, asked, atOnce: 0, most: 0 }
  const server = createServer(async (request, response) => {
    it.atOnce += 1
    it.most = Math.max(it.most, it.atOnce)
    response.on('close', () => {
      it.atOnce -= 1
    })
    let text = ''
    for await (const piece of request) text += String(piece)
    asked.push(text)
    it.answer(request, response, text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = kernelUrl(`http://127.0.0.1:${(server.address() as AddressInfo).port}/judge`)
  const rules = { look: async () => true, judge: () => judged }
  const judge = new KernelJudge(rules, { url, fetch, timers, monotonicMs: () => it.nowMs, log: silentLog })
  const judgeOf = (each = job(), leftMs = 5_000) =>
    judge.judge(
      each,
      async () => undefined,
      () => leftMs,
    )
  return Object.assign(it, { judge: judgeOf, looks: () => judge.look(), server })
}

describe('a safety kernel', () => {
  it('is asked about what the rules let in, with the job and both hashes, and may forbid it', async () => {
    const it = await kernel(saying({ decision: 'deny', rule: 'unsafe', reason: 'not this one' }))
    expect(await it.looks()).toBe(true)
    expect(await it.judge()).toEqual({ ...ALLOWED, letsIn: false, rule: 'unsafe', reason: 'not this one' })
    const [question = '{}'] = it.asked
    expect(JSON.parse(question)).toMatchObject({
      policyHash: 'h1',
      jobHash: expect.any(String),
      job: { id: 'pj_1', priority: 5 },
    })
    it.answer = saying({ decision: 'deny' })
    expect(await it.judge(job('pj_2'))).toMatchObject({ letsIn: false, rule: 'safety_kernel' })
    it.answer = saying({ decision: 'allow' })
    expect(await it.judge(job('pj_3'))).toBe(ALLOWED)
  })

  it('is asked about what the job would be: of the topic it is sent to, with the labels it is given', async () => {
    const judged: Judged = {
      ...ALLOWED,
      redirect: { from: 'job.chat.a', to: 'job.code.a', rule: 'elsewhere' },
      recast: { labels: { tier: 'free' }, throttles: undefined },
    }
    const forbidding: Answer = (request, response, text) => {
      const { topic } = JSON.parse(text).job
      saying({ decision: topic.startsWith('job.code.') ? 'deny' : 'allow' })(request, response, text)
    }
    const it = await kernel(forbidding, { judged })
    expect((await it.judge())?.letsIn).toBe(false)
    expect(JSON.parse(it.asked[0] ?? '')).toMatchObject({
      job: { topic: 'job.code.a', labels: { tier: 'free' } },
      redirectedFrom: 'job.chat.a',
    })
  })

  it('says nothing of a pointer’s query, in its reason or in what is told of an answer that is none', async () => {
    const contextPtr = 'https://files.test/a?sig=SECRET'
    const { record } = given({ admission: true }, { contextPtr })
    const it = await kernel((_, response, text) => void response.end(`${text}${text}`))
    const failed = await it.judge(record).catch(String)
    expect(failed).toContain('no JSON')
    it.answer = saying({ decision: contextPtr })
    expect(`${failed}${await it.judge(record).catch(String)}`).not.toContain('SECRET')
    it.answer = saying({ decision: 'deny', reason: `${contextPtr} is too big` })
    expect((await it.judge(record))?.reason).toBe('https://files.test/a?… is too big')
  })

  it('is not asked where its answer might come too late for who was handed the job', async () => {
    const it = await kernel(saying({ decision: 'allow' }))
    expect(await it.judge(job(), KERNEL_BOUNDS.answerMs - 1)).toBeUndefined()
    expect(it.asked).toEqual([])
    expect((await it.judge(job(), KERNEL_BOUNDS.answerMs))?.letsIn).toBe(true)
  })

  it('is not asked about what the rules turn away', async () => {
    const judged = { ...ALLOWED, letsIn: false }
    const it = await kernel(saying({ decision: 'allow' }), { judged })
    expect(await it.judge()).toBe(judged)
    expect(it.asked).toEqual([])
  })

  it('has its answer kept for a minute, for that policy and that job', async () => {
    const it = await kernel(saying({ decision: 'deny' }))
    await it.judge()
    it.answer = saying({ decision: 'allow' })
    it.nowMs = KERNEL_BOUNDS.keptMs - 1
    expect((await it.judge())?.letsIn).toBe(false)
    expect((await it.judge({ ...job(), generation: 1 } as ReturnType<typeof job>))?.letsIn).toBe(true)
    it.nowMs = KERNEL_BOUNDS.keptMs
    expect((await it.judge())?.letsIn).toBe(true)
    expect(it.asked).toHaveLength(3)
  })

  it.each<[string, Answer]>([
    ['an error', saying({ decision: 'allow' }, 500)],
    ['no JSON', saying('allow')],
    ['another word', saying({ decision: 'perhaps' })],
    ['no end', (_, response) => void response.write('x'.repeat(KERNEL_BOUNDS.letters + 1))],
    ['another address', (_, response) => void response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end()],
    ['nothing', (request) => request.socket.destroy()],
  ])('that answers with %s has said nothing: the job waits', async (_, answer) => {
    const it = await kernel(answer)
    await expect(it.judge()).rejects.toThrow()
    it.answer = saying({ decision: 'allow' })
    expect((await it.judge())?.letsIn).toBe(true)
  })

  it('has two seconds, for its answer to the last letter', async () => {
    const waits: number[] = []
    let ring: (() => void) | undefined
    const timers: Timers = {
      ...realTimers,
      after: (ms, fn) => {
        waits.push(ms)
        ring = fn
        return { [Symbol.dispose]: () => {} }
      },
    }
    const it = await kernel(
      (_, response) => {
        response.write('{"decision":')
        ring?.()
      },
      { timers },
    )
    await expect(it.judge()).rejects.toThrow('said nothing within 2000 ms')
    expect(waits).toEqual([2_000])
  })

  it('that fails five times in a row is not asked for a while, and everybody is denied; then one question decides', async () => {
    const it = await kernel(saying('', 503))
    for (let n = 0; n < KERNEL_BOUNDS.failures; n += 1) await expect(it.judge(job(`pj_${n}`))).rejects.toThrow('503')
    const asked = it.asked.length
    expect(await it.judge()).toMatchObject({
      letsIn: false,
      rule: 'safety_kernel',
      reason: expect.stringContaining('cannot be asked'),
    })
    it.nowMs = KERNEL_BOUNDS.openMs
    await expect(it.judge()).rejects.toThrow('503')
    expect((await it.judge())?.letsIn).toBe(false)
    expect(it.asked).toHaveLength(asked + 1)
    it.answer = saying({ decision: 'allow' })
    it.nowMs = 2 * KERNEL_BOUNDS.openMs
    const answers = await Promise.all([job('pj_a'), job('pj_b')].map((each) => it.judge(each)))
    expect(answers.map((each) => each?.letsIn)).toEqual([true, false])
    expect((await it.judge(job('pj_c')))?.letsIn).toBe(true)
  })

  it('is asked so much at a time, whatever waits', async () => {
    const it = await kernel((_, response) => setImmediate(() => response.end('{"decision":"allow"}')))
    const jobs = Array.from({ length: 100 }, (_, n) => job(`pj_${n}`))
    const answers = await Promise.all(jobs.map((each) => it.judge(each)))
    expect(answers.every((each) => each?.letsIn)).toBe(true)
    expect(it.most).toBeLessThanOrEqual(KERNEL_BOUNDS.atOnce)
    expect(it.asked).toHaveLength(100)
  })

  it('is at a URL', () => {
    for (const url of ['', 'kernel', 'file:///etc/passwd']) expect(() => kernelUrl(url)).toThrow('begins with http://')
    expect(() => kernelUrl('http://ann:secret@host/')).toThrow('no credentials')
  })
})
