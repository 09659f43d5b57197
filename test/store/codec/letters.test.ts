/** Letters are written in every record and every log there is: each word keeps its own for ever. */
import { expect, it } from 'vitest'
import { COMMAND_CODES, EVENT_CODES, STATE_CODES } from '../../../src/store/codec/codes.ts'

it('states have the letters they have always had', () => {
  expect(STATE_CODES).toEqual({
    pending: 'n',
    claimed: 'c',
    running: 'r',
    waiting: 'w',
    parked: 'p',
    stalled: 'l',
    retrying: 't',
    queued: 'q',
    succeeded: 'S',
    failed: 'F',
    cancelled: 'C',
    timed_out: 'T',
    denied: 'D',
    dead_lettered: 'L',
  })
  expect(new Set(Object.values(STATE_CODES)).size).toBe(Object.keys(STATE_CODES).length)
})

it('events have the letters they have always had', () => {
  expect(EVENT_CODES).toEqual({
    enqueued: 'e',
    admitted: 'a',
    denied: 'D',
    claimed: 'c',
    started: 's',
    waiting: 'w',
    parked: 'p',
    signalled: 'g',
    wait_timed_out: 'o',
    released: 'r',
    retry_scheduled: 't',
    stalled: 'l',
    requeued: 'q',
    cancelled: 'C',
    succeeded: 'S',
    failed: 'F',
    timed_out: 'T',
    dead_lettered: 'L',
    compensating: 'u',
    reopened: 'R',
    heartbeat: 'h',
    progressed: 'P',
    checkpointed: 'k',
    recorded: 'd',
    signal_stored: 'G',
    cancel_requested: 'x',
    rescheduled: 'y',
    replaced: 'n',
    approval_asked: 'v',
    approved: 'V',
    compensated: 'U',
    compacted: 'z',
    stripped: 'Z',
  })
  expect(new Set(Object.values(EVENT_CODES)).size).toBe(Object.keys(EVENT_CODES).length)
})

it('commands have the letters they have always had', () => {
  expect(COMMAND_CODES).toEqual({
    enqueue: 'e',
    admit: 'a',
    deny: 'd',
    askApproval: 'v',
    approve: 'V',
    claim: 'c',
    start: 's',
    heartbeat: 'h',
    progress: 'p',
    checkpoint: 'k',
    record: 'r',
    complete: 'o',
    fail: 'f',
    wait: 'w',
    release: 'R',
    compensated: 'U',
    signal: 'g',
    reschedule: 'y',
    replace: 'n',
    stall: 'l',
    requeue: 'q',
    cancel: 'x',
    expire: 'E',
    deadLetter: 'L',
    reopen: 'O',
    strip: 'Z',
  })
  expect(new Set(Object.values(COMMAND_CODES)).size).toBe(Object.keys(COMMAND_CODES).length)
})
