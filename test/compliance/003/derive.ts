/** Document 003: its table cell by cell, as `DeriveStatusFromEvents` reads any log. */
import { expect, it } from 'vitest'
import { derive as foreign } from '../../../src/contract.ts'
import { deriveDialect } from '../../../src/core/dialects/derive.ts'
import { CONSTANTS, WORDS } from './jobs.ts'

/** Rule, state, what leads there, and a cell per word; `—` is illegal. */
const TABLE = [
  ['003:51', '(none)', '', 'Queued Queued Queued — — — — — — —'],
  ['003:52', 'Queued', 'job_created', '— — Queued Running Running — Queued — — —'],
  ['003:53', 'Running', 'job_created job_leased', '— — Queued — — Waiting Queued Completed Failed Cancelled'],
  ['003:54', 'Waiting', 'job_created job_leased job_waiting', '— — — — — — Queued — — Cancelled'],
  ['003:55', 'Parked', 'job_created job_leased job_parked', '— — — — — — Queued — — Cancelled'],
  ['003:56', 'Retrying', 'job_created job_leased job_retrying', '— — Queued Running Running — Queued — — —'],
  ['003:57', 'Completed', 'job_created job_leased job_completed', '— — — — — — — — — —'],
  ['003:58', 'Failed', 'job_created job_leased job_failed', '— — Queued — — — — — — —'],
  ['003:59', 'Cancelled', 'job_created job_leased job_cancelled', '— — — — — — — — — —'],
] as const

const CELLS = TABLE.flatMap(([rule, state, way, row]) =>
  row.split(' ').map((next, i) => ({ rule, state, way: way.split(' ').filter(Boolean), word: WORDS[i] ?? '', next })),
)

/** The status each word sets, wherever the job is. */
const SETS: Readonly<Record<string, string>> = {
  job_created: 'Queued',
  job_queued: 'Queued',
  job_requeued: 'Queued',
  job_leased: 'Running',
  job_running: 'Running',
  job_waiting: 'Waiting',
  wait_completed: 'Queued',
  job_completed: 'Completed',
  job_failed: 'Failed',
  job_cancelled: 'Cancelled',
}

const derived = (words: readonly string[]) =>
  deriveDialect(
    '003',
    words.map((type) => ({ type })),
  )

export function derive(): void {
  it.each(CELLS)('$rule $state × $word → $next', ({ state, way, word, next }) => {
    const before = derived(way)
    expect(before.status ?? '(none)').toBe(state)
    expect(before.violations).toEqual([])
    const after = derived([...way, word])
    // Illegal, and still obeyed: the last event about the status counts (003:63).
    expect(after.status).toBe(next === '—' ? SETS[word] : next)
    const broken = after.violations.map(({ rule }) => rule)
    if (next === '—') expect(broken).toContainEqual(expect.stringMatching(/^(illegal_move|after_the_end)$/))
    // Failed × job_requeued stands in the table, against the document's own first invariant.
    else expect(broken).toEqual(state === 'Failed' ? ['invariant'] : [])
  })

  it.each(Object.entries(SETS))('003:78 %s sets %s, and its constant', (word, status) => {
    expect(derived([word])).toMatchObject({ status, constant: CONSTANTS[status] })
  })

  it('003:41 other events change no status', () => {
    const words = ['job_created', 'plan_generated', 'job_leased', 'node_started', 'tool_invocation_started']
    expect(derived(words)).toMatchObject({ status: 'Running', passedOver: 3, violations: [] })
  })

  it('003:63 after an ending the last event about the status counts, and is reported', () => {
    const after = derived(['job_created', 'job_leased', 'job_completed', 'job_running'])
    expect(after.status).toBe('Running')
    expect(after.violations.map(({ rule }) => rule)).toEqual(['invariant', 'after_the_end'])
  })

  it.each([
    ['003:88', '1', 'job_completed', 'job_requeued'],
    ['003:88', '1', 'job_failed', 'job_leased'],
    ['003:88', '1', 'job_cancelled', 'job_running'],
    ['003:89', '2', 'job_waiting', 'job_running'],
    ['003:89', '2', 'job_parked', 'job_completed'],
    ['003:91', '4', 'job_waiting', 'job_leased'],
    ['003:91', '4', 'job_waiting', 'job_requeued'],
  ])('%s invariant %s is broken where %s is followed by %s', (_, invariant, last, next) => {
    const { violations } = derived(['job_created', 'job_leased', last, next])
    const broken = violations.filter(({ rule }) => rule === 'invariant').map(({ what }) => what)
    expect(broken).toContainEqual(expect.stringContaining(`invariant ${invariant}`))
  })

  it('003:74 is a function that anybody may call: `derive` of pawl/contract', () => {
    expect(foreign('003', [])).toMatchObject({ status: undefined, violations: [] })
    const log = ['job_created', 'job_leased'].map((type) => ({ type }))
    expect(foreign('003', log)).toMatchObject({ status: 'Running', constant: 'StatusRunning', lines: 2 })
  })

  it('003:77 events are read in their order, each as it comes', () => {
    const words = ['job_created', 'job_leased', 'job_waiting', 'wait_completed', 'job_running', 'job_failed']
    const statuses = words.map((_, i) => derived(words.slice(0, i + 1)).status)
    expect(statuses).toEqual(['Queued', 'Running', 'Waiting', 'Queued', 'Running', 'Failed'])
  })
}
