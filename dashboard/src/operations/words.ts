/** What operations do, in words. */
import type { Action, Operation, OperationCount } from '../api/operations.ts'
import type { Session } from '../api/session.tsx'
import { count, plural } from '../words/format.ts'

interface ActionWords {
  /** On a button, before a number of jobs. */
  readonly verb: string
  /** After "would be". */
  readonly done: string
  readonly means: string
}

export const ACTION_WORDS: Readonly<Record<Action, ActionWords>> = {
  redrive: {
    verb: 'Redrive',
    done: 'redriven',
    means: 'reopened, with fresh budgets; where its document’s endings are final, a new job takes its place',
  },
  cancel: { verb: 'Cancel', done: 'cancelled', means: 'what lives ends; handlers are told, and may clean up' },
  purge: { verb: 'Purge', done: 'purged', means: 'removed for good, with log, bodies and keys' },
}

export const ALL_ACTIONS = Object.keys(ACTION_WORDS) as readonly Action[]

/** Why somebody may not; undefined where they may. What is purged is gone, and takes an admin. */
export const forbiddenTo = ({ can, scope }: Session, action: Action): string | undefined =>
  can('startOperation') && (action !== 'purge' || scope === 'admin')
    ? undefined
    : `Your token is of scope ${scope}, which may not ${action} many jobs.`

export const titleOf = ({ action, dryRun }: Pick<Operation, 'action' | 'dryRun'>): string =>
  dryRun ? `${ACTION_WORDS[action].verb}, counted only` : ACTION_WORDS[action].verb

/** How it stands, or what came of it. */
export function sentenceOf({ action, dryRun, endedAt, state, report, error, canary }: Operation): string {
  const { matched, done, refused } = report
  const { done: doneWord } = ACTION_WORDS[action]
  const no = refused === 0 ? '' : ` ${plural(refused, 'job was', 'jobs were')} refused.`
  if (dryRun) return endedAt === undefined ? 'Counts.' : `${plural(matched, 'job')} would be ${doneWord}.`
  if (endedAt === undefined) {
    const waits = canary !== undefined && report.canaries.length > 0 && done <= report.canaries.length
    if (waits) return `${plural(report.canaries.length, 'job')} went first; the others wait until they have succeeded.`
    return `${plural(done, 'job')} ${doneWord} so far.${no}`
  }
  const sum = `${plural(done, 'job')} ${doneWord}.${no}`
  if (error !== undefined) return `${sum} Then it ended: ${error.message}`
  return state === 'cancelled' ? `${sum} Then it was stopped; the others stay as they are.` : sum
}

/** What would come of it, outcome by outcome. */
export const foreseenIn = ({ foreseen = [] }: Operation['report']): string =>
  foreseen.map(({ outcome, count: n }) => (FORESEEN[outcome] ?? refusedAs(outcome))(count(n), n === 1)).join(', ')

type Saying = (n: string, isOne: boolean) => string

const FORESEEN: Readonly<Record<string, Saying>> = {
  ends: (n, isOne) => `${n} ${isOne ? 'ends' : 'end'} at once`,
  undoes: (n, isOne) => `${n} ${isOne ? 'undoes its' : 'undo their'} steps first`,
  told: (n, isOne) => `${n} ${isOne ? 'is' : 'are'} told, and may clean up`,
  reopened: (n, isOne) => `${n} ${isOne ? 'is' : 'are'} reopened`,
  replaced: (n, isOne) => `${n} ${isOne ? 'is replaced by a new job' : 'are replaced by new jobs'}`,
  removed: (n, isOne) => `${n} ${isOne ? 'is' : 'are'} removed`,
}

const refusedAs =
  (code: string): Saying =>
  (n, isOne) =>
    `${n} ${isOne ? 'is' : 'are'} refused: ${code}`

/** The counts of a report under one name: by state, by type. */
export function summed(
  counts: readonly OperationCount[],
  name: (count: OperationCount) => string | undefined,
): readonly (readonly [name: string, count: number])[] {
  const sums = new Map<string, number>()
  for (const each of counts) {
    const key = name(each)
    if (key !== undefined) sums.set(key, (sums.get(key) ?? 0) + each.count)
  }
  return [...sums].sort(([, a], [, b]) => b - a)
}
