import type { NewJob } from '../../store.ts'

/** Jobs with limits are refused before anything is written. */
export function mustHaveNoFlow(items: readonly NewJob[]): void {
  if (items.some(({ flow }) => flow !== undefined))
    throw new Error('pawl: a Postgres store has no limits yet: open a store in memory for jobs that have them.')
}
