import { describe, expect, it } from 'vitest'
import { addressed, type Judged, sentenceOf } from '../../src/core/admission.ts'
import { keyOf } from '../../src/core/keys.ts'
import { SIZES } from '../../src/core/limits.ts'
import { placeOf } from '../../src/core/newer.ts'
import { askedOf, type Recast, specAs } from '../../src/core/recast.ts'
import { given, kindOf } from './given.ts'

const NOTHING: Recast = { redirect: undefined, labels: undefined, throttles: undefined }
const ELSEWHERE = { from: 'crawl.page', to: 'cheap', queue: 'second', type: 'cheap.page', rule: 'r' }
const throttle = (key: string) => ({ key, rule: 'r', limit: { concurrency: 1 } })
const admit = (recast: Partial<Recast>) =>
  ({ type: 'admit', rule: 'r', policyHash: 'h', recast: { ...NOTHING, ...recast } }) as const

const WORDS = { labels: { team: 'a' }, flow: { keys: ['own'], fair: 'ann' }, dedupeKey: 'once' }
const waiting = (policy: object = {}, words: Readonly<Record<string, unknown>> = WORDS) =>
  given({ admission: true, ...policy }, words)

describe('what admission makes of a job', () => {
  it('is what it is from then on; what was asked for stays beside it', () => {
    const history = waiting()
    const asked = history.record.spec
    history.does(admit({ redirect: ELSEWHERE, labels: { risk: 'low', team: 'b' }, throttles: [throttle('gpu')] }))
    const { spec } = history.record
    expect(spec.kind).toEqual({ ...asked.kind, queue: 'second', type: 'cheap.page' })
    expect([spec.topic, spec.labels]).toEqual(['cheap', { team: 'b', risk: 'low' }])
    expect(spec.flow).toEqual({ keys: ['own', 'gpu'], fair: 'ann' })
    expect(askedOf(history.record)).toBe(asked)
    expect(history.claims().does({ type: 'start', fence: 'mine' }).record.spec).toBe(spec)
  })

  it('is told with the event: from where, to where, by which rule of which policy', () => {
    const history = waiting().does(admit({ redirect: ELSEWHERE }))
    expect(history.events.at(-1)?.payload).toMatchObject({
      verdict: { rule: 'r', policyHash: 'h' },
      recast: { redirect: ELSEWHERE },
    })
  })

  it('puts a job without keys under one, and knows siblings by their kind, however many destinations there are', () => {
    const plain = waiting({}, {}).does(admit({ throttles: [throttle('gpu')] })).record
    expect(plain.spec.flow).toEqual({ keys: ['gpu'], fair: undefined })
    const { spec } = waiting().record
    const kindTo = (queue: string) =>
      specAs({ asked: spec, redirect: { ...ELSEWHERE, queue }, labels: undefined, keys: undefined }).kind
    expect(kindTo('b')).toBe(kindTo('b'))
    for (let n = 0; n < 1_001; n += 1) kindTo(`q${n}`)
    expect(kindTo('b')).toEqual({ ...spec.kind, queue: 'b', type: 'cheap.page' })
  })

  it('is nothing where it is that already', () => {
    const same = { ...ELSEWHERE, to: 'crawl.page', queue: 'crawl', type: 'crawl.page' }
    const history = waiting().does(admit({ redirect: same, labels: { team: 'a' }, throttles: [throttle('own')] }))
    expect(history.record.recast).toBeUndefined()
    expect(waiting().does(admit({})).record.recast).toBeUndefined()
  })

  it('is forgotten with another chance, which is one of what was asked for', () => {
    const history = waiting({ retry: { attempts: 1 }, dialect: undefined })
    const asked = history.record.spec
    history.does(admit({ redirect: ELSEWHERE })).claims()
    history.does({ type: 'release', fence: 'mine', reason: 'unknown_type' })
    expect(history.record.needs).toBe('cheap.page')
    history.does({ type: 'cancel', mode: 'hard' }).does({ type: 'reopen' })
    expect([history.record.spec, history.record.recast, history.record.needs]).toEqual([asked, undefined, 'crawl.page'])
    history.does(admit({ redirect: ELSEWHERE }))
    expect(history.record.needs).toBe('cheap.page')
  })

  it('needs the type that it has become, where its document knows no way back', () => {
    const history = given({ dialect: '002' }).does(admit({ redirect: ELSEWHERE }))
    expect(history.record.needs).toBe('cheap.page')
  })

  it('leaves its business what it was: key, duplicates, the same request', () => {
    const history = waiting()
    const key = keyOf(history.record)
    history.does(admit({ redirect: ELSEWHERE, throttles: [throttle('gpu')] }))
    expect(keyOf(history.record)).toEqual(key)
    expect(placeOf(history.record, { flow: WORDS.flow })).toBe('replaced')
    expect(placeOf(history.record, { flow: { keys: ['own', 'gpu'], fair: 'ann' } })).toBe('next')
    const kind = kindOf({ admission: true })
    const again = history.when({ type: 'enqueue', id: 'pj_1', kind, priority: 5, ...WORDS })
    expect(again.decision.kind).toBe('replayed')
  })

  it('is tried again as what was asked for, where a retry is a new job', () => {
    const history = given({ dialect: '002', retry: { attempts: 3 } }, { labels: { team: 'a' } })
    history
      .does(admit({ redirect: ELSEWHERE, labels: { team: 'b' } }))
      .claims()
      .does({ type: 'start', fence: 'mine' })
    const { decision } = history.when({ type: 'fail', fence: 'mine', fault: { code: 'E', message: '' } })
    expect(decision).toMatchObject({ successor: { kind: { queue: 'crawl' }, labels: { team: 'a' } } })
  })

  it('is bounded: what would have too much is turned away, by hand refused', () => {
    const labels = Object.fromEntries(Array.from({ length: SIZES.labels }, (_, i) => [`l${i}`, 'x']))
    const throttles = Array.from({ length: SIZES.limits }, (_, i) => throttle(`k${i}`))
    waiting().when(admit({ labels })).refused('INVALID')
    waiting().when(admit({ throttles })).refused('INVALID')
    waiting()
      .when(admit({ labels: { team: 'b' } }))
      .gives('queued', 'admitted')
    const word = { letsIn: true, rule: 'r', policyHash: 'h', reason: undefined, terms: undefined, approval: undefined }
    const sentence = sentenceOf(waiting().record, { ...word, recast: { ...NOTHING, throttles } }, 2_000_000, undefined)
    expect(sentence).toMatchObject({ type: 'deny', reason: expect.stringMatching(/limit keys/) })
  })

  it('is refused where its words are none', () => {
    for (const recast of [
      7,
      { redirect: 'x' },
      { redirect: { ...ELSEWHERE, queue: 'a,b' } },
      { redirect: { ...ELSEWHERE, to: '' } },
      { labels: { a: 1 } },
      { throttles: {} },
      { throttles: [7] },
      { throttles: [{ key: '', rule: 'r' }] },
    ])
      waiting().when({ type: 'admit', rule: 'r', policyHash: 'h', recast }).refused('INVALID')
  })
})

