import { describe, expect, it } from 'vitest'
import { isMereRenewal } from '../../src/core/decide/heartbeat.ts'
import { decide } from '../../src/core/decide.ts'
import { forwardsFailed, isReturnable, mayReopen } from '../../src/core/dialects/bond.ts'
import { EVERYWHERE } from '../../src/core/dialects/strict.ts'
import { isTerminal, STATES, type State } from '../../src/core/job.ts'
import { DIALECT_NAMES, type DialectName } from '../../src/core/policy.ts'
import { type PolicyInput, resolvePolicy } from '../../src/core/resolve.ts'
import { movesFrom } from '../../src/core/transitions.ts'
import { COMMANDS, type CommandType } from '../../src/core/verb.ts'
import { type History, kindOf, given as open, type Words } from '../core/given.ts'
import { HISTORIES, WORDS } from '../core/sample.ts'

/** A job in this state whose type is bound to the document. How it got there does not matter here. */
function bound(dialect: DialectName, state: State): History {
  const job = HISTORIES[state]()
  const { record } = job
  job.job = { ...record, spec: { ...record.spec, kind: kindOf({ dialect }) } }
  return job
}

function refusalOf(job: History, words: Words): string | undefined {
  const decision = decide(job.record, job.command({ ...words, expectedRev: job.record.rev }), job.now)
  if (decision.kind !== 'refused') return undefined
  const { code, message } = decision.refusal
  if (code === 'DIALECT_FORBIDS') expect(message).toContain(`bound to document ${job.record.spec.kind.policy.dialect}`)
  return code
}

/** Commands that each document knows from no state at all. */
const UNKNOWN: Readonly<Record<DialectName, readonly CommandType[]>> = {
  '000A': ['wait', 'signal', 'reschedule', 'reopen'],
  '000B': ['wait', 'signal', 'reschedule', 'reopen'],
  '001': ['wait', 'signal', 'reschedule', 'reopen', 'release', 'cancel', 'deadLetter'],
  '002': ['wait', 'signal', 'reschedule', 'reopen', 'release'],
  '003': ['reschedule', 'deadLetter'],
  '004': ['wait', 'signal', 'reschedule', 'reopen', 'release', 'deadLetter'],
}

/** From which of our states a bound job may be cancelled, dead-lettered, reopened. */
const LIVE = ['pending', 'claimed', 'running', 'waiting', 'parked', 'stalled', 'retrying', 'queued'] as const
const ALLOWED: Readonly<Record<DialectName, Readonly<Record<string, readonly State[]>>>> = {
  // Waiting and stalled jobs show as running there: a wait of somebody else's making does not keep them from ending.
  '000A': { cancel: ['running', 'waiting', 'parked', 'stalled'], deadLetter: LIVE, reopen: [] },
  '000B': { cancel: LIVE, deadLetter: ['running', 'waiting', 'parked', 'stalled'], reopen: [] },
  '001': { cancel: [], deadLetter: [], reopen: [] },
  '002': {
    cancel: LIVE,
    deadLetter: ['claimed', 'running', 'waiting', 'parked', 'stalled', 'retrying'],
    reopen: [],
  },
  '003': {
    cancel: ['claimed', 'running', 'waiting', 'parked', 'stalled'],
    deadLetter: [],
    reopen: ['failed', 'timed_out', 'dead_lettered'],
  },
  '004': {
    cancel: ['pending', 'queued', 'claimed', 'running', 'waiting', 'parked', 'stalled'],
    deadLetter: [],
    reopen: [],
  },
}

const EVERY_STATE = DIALECT_NAMES.flatMap((name) => STATES.map((state) => [name, state] as const))

