/** Which changes of a batch go abreast, in one statement, and which wait for others of the same batch. */
import type { Change, KeyMove } from '../../store.ts'

/** What changes abreast must not share: a job, or a flow key of which both set something. */
function jobOf(change: Change): string {
  if (change.kind === 'key') return keyName(change.tenant, change.move.key)
  // As the changes of its tenant's keys are: a name that no job has.
  if (change.kind === 'mend') return keyName(change.tenant, '')
  return change.kind === 'annotate' ? change.annotation.jobId : change.before.id
}

export function distinct(changes: readonly Change[]): boolean {
  if (changes.length === 1) return true
  const ids = new Set<string>()
  for (const change of changes) ids.add(jobOf(change))
  return ids.size === changes.length
}

/**
 * Of each job the first change: what comes after one that has to wait waits, too. Of a flow key those that follow each other from
 * revision to revision, and before them any number that only compare it: a backlog of ends under one key is one statement.
 */
export function firstPerJob(changes: readonly Change[], places: readonly number[]): readonly number[] {
  const jobs = new Set<string>()
  const keys = new Map<string, KeyInRound>()
  return places.filter((i) => {
    const change = changes[i] as Change
    const id = jobOf(change)
    const { name, move } = keyMoveOf(change) ?? {}
    const isFirst = !jobs.has(id)
    jobs.add(id)
    if (name === undefined || move === undefined) return isFirst
    const before = keys.get(name)
    const goes = isFirst && maySay(change, move, before)
    const rev = !goes || change.kind === 'key' ? 'waited for' : move.next === 'same' ? before?.rev : move.rev + 1
    keys.set(name, { rev })
    return goes
  })
}

/** Of a key that a change of this round names: the revision it is brought to; undefined where it is only compared. */
interface KeyInRound {
  readonly rev: number | 'waited for' | undefined
}

/** What somebody sets for a key goes before all moves of a round: it waits for those that came before it. */
function maySay({ kind }: Change, { rev, next }: KeyMove, before: KeyInRound | undefined): boolean {
  if (before === undefined) return true
  if (kind === 'key') return false
  return before.rev === undefined || (next !== 'same' && before.rev === rev)
}

function keyMoveOf(change: Change) {
  if (change.kind === 'key') return { name: keyName(change.tenant, change.move.key), move: change.move }
  if (change.kind !== 'move' || change.flow === undefined) return undefined
  return { name: keyName(change.before.spec.kind.tenant, change.flow.key), move: change.flow }
}

const keyName = (tenant: string, key: string): string => JSON.stringify([tenant, key])