describe('a topic that a job is sent to', () => {
  const { record } = waiting({ timeout: '5m', retry: { attempts: 7 } })
  const word: Judged = {
    letsIn: true,
    rule: 'r',
    policyHash: 'h',
    reason: undefined,
    terms: { attemptMs: undefined, maxAttempts: 5 },
    approval: undefined,
    redirect: { from: 'crawl.page', to: 'cheap', rule: 'send' },
  }

  it('comes to what its workers have announced, and each bound is the narrower of both', () => {
    const announced = { ...kindOf({ timeout: '1m', retry: { attempts: 9 } }), queue: 'second', type: 'cheap' }
    expect(addressed(word, record, announced)).toMatchObject({
      terms: { attemptMs: 60_000, maxAttempts: 5 },
      recast: { redirect: { from: 'crawl.page', to: 'cheap', queue: 'second', type: 'cheap', rule: 'send' } },
    })
    const untied = addressed({ ...word, terms: undefined }, record, announced)
    expect(untied.terms).toEqual({ attemptMs: 60_000, maxAttempts: 9 })
  })

  it('without any: to a queue of its name; who was asked for by topic is of the other, who has a type of its own keeps it', () => {
    expect(addressed(word, record, undefined).recast?.redirect).toMatchObject({ queue: 'cheap', type: 'cheap' })
    const typed = waiting({}, { topic: 'job.a' }).record
    expect(addressed(word, typed, undefined).recast?.redirect).toMatchObject({ queue: 'cheap', type: 'crawl.page' })
  })

  it('is never one of pawl’s own, nor another tenant’s', () => {
    const own = { ...kindOf(), queue: 'pawl.operations', type: 'cheap' }
    expect(addressed(word, record, own)).toMatchObject({ letsIn: false, rule: 'send' })
    const foreign = { ...kindOf(), tenant: 'globex', queue: 'second', type: 'cheap' }
    const { recast } = addressed(word, record, foreign)
    const redirect = recast?.redirect
    expect(specAs({ asked: record.spec, redirect, labels: undefined, keys: undefined }).kind.tenant).toBe('acme')
  })

  it('leaves what is sent nowhere as it is', () => {
    const { redirect: _, ...rest } = word
    expect(addressed(rest, record, undefined).recast).toBeUndefined()
    const labels = { a: 'b' }
    expect(addressed({ ...rest, recast: { labels, throttles: undefined } }, record, undefined).recast).toEqual({
      ...NOTHING,
      labels,
    })
  })
})
