/**
 * How far an operation has come: kept with every step, so that an attempt after a crash goes on from there, and told to callers
 * meanwhile.
 *
 *   looking  jobs are counted, nothing is touched. Leaves when all were seen; a dry run ends there.
 *   acting   jobs of `intent` are about to be acted on, or have been. They are written down before: the attempt after a crash
 *            does it to the same jobs once more, under the same request ids, and each answers as it did.
 */
import type { Foreseen } from '../../core/foreseen.ts'
import type { Job, JobId, Time } from '../../core/job.ts'
import type { Count, ForeseenCount, OperationReport } from '../../core/operation.ts'
import type { Refusal } from '../../core/refusal.ts'

export interface Course {
  readonly phase: 'looking' | 'acting'
  /** Where the next page begins; undefined: at the beginning, or nowhere where `isThrough`. */
  readonly cursor: string | undefined
  readonly isThrough: boolean
  readonly intent: readonly JobId[]
  readonly report: OperationReport
  /** Jobs that the rest waits for, and since when all of them are on their way. */
  readonly canaries: readonly JobId[]
  readonly canariesSince: Time | undefined
}

export const NO_REPORT: OperationReport = {
  matched: 0,
  done: 0,
  refused: 0,
  counts: [],
  refusals: [],
  canaries: [],
}

export const BEGINNING: Course = {
  phase: 'looking',
  cursor: undefined,
  isThrough: false,
  intent: [],
  report: NO_REPORT,
  canaries: [],
  canariesSince: undefined,
}

const COUNTS_KEPT = 100
const REFUSALS_KEPT = 100

export interface Page {
  readonly jobs: readonly Job[]
  readonly cursor: string | undefined
}

/** `outcomeOf`: what would come of it for one of them; not asked where it is only counted what there is. */
export function looked(course: Course, { jobs, cursor }: Page, outcomeOf?: (job: Job) => Foreseen): Course {
  const { report } = course
  const seen = {
    ...course,
    report: {
      ...report,
      matched: report.matched + jobs.length,
      counts: counted(report.counts, jobs),
      ...(outcomeOf && { foreseen: summed(report.foreseen ?? [], jobs.map(outcomeOf)) }),
    },
  }
  return cursor === undefined ? { ...seen, phase: 'acting', cursor: undefined } : { ...seen, cursor }
}

export const intending = (course: Course, { jobs, cursor }: Page): Course => ({
  ...course,
  cursor,
  isThrough: cursor === undefined,
  intent: jobs.map(({ id }) => id),
})

/** What became of one job. */
export type Outcome = { readonly id: JobId; readonly refusal?: Refusal | undefined }

export function acted(course: Course, outcomes: readonly Outcome[]): Course {
  const { report } = course
  const refused = outcomes.flatMap(({ id, refusal }) =>
    refusal === undefined ? [] : [{ id, code: refusal.code, message: refusal.message }],
  )
  return {
    ...course,
    intent: [],
    report: {
      ...report,
      done: report.done + outcomes.length - refused.length,
      refused: report.refused + refused.length,
      refusals: [...report.refusals, ...refused].slice(0, REFUSALS_KEPT),
    },
  }
}

export const withCanaries = (course: Course, outcomes: readonly Outcome[]): Course => {
  const canaries = [...course.canaries, ...outcomes.filter(({ refusal }) => refusal === undefined).map(({ id }) => id)]
  return { ...course, canaries, report: { ...course.report, canaries } }
}

function summed(before: readonly ForeseenCount[], outcomes: readonly Foreseen[]): readonly ForeseenCount[] {
  const sums = new Map<string, number>(before.map(({ outcome, count }) => [outcome, count]))
  for (const outcome of outcomes) sums.set(outcome, (sums.get(outcome) ?? 0) + 1)
  return [...sums].map(([outcome, count]) => ({ outcome, count })).sort((a, b) => b.count - a.count)
}

function counted(counts: readonly Count[], jobs: readonly Job[]): readonly Count[] {
  const all = new Map(counts.map((row) => [nameOf(row), row]))
  for (const { spec, state, deadLetter, error } of jobs) {
    const row = { type: spec.kind.type, state, reason: deadLetter?.reason, code: error?.code }
    const name = nameOf(row)
    all.set(name, { ...row, count: (all.get(name)?.count ?? 0) + 1 })
  }
  return [...all.values()].sort((a, b) => b.count - a.count).slice(0, COUNTS_KEPT)
}

const nameOf = ({ type, state, reason, code }: Omit<Count, 'count'>): string =>
  JSON.stringify([type, state, reason, code])
