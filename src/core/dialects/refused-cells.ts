/**
 * What a document refuses of the jobs bound to it, cell by cell: for whoever shows what may be done, and must not offer what would be
 * refused. What a word is said with may be refused besides.
 */
import { STATES, type State } from '../job.ts'
import { MACHINE } from '../transitions.ts'
import { COMMANDS, type CommandType } from '../verb.ts'
import type { Dialect, Reach } from './dialect.ts'
import { reachesIn } from './reach.ts'
import { refusedAt, refusedDenial } from './strict.ts'

/** Why: in every state, or by the state and how far a job in it has come. What is not in here is not refused. */
export type RefusedCells = string | Readonly<Partial<Record<State, Readonly<Partial<Record<Reach, string>>>>>>

export function refusedCells(dialect: Dialect): Readonly<Partial<Record<CommandType, RefusedCells>>> {
  const known = COMMANDS.filter((command) => command !== 'enqueue')
  const all = known.map((command) => [command, cellsOf(dialect, command)] as const)
  return Object.fromEntries(all.filter(([, cells]) => Object.keys(cells).length > 0))
}

function cellsOf(dialect: Dialect, command: CommandType): RefusedCells {
  const all = STATES.map((state) => [state, byReach(dialect, command, state)] as const)
  const whys = new Set(all.flatMap(([state, cells]) => reachesIn(state).map((far) => cells[far])))
  const [why] = whys
  if (whys.size === 1 && why !== undefined) return why
  return Object.fromEntries(all.filter(([, cells]) => Object.keys(cells).length > 0))
}

const byReach = (dialect: Dialect, command: CommandType, state: State): Readonly<Partial<Record<Reach, string>>> =>
  Object.fromEntries(
    reachesIn(state).flatMap((far) => {
      const why = whyAt(dialect, command, state, far)
      return why === undefined ? [] : [[far, why]]
    }),
  )

/** A job may be denied before anybody has claimed it: elsewhere the machine says no. */
const whyAt = (dialect: Dialect, command: CommandType, state: State, far: Reach): string | undefined =>
  refusedAt(dialect, command, state, far) ??
  (command === 'deny' && isDeniable(state) ? refusedDenial(dialect, state) : undefined)

const isDeniable = (state: State): boolean => MACHINE.deny[state] !== undefined
