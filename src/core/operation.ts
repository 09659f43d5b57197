/**
 * Operations: one thing that is done to all jobs that a search finds. An operation is a job itself, of a type and in a queue
 * that are pawl's own. This is what may be asked, to which jobs it may be done, and when a canary has sung.
 */
import { assert } from './assert.ts'
import {
  deadLetterStates,
  type Failure,
  isEnded,
  type Job,
  type JobId,
  type Progress,
  type State,
  SUCCESSFUL_STATES,
  TERMINAL_STATES,
  type Time,
} from './job.ts'
import type { Policy } from './policy.ts'
import { isIn } from './recast.ts'
import { isReserved } from './reserved.ts'
import { resolvePolicy } from './resolve.ts'
import { statesBefore } from './transitions.ts'

export const OPERATIONS_QUEUE = 'pawl.operations'
export const OPERATION_TYPE = 'pawl.operation'

/** As long as it takes, through restarts and outages: what was done is not done again. */
export const OPERATION_POLICY: Policy = policyOf()

function policyOf(): Policy {
  const resolved = resolvePolicy({
    timeout: '30d',
    retry: { attempts: 100, stalls: 1_000, base: '1s', max: '60s' },
    onExhausted: 'failed',
    onInvalid: 'failed',
  })
  assert(resolved.ok, 'our own policy keeps the rules')
  return resolved.policy
}

export const ACTIONS = ['redrive', 'cancel', 'purge'] as const
export type Action = (typeof ACTIONS)[number]

export interface Canary {
  /** So many are redriven first; the others only where all of these succeed. */
  readonly first: number
  readonly withinMs: number
}

/** What takes the place of a job's input: a text, or what a merge patch (RFC 7396) makes of it. */
export type Edit = { readonly input: string } | { readonly patch: string }

/** What an operation is to do. It is the input of its job, and stays as it was asked for. */
export interface OperationSpec {
  readonly action: Action
  /** In the grammar of searches. */
  readonly query: string
  /** Look only, and count. */
  readonly dryRun: boolean
  /** Who asks: what is done to each job is done in this name. */
  readonly by: string
  /** The only queues that whoever asks may touch; undefined for all. */
  readonly queues: readonly string[] | undefined
  readonly reason: string | undefined
  /** Of a redrive. */
  readonly canary: Canary | undefined
  readonly edit: Edit | undefined
  /** Of a cancel. */
  readonly mode: 'soft' | 'hard'
}

/** States it is done in where the search names none, and all it can be done in. */
const STATES_OF: Readonly<Record<Action, { readonly unsaid: readonly State[]; readonly most: readonly State[] }>> = {
  redrive: { unsaid: deadLetterStates(false), most: statesBefore('reopen') },
  cancel: { unsaid: statesBefore('cancel'), most: statesBefore('cancel') },
  purge: { unsaid: TERMINAL_STATES, most: TERMINAL_STATES },
}

export const mostStatesOf = (action: Action): readonly State[] => STATES_OF[action].most

/** Empty where it can be done in none of those that are asked for. */
export const statesFor = (action: Action, asked: readonly State[] | undefined): readonly State[] =>
  asked === undefined ? STATES_OF[action].unsaid : asked.filter((state) => STATES_OF[action].most.includes(state))

/** An operation is not done to operations, nor to what whoever asks may not touch. */
export const isWithin = ({ queues }: Pick<OperationSpec, 'queues'>, job: Job): boolean =>
  !isReserved(job.spec.kind.queue) && isIn(job, queues)

export type Song =
  | { readonly sung: false }
  /** Those that did not succeed, the one that is gone among them. */
  | { readonly sung: true; readonly silent: readonly JobId[] }

/** Sung as soon as one of them has not succeeded, or all have. */
export function songOf(canaries: readonly JobId[], jobs: readonly (Job | undefined)[]): Song {
  const silent = canaries.filter((_, i) => {
    const job = jobs[i]
    return job === undefined || (isEnded(job) && !SUCCESSFUL.has(job.state))
  })
  const isOver = jobs.every((job) => job === undefined || isEnded(job))
  return silent.length > 0 || isOver ? { sung: true, silent } : { sung: false }
}

const SUCCESSFUL: ReadonlySet<State> = new Set(SUCCESSFUL_STATES)

export interface OperationReport {
  /** Jobs that the search found. */
  readonly matched: number
  /** Of them, those it was done to: reopened or enqueued anew, asked to stop or cancelled, removed. */
  readonly done: number
  readonly refused: number
  /** What was found, the most frequent first; what is rare may be left out. */
  readonly counts: readonly Count[]
  /** What would come of it, by what the records said when they were counted. Absent where it was counted before there was this. */
  readonly foreseen?: readonly ForeseenCount[]
  /** The first of those that were refused. */
  readonly refusals: readonly RefusedJob[]
  /** Jobs that ran first. */
  readonly canaries: readonly JobId[]
}

export interface ForeseenCount {
  /** `ends`, `undoes`, `told`, `reopened`, `replaced`, `removed`, or the code of a refusal. */
  readonly outcome: string
  readonly count: number
}

export interface Count {
  readonly type: string
  readonly state: State
  readonly reason: string | undefined
  readonly code: string | undefined
  readonly count: number
}

export interface RefusedJob {
  readonly id: JobId
  readonly code: string
  readonly message: string
}

/** An operation as it is told. */
export interface OperationStatus {
  readonly id: JobId
  readonly tenant: string
  readonly state: State
  /** What it is to do, but for an edited input, of which only is told that there is one. */
  readonly spec: Omit<OperationSpec, 'edit'> & { readonly isEdited: boolean }
  readonly askedAt: Time
  readonly endedAt: Time | undefined
  readonly progress: Progress | undefined
  /** As of its last step. */
  readonly report: OperationReport
  /** Why it ended, where it did not succeed. */
  readonly error: Failure | undefined
}
