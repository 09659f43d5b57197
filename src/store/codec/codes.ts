/**
 * One letter for each closed word that is written often. Letters are for ever: a word may be added, none may change
 * its letter, no two share one. A missing word is a compile error here and nowhere else. A process that does not know a letter
 * cannot read the log it is in: the version that writes a new one comes after one that reads it.
 */

import type { EventType } from '../../core/event.ts'
import type { State } from '../../core/job.ts'
import type { CommandType } from '../../core/verb.ts'

export const STATE_CODES: Readonly<Record<State, string>> = {
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
}

export const EVENT_CODES: Readonly<Record<EventType, string>> = {
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
  stripped: 'Z',
  compacted: 'z',
}

export const COMMAND_CODES: Readonly<Record<CommandType, string>> = {
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
}

export const STATE_OF = inverse(STATE_CODES)
export const EVENT_OF = inverse(EVENT_CODES)
export const COMMAND_OF = inverse(COMMAND_CODES)

function inverse<Word extends string>(codes: Readonly<Record<Word, string>>): Readonly<Record<string, Word>> {
  const names: Record<string, Word> = Object.create(null)
  for (const word in codes) names[codes[word]] = word
  return names
}
