/**
 * Events that a page hears of, each under its own name: an EventSource hears only what it is told to listen for. All but those
 * that would come by the thousand and change nothing on a page.
 */
export const LIVE_TYPES = [
  'enqueued',
  'admitted',
  'denied',
  'claimed',
  'started',
  'waiting',
  'parked',
  'signalled',
  'wait_timed_out',
  'released',
  'retry_scheduled',
  'stalled',
  'requeued',
  'cancelled',
  'succeeded',
  'failed',
  'timed_out',
  'dead_lettered',
  'compensating',
  'reopened',
  'progressed',
  'checkpointed',
  'recorded',
  'signal_stored',
  'cancel_requested',
  'rescheduled',
  'replaced',
  'compensated',
] as const
