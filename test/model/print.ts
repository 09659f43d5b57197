/** What a run says. */
import type { Counterexample } from './explore.ts'
import { allKeyRows } from './flow/explore-keys.ts'
import { allJoinRows } from './ledger/joins.ts'
import { MUTANTS } from './mutants.ts'
import type { Report } from './part.ts'
import { allRows } from './row.ts'
import { subjectNamed } from './subject.ts'

export interface Total {
  states: number
  edges: number
  violations: number
  /** Those that were killed, and of the harmless ones those that were not. */
  right: number
  mutants: number
  seconds: number
}

export const isHarmless = (name: string): boolean => MUTANTS.find((mutant) => mutant.name === name)?.isHarmless ?? false

export function printReport({ task, exploration, error, seconds }: Report): void {
  const took = `${seconds.toFixed(1)} s`
  if (exploration === undefined) {
    console.log(`${task.kind} ${task.name}: NOT EXPLORED, ${took}\n${error}`)
    return
  }
  const { states, edges, units, depth, complete, counterexample } = exploration
  if (task.kind === 'mutant') {
    const survived = isHarmless(task.name) ? `harmless in ${states} states` : `SURVIVED ${states} states`
    const verdict = counterexample === undefined ? survived : `killed by ${counterexample.rule}`
    console.log(`mutant ${task.name}: ${verdict}, ${took}`)
  } else {
    const reach = complete ? 'all of it' : `to depth ${depth}`
    console.log(`${task.name}: ${subjectNamed(task.name).about}`)
    console.log(`  ${states} states, ${edges} edges, ${units} records, ${reach}, ${took}`)
    if (counterexample !== undefined) console.log('  VIOLATED')
  }
  if (counterexample !== undefined) printCounterexample(counterexample)
}

function printCounterexample({ rule, what, steps }: Counterexample): void {
  for (const [i, step] of steps.entries()) console.log(`  ${String(i + 1).padStart(3)}  ${step}`)
  console.log(`       ${rule}: ${what}`)
}

/** Rows of a machine that no world has taken are not proved by it: they are named. */
export function printRows(taken: ReadonlySet<string>): void {
  const jobs = allRows().filter((row) => !row.startsWith('enqueue '))
  for (const [machine, all] of [
    ['jobs', jobs],
    ['keys', allKeyRows()],
    ['joins', allJoinRows()],
  ] as const) {
    const missing = all.filter((row) => !taken.has(row))
    console.log(`machine of ${machine}: ${all.length - missing.length} of ${all.length} rows taken`)
    for (const row of missing) console.log(`  not taken: ${row}`)
  }
}

export function printTotal({ states, edges, violations, right, mutants, seconds }: Total): void {
  const found = `${states} states, ${edges} edges, ${violations} violations`
  console.log(`model: ${found}, ${right}/${mutants} mutants judged right, ${seconds.toFixed(1)} s`)
}