describe('a job bound to a document', () => {
  it.each(EVERY_STATE)('%s, %s: is refused what the document does not know', (name, state) => {
    for (const type of UNKNOWN[name]) {
      const words = WORDS[type]
      // A word from a fence that is dead is late before it is foreign.
      if (words['fence'] === 'mine' && state !== 'claimed' && state !== 'running') continue
      if (type === 'cancel' && state === 'cancelled') continue
      expect([type, refusalOf(bound(name, state), words)]).toEqual([type, 'DIALECT_FORBIDS'])
    }
  })

  it.each(EVERY_STATE)(
    '%s, %s: is cancelled, dead-lettered and reopened where the document has the move',
    (name, state) => {
      for (const type of ['cancel', 'deadLetter', 'reopen'] as const) {
        if (movesFrom(type, state) === undefined) continue
        const refused = refusalOf(bound(name, state), {
          ...WORDS[type],
          ...(type === 'cancel' ? { mode: 'hard' } : {}),
        })
        const allowed = ALLOWED[name][type]?.includes(state) === true
        expect([type, refused]).toEqual([type, allowed ? undefined : 'DIALECT_FORBIDS'])
      }
    },
  )

  it.each(EVERY_STATE)('%s, %s: is never kept from what time does, or from its own notes', (name, state) => {
    for (const type of EVERYWHERE) {
      if (movesFrom(type, state) === undefined) continue
      const job = bound(name, state)
      expect(['DIALECT_FORBIDS', 'REV_REQUIRED']).not.toContain(refusalOf(job, WORDS[type]))
    }
  })

  it.each([...DIALECT_NAMES])('%s: is returnable where its document knows release', (name) => {
    expect(isReturnable({ dialect: name })).toBe(!UNKNOWN[name].includes('release'))
    expect(isReturnable({ dialect: undefined })).toBe(true)
    // Where it is not, it is for who knows it, from when it is queued on: 002's is when it was admitted.
    const { needs, state } = open({ dialect: name }).record
    expect(needs).toBe(isReturnable({ dialect: name }) || state === 'pending' ? undefined : 'crawl.page')
  })

  it.each([...DIALECT_NAMES])('%s: is reopened where its document knows reopen', (name) => {
    expect(mayReopen(kindOf({ dialect: name }).policy)).toBe(!UNKNOWN[name].includes('reopen'))
    expect(mayReopen(kindOf().policy)).toBe(true)
  })

  it('is forwarded to the dead letters where it failed and its document has no state for them', () => {
    expect(DIALECT_NAMES.filter(forwardsFailed)).toEqual(['000B'])
    for (const [code, reason] of [
      ['bad_request', 'exhausted_retries'],
      ['validation_failed', 'validation_failed'],
    ] as const) {
      const { record } = open({ dialect: '000B' }).starts().fails({ code })
      expect(record).toMatchObject({ state: 'dead_lettered', deadLetter: { reason }, error: { code } })
    }
  })

  it('has its heartbeats decided by core where the document reads of each (001), or until it has started (002)', () => {
    const mere = (policy: PolicyInput, state: 'claimed' | 'running') => {
      const job = open(policy).claims()
      return isMereRenewal(
        (state === 'claimed' ? job : job.does({ type: 'start', fence: 'mine', expectedRev: job.record.rev })).record,
      )
    }
    expect([mere({}, 'claimed'), mere({}, 'running')]).toEqual([true, true])
    expect([mere({ dialect: '001' }, 'claimed'), mere({ dialect: '001' }, 'running')]).toEqual([false, false])
    expect([mere({ dialect: '002' }, 'claimed'), mere({ dialect: '002' }, 'running')]).toEqual([false, true])
  })

  it.each([...DIALECT_NAMES])('%s: is denied only where admission applies, but for 002', (name) => {
    const mute = name === '001' || name === '003'
    expect(refusalOf(bound(name, 'pending'), WORDS.deny)).toBe(mute ? 'DIALECT_FORBIDS' : undefined)
    expect(refusalOf(bound(name, 'pending'), WORDS.admit)).toBe(undefined)
    expect(refusalOf(bound(name, 'queued'), WORDS.deny)).toBe(name === '002' ? undefined : 'DIALECT_FORBIDS')
  })

  it.each([...DIALECT_NAMES])('%s: hears that an ended job has ended', (name) => {
    expect(refusalOf(bound(name, 'succeeded'), WORDS.cancel)).toBe(name === '001' ? 'DIALECT_FORBIDS' : 'ENDED')
  })

  it.each([...DIALECT_NAMES])('%s: lives its life: claim, start, heartbeat, complete', (name) => {
    const rev = (job: History) => ({ expectedRev: job.record.rev })
    const job = open({ dialect: name }).claims()
    job.does({ type: 'start', fence: 'mine', ...rev(job) })
    job.does({ type: 'heartbeat', fence: 'mine', ...rev(job) })
    job.does({ type: 'complete', fence: 'mine', ...rev(job) })
    expect(job.state).toBe('succeeded')
  })

  it('is not the concern of a job that is bound to none', () => {
    for (const type of COMMANDS) {
      for (const state of STATES) {
        const { decision } = HISTORIES[state]().when(WORDS[type])
        if (decision.kind === 'refused')
          expect(['DIALECT_FORBIDS', 'REV_REQUIRED']).not.toContain(decision.refusal.code)
      }
    }
  })
})

