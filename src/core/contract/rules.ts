/**
 * The lifecycle contract of document 001 as data: statuses, the fields each of them demands, the operations and the
 * transitions they make. The validators and the dialect read the same tables.
 */
export const STATUSES = ['queued', 'claimed', 'running', 'succeeded', 'failed', 'stalled'] as const
export type ContractStatus = (typeof STATUSES)[number]

export const ACTIONS = [
  'enqueue',
  'claimNext',
  'start',
  'heartbeat',
  'complete',
  'fail',
  'stall',
  'requeueStalled',
] as const
export type Action = (typeof ACTIONS)[number]

/** `cleared`: the document says SHOULD where it says MUST for the others. */
export type Demand = 'present' | 'absent' | 'cleared'
export const RULED_FIELDS = ['owner', 'lease', 'result', 'error'] as const
export type RuledField = (typeof RULED_FIELDS)[number]

export const FIELD_RULES: Readonly<Record<ContractStatus, Readonly<Record<RuledField, Demand>>>> = {
  queued: { owner: 'absent', lease: 'absent', result: 'absent', error: 'absent' },
  claimed: { owner: 'present', lease: 'present', result: 'absent', error: 'absent' },
  running: { owner: 'present', lease: 'present', result: 'absent', error: 'absent' },
  succeeded: { owner: 'cleared', lease: 'cleared', result: 'present', error: 'absent' },
  failed: { owner: 'cleared', lease: 'cleared', result: 'absent', error: 'present' },
  stalled: { owner: 'absent', lease: 'absent', result: 'absent', error: 'absent' },
}

export interface ActionRule {
  readonly moves: readonly (readonly [from: ContractStatus | 'none', to: ContractStatus])[]
  /** The event type it appends. */
  readonly word: string
  readonly ownerOnly: boolean
  readonly attempt: 'zero' | 'plusOne' | 'same'
}

const rule = (
  word: string,
  moves: ActionRule['moves'],
  attempt: ActionRule['attempt'] = 'same',
  ownerOnly = false,
): ActionRule => ({ word, moves, attempt, ownerOnly })

export const ACTION_RULES: Readonly<Record<Action, ActionRule>> = {
  enqueue: rule('enqueued', [['none', 'queued']], 'zero'),
  claimNext: rule(
    'claimed',
    [
      ['queued', 'claimed'],
      ['stalled', 'claimed'],
    ],
    'plusOne',
  ),
  start: rule('started', [['claimed', 'running']], 'same', true),
  heartbeat: rule(
    'heartbeat',
    [
      ['claimed', 'claimed'],
      ['running', 'running'],
    ],
    'same',
    true,
  ),
  complete: rule('succeeded', [['running', 'succeeded']], 'same', true),
  fail: rule('failed', [['running', 'failed']], 'same', true),
  stall: rule('stalled', [
    ['claimed', 'stalled'],
    ['running', 'stalled'],
  ]),
  requeueStalled: rule('requeued', [['stalled', 'queued']]),
}
