import { describe, expect, it } from 'vitest'
import { type State, TERMINAL_STATES } from '../../../src/core/job.ts'
import { gone, hasBodies, isAwaitedBy, resultGone, strippedIn } from '../../../src/core/stripped.ts'
import { given } from '../given.ts'
import { HISTORIES } from '../sample.ts'

const FINAL: readonly State[] = ['succeeded', 'denied']

describe('strip', () => {
  it.each(TERMINAL_STATES)(
    'of a job that is %s: at once where that is for good, else only where it is named',
    (state) => {
      const history = HISTORIES[state]()
      const { observations } = history.record
      if (!FINAL.includes(state)) {
        history.when({ type: 'strip' }).refused('ILLEGAL_TRANSITION')
        history.when({ type: 'strip', evenOf: 'succeeded' }).refused('ILLEGAL_TRANSITION')
      }
      history
        .when(FINAL.includes(state) ? { type: 'strip' } : { type: 'strip', evenOf: state })
        .gives(state, 'stripped')
      expect(history.record).toMatchObject({ strippedAt: history.now, observations })
      history.when({ type: 'strip' }).replayed()
    },
  )

  it('enqueues nothing again that came with the end', () => {
    const input = { name: 'next', size: 1, digest: undefined }
    const history = given({ dedupe: { onDuplicate: 'replace' } }, { dedupeKey: 'k' }).starts()
    history.does({ type: 'replace', input })
    const ended = history.when({ type: 'complete', fence: 'mine' }).decision
    expect(ended.kind === 'accepted' && ended.successor).toMatchObject({ cause: 'replaced' })
    const bare = history.when({ type: 'strip' }).decision
    expect(bare.kind === 'accepted' && bare.successor).toBeUndefined()
  })

  it('is of no job that lives', () => {
    for (const evenOf of [undefined, ...TERMINAL_STATES])
      HISTORIES.queued().when({ type: 'strip', evenOf }).refused('ILLEGAL_TRANSITION')
    given().when({ type: 'strip', evenOf: 'queued' }).refused('INVALID', 'evenOf')
  })

  it('leaves a job that cannot be reopened, and is told when', () => {
    const history = HISTORIES.dead_lettered().does({ type: 'strip', evenOf: 'dead_lettered' })
    history.when({ type: 'reopen' }).refused('STRIPPED')
    const at = new Date(history.now).toISOString()
    expect(gone(history.record)?.message).toBe(`The bodies of job pj_1 were removed at ${at}.`)
  })
})

describe('what there is to strip', () => {
  const input = { name: 'input', size: 2, digest: undefined }

  it('is what the record tells of: an input, an output, what came along, an error', () => {
    const bare = given().starts().does({ type: 'complete', fence: 'mine' })
    expect(hasBodies(bare.record)).toBe(false)
    expect(hasBodies(given({}, { input }).record)).toBe(true)
    const result = { name: 'output', size: 2, digest: undefined }
    const full = given().starts().does({ type: 'complete', fence: 'mine', result })
    expect(hasBodies(full.record)).toBe(true)
    expect(hasBodies(HISTORIES.failed().record)).toBe(true)
    expect(hasBodies(given().does({ type: 'signal', name: 's', body: { ...input, name: 'signal' } }).record)).toBe(true)
    expect(hasBodies(full.does({ type: 'strip' }).record)).toBe(false)
    expect(resultGone(full.record)?.code).toBe('STRIPPED')
    expect(resultGone(bare.does({ type: 'strip' }).record)).toBeUndefined()
    expect(gone(given().record)).toBeUndefined()
  })

  it('is nothing of states that can be left again, unless they are named', () => {
    expect(strippedIn([])).toEqual(FINAL)
    expect(strippedIn(['dead_lettered', 'queued'])).toEqual(['succeeded', 'denied', 'dead_lettered'])
  })

  it('stays while a parent lives, which may ask for it', () => {
    expect(isAwaitedBy(undefined)).toBe(false)
    expect(isAwaitedBy(HISTORIES.waiting().record)).toBe(true)
    expect(isAwaitedBy(HISTORIES.failed().record)).toBe(false)
  })
})