describe('time, for a bound job', () => {
  /** A job whose workers all die, each as soon as it has got so far; answers after so many leases were lost. */
  function orphaned(policy: PolicyInput, far: 'claimed' | 'running', lost: number): History {
    const job = open(policy)
    if (job.state === 'pending') job.does(WORDS.admit)
    for (let n = 0; n < lost && !isTerminal(job.state); n += 1) {
      job.now = Math.max(job.now, job.record.readyAt ?? Number.NaN)
      job.claims()
      if (far === 'running') job.does({ type: 'start', fence: 'mine', expectedRev: job.record.rev })
      job.now = Math.max(job.now, job.record.nextTickAt ?? Number.NaN)
      job.ticks().accepted()
    }
    return job
  }

  it.each([
    ['000A', 'dead_lettered', 'dead_lettered'],
    // Only what runs can fail: whoever had not started is no attempt.
    ['000B', 'dead_lettered', undefined],
    ['001', undefined, undefined],
    ['002', 'timed_out', 'timed_out'],
    ['003', 'failed', 'failed'],
    ['004', 'failed', undefined],
  ] as const)('%s: lost leases end it as %s; where nothing had started, as %s', (dialect, running, claimed) => {
    const ends = { running, claimed }
    for (const far of ['running', 'claimed'] as const) {
      const job = orphaned({ dialect }, far, 30)
      expect([far, job.state]).toEqual([far, ends[far] ?? expect.not.stringMatching(/ed$(?<!queued)/)])
      if (ends[far] === undefined) expect(job.record).toMatchObject({ attempt: 30, stalls: 0 })
    }
  })

  it('002: must start soon after its claim, whatever its heartbeats say, and waits in the queue as long as it takes', () => {
    const job = open({ dialect: '002', startWithin: '1m' }).does(WORDS.admit)
    job.after(7 * 86_400_000)
    expect(job.isDue).toBe(false)
    job.claims()
    const granted = job.now
    for (const _ of [1, 2, 3]) job.after(15_000).does({ type: 'heartbeat', fence: 'mine' })
    expect(job.record.lease?.expiresAt).toBe(granted + 60_000)
    job.after(15_000).ticks().gives('timed_out', 'stalled', 'timed_out')
    const started = open({ dialect: '002', startWithin: '1m' })
    started.starts().after(30_000).does({ type: 'heartbeat', fence: 'mine' })
    expect(started.record.lease?.expiresAt).toBe(started.now + 31_000)
  })

  it('004: its wall clock ends what runs; a retry whose worker died before its start is tried again, however late', () => {
    const job = open({ dialect: '004', deadline: '1m' }).starts().after(1_000).fails()
    job.now = Math.max(job.now, job.record.readyAt ?? Number.NaN)
    job.claims().after(91_000).ticks().gives('retrying', 'stalled', 'retry_scheduled')
    expect(job.isDue).toBe(false)
    job.now = Math.max(job.now, job.record.readyAt ?? Number.NaN)
    job.starts().ticks().gives('timed_out', 'timed_out')
  })

  it('004: an orphan whose next attempt would come after its wall clock has failed', () => {
    const job = open({ dialect: '004', deadline: 90_001 }).starts()
    job.after(90_000).ticks().gives('failed', 'stalled', 'failed')
  })

  it('hardens a soft cancel that the document allowed', () => {
    const job = open({ dialect: '000A' }).starts().does({ type: 'cancel', mode: 'soft' })
    job.after(20_000).does({ type: 'heartbeat', fence: 'mine' })
    job.after(20_000)
    expect(job.ticks().accepted().state).toBe('cancelled')
  })
})

function started001(): History {
  const job = open({ dialect: '001' }).claims()
  return job.does({ type: 'start', fence: 'mine', expectedRev: job.record.rev })
}

describe('001 demands a revision', () => {
  const NAMED: readonly CommandType[] = ['start', 'heartbeat', 'progress', 'complete', 'fail']

  it.each(NAMED.map((type) => [type] as const))('%s without expectedRev is refused', (type) => {
    const job = open({ dialect: '001' }).claims()
    if (type !== 'start') job.does({ type: 'start', fence: 'mine', expectedRev: job.record.rev })
    job.when(WORDS[type]).refused('REV_REQUIRED')
    job.when({ ...WORDS[type], expectedRev: job.record.rev }).accepted()
  })

  it('stall and requeue use it too; a claim names no job', () => {
    const job = open({ dialect: '001' }).claims().after(600_000)
    job.when({ type: 'stall' }).refused('REV_REQUIRED')
    job.does({ type: 'stall', expectedRev: job.record.rev })
    job.when({ type: 'requeue' }).refused('REV_REQUIRED')
    job.does({ type: 'requeue', expectedRev: job.record.rev }).claims()
    expect(job.state).toBe('claimed')
  })

  it('the ticker states the revision it judged', () => {
    const job = started001().after(600_000)
    job.ticks().gives('queued', 'stalled', 'requeued')
  })

  it('fail is final', () => {
    const job = started001()
    job.does({
      type: 'fail',
      fence: 'mine',
      fault: { code: 'E_5XX_ORIGIN', message: 'bad gateway' },
      expectedRev: job.record.rev,
    })
    expect(job.state).toBe('failed')
  })
})

