import { describe, expect, it } from 'vitest'
import { decide } from '../../../src/core/decide.ts'
import { effectOn, inputOf, sizeOfNewer, sourceOf } from '../../../src/core/newer.ts'
import { given, type History, T0, type Words } from '../given.ts'

const newer = (name: 'replaced' | 'next', n = 1) => ({ name, size: n, digest: `d${n}` })
const REPLACE = { type: 'replace', input: newer('replaced') } as const
const NEXT = { type: 'replace', input: newer('next') } as const
const running = (policy = {}): History => given(policy, { dedupeKey: 'k', input: { name: 'input', size: 2 } }).starts()

function successorOf(history: History, words: Words) {
  const { decision } = history.when(words)
  if (decision.kind !== 'accepted') throw new Error(JSON.stringify(decision))
  return decision.successor
}

describe('replace', () => {
  it('gives a job that nobody has begun with a newer input, and moves it where that says when', () => {
    const history = given({ startWithin: '1h' }, { runAt: 9_000_000, input: { name: 'input', size: 2 } })
    history.when(REPLACE).gives('queued', 'replaced')
    expect(history.record).toMatchObject({ runAt: 9_000_000, newer: { input: newer('replaced') }, bodySize: 1 })
    expect(inputOf(history.record)).toEqual(newer('replaced'))
    history.does({ ...REPLACE, input: newer('replaced', 5), runAt: 5 })
    expect(history.record).toMatchObject({ runAt: history.now, bodySize: 5 })
    expect(inputOf(given().record)).toBeUndefined()
  })

  it.each(['claimed', 'running', 'retrying', 'released', 'parked'] as const)(
    'keeps it for the next where somebody has begun: %s',
    (state) => {
      const history = given().claims()
      if (state !== 'claimed') history.does({ type: 'start', fence: 'mine' })
      if (state === 'retrying') history.fails()
      if (state === 'released') history.does({ type: 'release', fence: 'mine', reason: 'handed_back' })
      if (state === 'parked') history.does({ type: 'wait', fence: 'mine', name: 's' })
      const { runAt } = history.record
      history.when(REPLACE).refused('REV_CONFLICT')
      history.does({ ...NEXT, runAt: 5 })
      expect(history.record).toMatchObject({ runAt, newer: { input: undefined, next: { input: newer('next') } } })
    },
  )

  it('keeps for the next what nobody has judged, where the job was let in with another input; its time may move', () => {
    const history = given({ admission: true }, { runAt: 9_000_000 }).does(REPLACE)
    expect(history.record.newer).toMatchObject({ rev: 2, by: 'test' })
    history.does({ type: 'admit', rule: 'r', policyHash: 'h' }).when(REPLACE).refused('REV_CONFLICT')
    history.does({ type: 'replace', runAt: 9_000_001 })
    expect(history.record).toMatchObject({ runAt: 9_000_001, newer: { input: newer('replaced'), rev: 2 } })
    history.does({ ...NEXT, actor: 'producer:eve' })
    expect(history.record.newer).toMatchObject({ input: newer('replaced'), rev: 2, next: { input: newer('next') } })
    expect(effectOn(history.record, { input: '{}' })).toBe('next')
    // A record from before it was written down who has brought what comes next.
    const { newer: told } = history.record
    const older = {
      ...history.record,
      newer: { input: told?.input, next: told?.next && { ...told.next, by: undefined } },
    }
    const ended = decide(older, history.command({ type: 'cancel', mode: 'hard' }), history.now)
    expect(ended).toMatchObject({ successor: { actor: 'test' } })
    expect(successorOf(history, { type: 'cancel', mode: 'hard' })).toMatchObject({ actor: 'producer:eve' })
  })

  it('debounces: so long after the last, but not so long after the first', () => {
    const debounce = { withinMs: 100, atMostMs: 250 }
    const history = given()
    for (const [ms, runAt] of [
      [0, 100],
      [90, 190],
      [90, 250],
    ] as const) {
      history.after(ms).does({ ...REPLACE, debounce })
      expect(history.record.runAt).toBe(T0 + runAt)
    }
    const owned = running()
    owned.does({ ...NEXT, debounce })
    const first = owned.now
    owned
      .after(90)
      .does({ ...NEXT, debounce })
      .after(90)
      .does({ ...NEXT, debounce })
    expect(owned.record.newer?.next).toMatchObject({ runAt: first + 250, since: first })
  })

  it('runs when a duplicate says, whatever others have moved it to', () => {
    const debounce = { withinMs: 100, atMostMs: 250 }
    const history = given().does({ ...REPLACE, debounce, runAt: T0 + 7 })
    expect(history.record.runAt).toBe(T0 + 7)
  })

  it('leaves the input and the names of what came before where it brings none', () => {
    const flow = { keys: ['a'], fair: 'f' }
    const waiting = given({}, { flow }).does(REPLACE).does({ type: 'replace' })
    expect(waiting.record.newer).toEqual({ input: newer('replaced'), rev: 2, by: 'test', next: undefined })
    const owned = given({}, { flow })
      .starts()
      .does({ ...NEXT, runAt: 9_000_000 })
      .does({ type: 'replace' })
    expect(owned.record.newer?.next).toMatchObject({ input: newer('next'), runAt: 9_000_000, flow })
  })

  it('keeps for the next what is let in by other names, and all that come after it', () => {
    const flow = { keys: ['a', 'b'], fair: undefined }
    for (const other of [
      { keys: ['b', 'a'], fair: undefined },
      { ...flow, fair: 'f' },
    ]) {
      const history = given({}, { flow }).does({ ...REPLACE, flow })
      history.when({ ...REPLACE, flow: other }).refused('REV_CONFLICT')
      history.does({ ...NEXT, flow: other })
      history.when({ ...REPLACE, flow }).refused('REV_CONFLICT')
      history.does({ ...NEXT, flow })
      expect(history.record.newer).toMatchObject({ input: newer('replaced'), next: { flow } })
    }
    expect(effectOn(given().record, { flow })).toBe('next')
  })

  it('is told by where the one is that it met', () => {
    const hard = { type: 'cancel', mode: 'hard' } as const
    expect(effectOn(given().record, {})).toBe('replaced')
    expect(effectOn(running().record, {})).toBe('next')
    expect(effectOn(running().does(hard).record, {})).toBe('gone')
    const held = { dedupe: { for: 'forever' } } as const
    expect(effectOn(running(held).does(hard).record, {})).toBe('ended')
    expect(effectOn(running(held).does(NEXT).does(hard).record, {})).toBe('gone')
    expect(
      effectOn(
        running(held)
          .does(NEXT)
          .does({ ...hard, next: 'drop' }).record,
        {},
      ),
    ).toBe('ended')
  })

  it('is not for what has ended, and is bounded as observations and bodies are', () => {
    running().does({ type: 'complete', fence: 'mine' }).when(NEXT).refused('ENDED')
    given()
      .when({ ...REPLACE, input: { name: 'replaced', size: 200_000_000 } })
      .refused('LIMIT_REACHED')
    given()
      .when({ ...REPLACE, debounce: { withinMs: -1 } })
      .refused('INVALID')
  })
})

