/** The names of all commands. A file of its own, because the record remembers which command it answered. */

/** What an owner says under its fence. */
export const OWNER_COMMANDS = [
  'start',
  'heartbeat',
  'progress',
  'checkpoint',
  'record',
  'complete',
  'fail',
  'wait',
  'release',
  'compensated',
] as const

export const COMMANDS = [
  'enqueue',
  'admit',
  'deny',
  'askApproval',
  'approve',
  'claim',
  ...OWNER_COMMANDS,
  'signal',
  'reschedule',
  'replace',
  'stall',
  'requeue',
  'cancel',
  'expire',
  'deadLetter',
  'reopen',
  'strip',
] as const

export type CommandType = (typeof COMMANDS)[number]