describe('what is said now and needs a move later', () => {
  it('is refused where the document has none: steps to undo, waits that end the job', () => {
    const undo = { type: 'record', fence: 'mine', step: { name: 's', compensate: true } } as const
    const strictWait = { type: 'wait', fence: 'mine', name: 'ok', timeoutMs: 1_000, onTimeout: 'timed_out' } as const
    const begun = (dialect: DialectName) =>
      open({ dialect }).claims().does({ type: 'start', fence: 'mine', expectedRev: 2 })
    begun('001')
      .when({ ...undo, expectedRev: 3 })
      .refused('DIALECT_FORBIDS')
    begun('003').does(undo)
    begun('003').when(strictWait).refused('DIALECT_FORBIDS')
    begun('003').does({ ...strictWait, onTimeout: 'resume' })
  })
})

describe('002 and its scheduler', () => {
  it('counts the time to start from the claim, so it is no shorter than a lease', () => {
    expect(resolvePolicy({ dialect: '002', startWithin: '31s' })).toMatchObject({ ok: true })
    expect(resolvePolicy({ dialect: '002', startWithin: '30s' })).toMatchObject({
      ok: false,
      violations: [{ field: 'startWithin', rule: expect.stringContaining('31000 ms') }],
    })
  })

  it('has every job PENDING first, whatever its type says', () => {
    expect(open({ dialect: '002' }).state).toBe('pending')
    expect(resolvePolicy({ dialect: '002', admission: false })).toMatchObject({
      ok: false,
      violations: [{ field: 'admission' }],
    })
  })

  it('denies what was scheduled: both in one commit', () => {
    open({ dialect: '002' }).when(WORDS.deny).gives('denied', 'admitted', 'denied')
    open({ dialect: '002' }).does(WORDS.admit).when(WORDS.deny).gives('denied', 'denied')
    open({ dialect: '000A', admission: true }).when(WORDS.deny).gives('denied', 'denied')
  })
})

describe('002 retries as a new job', () => {
  it('ends the failed one and hands on what is left of the budget', () => {
    const job = open({ dialect: '002' }).starts()
    const { decision } = job.when(WORDS.fail)
    expect(decision).toMatchObject({
      kind: 'accepted',
      job: { state: 'failed' },
      successor: { parentId: 'pj_1', cause: 'retry', failures: 1 },
    })
  })

  it('times out a lost lease: stalled and timed out in one commit, and the retry is a new job as well', () => {
    const lost = (policy: PolicyInput) =>
      open({ dialect: '002', ...policy })
        .starts()
        .after(60_000)
        .ticks()
    lost({}).gives('timed_out', 'stalled', 'timed_out')
    expect(lost({}).decision).toMatchObject({ successor: { parentId: 'pj_1', failures: 0, stalls: 1 } })
    expect(lost({ idempotent: true }).decision).toMatchObject({ successor: { stalls: 1 } })
    expect(lost({ retry: { stalls: 0 } }).decision).toMatchObject({ successor: undefined })
  })

  it('times out what was dispatched and never started, and the next one has what is left of the budget', () => {
    const mute = (policy: PolicyInput) =>
      open({ dialect: '002', startWithin: '1m', ...policy })
        .claims()
        .after(60_000)
        .ticks()
    expect(mute({}).gives('timed_out', 'stalled', 'timed_out').events.at(-1)).toMatchObject({ reason: 'not_started' })
    expect(mute({}).decision).toMatchObject({ successor: { parentId: 'pj_1', failures: 0, stalls: 1 } })
    expect(mute({ retry: { stalls: 0 } }).decision).toMatchObject({ successor: undefined })
  })

  it('times out an attempt that takes too long, and tries again while the budget lasts', () => {
    const slow = (attempts: number) =>
      open({ dialect: '002', timeout: '5s', retry: { attempts } }).starts().after(5_000).ticks()
    slow(2).gives('timed_out', 'timed_out')
    expect(slow(2).decision).toMatchObject({ successor: { failures: 1, stalls: 0 } })
    expect(slow(1).decision).toMatchObject({ successor: undefined })
  })

  it('does not try again what was cancelled meanwhile', () => {
    const job = open({ dialect: '002' }).starts().does({ type: 'cancel', mode: 'soft' })
    expect(job.after(60_000).ticks().decision).toMatchObject({ job: { state: 'cancelled' }, successor: undefined })
  })
})
