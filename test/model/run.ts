/**
 * The proof: `node test/model/run.ts [--gate | --deep] [name of a configuration or a mutant …]`.
 *
 * A model checker around the shipped `decide`, `decideTick` and `evolve`. It knows the core only through them, reaches
 * every state of a number of small worlds breadth first, and stops at the first thing that must never happen, with a
 * shortest way to it.
 *
 * Modelled: one or two jobs; workers that all have the same worker id and believe in a fence until they die, so that
 * every zombie there can be is there; owner's words as messages that are delayed, overtaken, delivered twice or lost;
 * claims whose answer is lost; a ticker that comes late or never; reapers, users, operators and admission speaking at
 * any moment; leases, deadlines, limits and waits that run out at any moment; processes whose clock is behind the
 * store's; the key table of a store. The store itself is taken at its word (compare-and-swap on the revision, the
 * lease end checked by its own clock), so load, decide and commit are one step: the conformance suite proves that.
 *
 * Time is abstract: every clock of a policy is a few units long, and a world moves one unit at a time or not at all.
 * A record is rebased so that now is always the same instant, and forgets what can no longer matter (unit.ts lists it);
 * each pair of record and word is therefore decided, and judged, once. Jobs, workers and messages are interchangeable.
 *
 * Bounded: claims, reopenings, inbox, steps and messages per world (configuration.ts). Nothing bounds how a job ends:
 * from every record reached, five fair futures are followed beyond those bounds to the end (liveness.ts).
 *
 * Not modelled: bodies and their removal, counters, progress, priorities and lanes, jitter, compaction, more than two jobs at a time, and
 * whatever is not core.
 *
 * Keys have worlds of their own: `keys` reaches every state of one key that so many steps lead to and heals each; `hall` walks at
 * random through a store in a few lines that asks the core whom to let in, and heals at the end, and some from each of their states;
 * `accounts` goes through every small crowd of two accounts, and counts their turns; `ageing` floods what others wait behind. All know
 * the core only through its functions (flow/flow-core.ts) and judge F1–F13 by books of their own. What a store must do beside
 * what the core tells it are habits (flow/habits.ts), so that it has mutants as well.
 *
 * The protocol of Redis with a Postgres ledger (`src/store/ledger`) has a world of its own: two servers, two processes, two jobs and
 * one key. `ledger` reaches every state that so many steps (4 in the gate, 5, 6 in soak) lead to from thirteen beginnings, `ledger-walks`
 * goes on at random from there, and at its end heals. Servers are flushed, restarted with and without their last entries, taken back
 * unnoticed, promoted while the old master goes on, demoted; processes die anywhere; calls and shipments arrive late or never; servers
 * are loaded in place, page by page, or catch up; ended jobs leave and come back, each by an entry; the ledger folds, also late, and
 * forgets. What is judged stands in ledger/checks.ts. Not modelled: what entries say (a setting is a job with other words), the bounds
 * of the log, its trimming in Redis (what the ledger has is not asked of it again), and a ledger that loses its own tail.
 *
 * Judged on every step: I1–I8 and I10 by core's own functions and, independently, by books the model keeps from the
 * events alone (ghost.ts); the transition table; the fold; repetitions and refusals, which may not touch the record;
 * I12 on every world; I15 from every record. That the judge can judge is shown by the mutants (mutants.ts): each is a
 * small defect in a copy of the sources, and each must be found, but for those that only take away what is there for speed.
 */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Scale } from './configuration.ts'
import { MUTANTS } from './mutants.ts'
import type { Report, Task } from './part.ts'
import { isHarmless, printReport, printRows, printTotal, type Total } from './print.ts'
import { SUBJECTS } from './subject.ts'

const scale: Scale = process.argv.includes('--gate') ? 'gate' : process.argv.includes('--deep') ? 'deep' : 'full'
const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const STATES_MAX: Readonly<Record<Scale, number>> = { gate: 200_000, full: 2_000_000, deep: 3_000_000 }
const PARTS = Math.min(2, availableParallelism())

const since = performance.now()
const total: Total = { states: 0, edges: 0, violations: 0, right: 0, mutants: 0, seconds: 0 }
const unknown = names.filter((name) => ![...SUBJECTS, ...MUTANTS].some((one) => one.name === name))
if (unknown.length > 0) console.log(`neither a configuration nor a mutant: ${unknown.join(', ')}`)
const rows = new Set<string>()
const tasks = plan()
await Promise.all(Array.from({ length: PARTS }, work))
total.seconds = (performance.now() - since) / 1_000
if (total.states > 0) printRows(rows)
printTotal(total)
process.exitCode = total.violations > 0 || total.right < total.mutants || unknown.length > 0 ? 1 : 0

/** The shipped sources first, then the mutants. */
function plan(): Task[] {
  const wanted = ({ name }: { readonly name: string }): boolean => names.length === 0 || names.includes(name)
  const statesMax = STATES_MAX[scale]
  return [
    ...SUBJECTS.filter(wanted).map(({ name }) => ({ kind: 'configuration', name, scale, statesMax }) as const),
    ...MUTANTS.filter(wanted).map(({ name }) => ({ kind: 'mutant', name, statesMax: STATES_MAX.gate }) as const),
  ]
}

/** One thread, fed until nothing is left. */
async function work(): Promise<void> {
  const limits = { maxOldGenerationSizeMb: 6_144 }
  const worker = new Worker(new URL('./part.ts', import.meta.url), { resourceLimits: limits })
  for (let task = tasks.shift(); task !== undefined; task = tasks.shift()) {
    const report = await answered(worker, task)
    printReport(report)
    count(report)
  }
  await worker.terminate()
}

function answered(worker: Worker, task: Task): Promise<Report> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject)
    worker.once('message', (report: Report) => {
      worker.off('error', reject)
      resolve(report)
    })
    worker.postMessage(task)
  })
}

function count({ task, exploration }: Report): void {
  const found = exploration?.counterexample !== undefined
  if (task.kind === 'mutant') {
    total.mutants += 1
    if (isHarmless(task.name) ? exploration !== undefined && !found : found) total.right += 1
    return
  }
  for (const row of exploration?.rows ?? []) rows.add(row)
  total.states += exploration?.states ?? 0
  total.edges += exploration?.edges ?? 0
  // What could not be explored proves nothing.
  if (found || exploration === undefined) total.violations += 1
}