describe('what comes next', () => {
  it('is enqueued with whatever end there is, once', () => {
    for (const end of [
      { type: 'complete', fence: 'mine' },
      { type: 'cancel', mode: 'hard' },
      { type: 'deadLetter', reason: 'timeout', stage: 'exec' },
    ] as const) {
      const history = running().does({ ...NEXT, runAt: 9_000_000 })
      const successor = successorOf(history, end)
      expect(successor).toMatchObject({
        dedupeKey: 'k',
        runAt: 9_000_000,
        input: { name: 'input', size: 1 },
        cause: 'replaced',
      })
      expect(successor && sourceOf(successor)).toBe('next')
    }
    expect(sourceOf({ cause: 'retry' })).toBe('input')
    const bare = running().does({ type: 'replace' })
    expect(successorOf(bare, { type: 'cancel', mode: 'hard' })?.input).toBeUndefined()
  })

  it('is dropped where a cancel says so, also one that is heard later; and reopened, a job has it no more', () => {
    const now = running().does(NEXT)
    expect(successorOf(now, { type: 'cancel', mode: 'hard', next: 'drop' })).toBeUndefined()
    const later = running().does(NEXT).does({ type: 'cancel', mode: 'soft', next: 'drop' })
    expect(successorOf(later, { type: 'cancel', mode: 'soft', fence: 'mine' })).toBeUndefined()
    const again = given()
      .does(REPLACE)
      .starts()
      .does(NEXT)
      .does({ type: 'cancel', mode: 'hard' })
      .does({ type: 'reopen' })
    expect(again.record.newer).toEqual({ input: newer('replaced'), rev: 2, by: 'test', next: undefined })
    expect(successorOf(again, { type: 'cancel', mode: 'hard' })).toBeUndefined()
    expect(sizeOfNewer(undefined)).toBe(0)
  })

  it('a debounced job waits from its birth on, unless it says when', () => {
    const policy = { dedupe: { onDuplicate: 'debounce', within: 500 } } as const
    expect(given(policy, { dedupeKey: 'k' }).record.runAt).toBe(T0 + 500)
    expect(given(policy).record.runAt).toBe(T0)
    expect(given(policy, { dedupeKey: 'k', runAt: T0 + 7 }).record.runAt).toBe(T0 + 7)
  })
})
