/**
 * What is judged, from logs and from what callers were told, by no function of the protocol:
 *
 *   prefix    each entry of the ledger goes on from the one before it
 *   answered  what a caller was told is done is in the ledger; what a caller was told came to nothing never gets there
 *   look      what a caller was told it saw is what the ledger says of that moment, and that is not before the call
 *   owner     each entry is what a script would have written on what the ledger had: one owner, one holder of the key
 *   hot       a server that the ledger would take entries from has what the ledger has, and its own entries since
 *   clock     it does not go back
 *   fold      the tables are the log up to where it was folded
 */
import { must } from '../breach.ts'
import { applied, describeJobs, isLegal, type Jobs, NO_JOBS, sameJobs, type Written } from './jobs.ts'
import type { Call, Server, World } from './world.ts'

export function judge(world: World): void {
  const { ledger, refused } = world
  const all = judgeLog(ledger.log)
  for (const name of refused)
    must(!ledger.log.some((entry) => entry.name === name), 'answered', `${name} came to nothing, and is in the ledger`)
  must(ledger.head.seq === ledger.log.length, 'prefix', `the head is ${ledger.head.seq}`)
  const folded = foldOf(ledger.log, ledger.folded)
  must(
    sameJobs(folded, ledger.fold),
    'fold',
    `the tables say ${describeJobs(ledger.fold)}, the log ${describeJobs(folded)}`,
  )
  must(
    ledger.keptFrom <= ledger.folded + 1,
    'fold',
    `what was folded up to ${ledger.folded} is kept from ${ledger.keptFrom}`,
  )
  for (const server of world.servers) judgeServer(world, server, all)
}

function judgeLog(log: readonly Written[]): Jobs {
  let state = NO_JOBS
  let last = { seq: 0, name: '-', at: 0 }
  for (const entry of log) {
    const { seq, name, prev, at } = entry
    must(seq === last.seq + 1 && prev === last.name, 'prefix', `${name} (${seq}, after ${prev}) follows ${last.name}`)
    must(isLegal(state, entry), 'owner', `${name} is written over ${describeJobs(state)}`)
    must(at >= last.at, 'clock', `${name} is of ${at}, the one before of ${last.at}`)
    state = applied(state, entry)
    last = entry
  }
  return state
}

/** Of a server whose next entry would be taken. */
function judgeServer({ ledger }: World, { db }: Server, all: Jobs): void {
  if (db === undefined || db.meta.epoch !== ledger.epoch || db.meta.copy === 0) return
  let expected = all
  let last = ledger.head
  for (const entry of db.log) {
    if (entry.seq <= ledger.head.seq) continue
    if (entry.seq !== last.seq + 1 || entry.prev !== last.name) return
    expected = applied(expected, entry)
    last = entry
  }
  if (last.name !== db.meta.head.name) return
  must(
    sameJobs(db.hot, expected),
    'hot',
    `a server has ${describeJobs(db.hot)}, and by its log ${describeJobs(expected)}`,
  )
}

export function judgeChange({ ledger }: World, { name }: Call): void {
  must(
    ledger.log.some((entry) => entry.name === name),
    'answered',
    `${name} is done, and not in the ledger`,
  )
}

export function judgeLook({ ledger }: World, { seq, name, saw, looked }: Call): void {
  const at = seq ?? 0
  must(at === 0 || ledger.log[at - 1]?.name === name, 'look', `what was seen is not in the ledger: ${name}`)
  const then = foldOf(ledger.log, at)
  must(sameJobs(saw, then), 'look', `${describeJobs(saw)} was seen, the ledger says ${describeJobs(then)}`)
  must(at >= looked.seq, 'look', `what was seen at ${at} was over when the call began, at ${looked.seq}`)
}

const foldOf = (log: readonly Written[], to: number): Jobs => log.slice(0, to).reduce(applied, NO_JOBS)
