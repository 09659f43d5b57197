/**
 * Letting in, as the port's methods need it. What makes room or brings a job has it looked at right away, and is answered when that
 * is done: so nobody waits for the ticker unless a process died in between.
 */
import { placeMoveOf } from '../../../core/flow/membership.ts'
import type { Job } from '../../../core/job.ts'
import type { Log } from '../../../system/log.ts'
import type { Change, Loaded, LoadItem, MoveChange, Verdict } from '../../store.ts'
import type { Statements } from '../connection/statements.ts'
import type { Kinds, Run } from '../names/kinds.ts'
import type { Sides } from '../names/sides.ts'
import type { Hints } from '../waiting/hints.ts'
import { isFlowing } from './flowing.ts'
import { Flows } from './flows.ts'
import { listOf, type Places, Rounds } from './rounds.ts'
import { lobbiesOf } from './views.ts'

export interface LettingParts {
  readonly run: Run
  readonly statements: Statements
  readonly kinds: Kinds
  readonly sides: Pick<Sides, 'knowLimited'>
  readonly log: Log
  /** By which claims that wait, in every process, are told of jobs that were let in. */
  readonly hints: () => Pick<Hints, 'work'>
}

/** Nearly no change does: then nothing is made of it. */
const mayFlow = (change: Change): boolean =>
  change.kind === 'key' ||
  change.kind === 'mend' ||
  (isMove(change) && (hasFlow(change.after) || hasFlow(change.spawn?.job)))

const isMove = (change: Change): change is MoveChange => change.kind === 'move'

const hasFlow = (job: Job | undefined): boolean => job?.spec.flow !== undefined

export class Letting {
  readonly flows: Flows
  readonly #parts: LettingParts
  readonly #rounds: Rounds
  #freeing: Promise<boolean> | undefined

  constructor(parts: LettingParts) {
    const { sides, log, hints } = parts
    this.#parts = parts
    this.flows = new Flows({ ...parts, limited: (queues) => sides.knowLimited(queues) })
    this.#rounds = new Rounds({
      ...parts,
      failed: (error) => log.warn('letting in has failed, and is tried again', { reason: String(error) }),
      tell: (letIn, jobs) => {
        const limited = letIn.map((side) => ({ ...side, limited: true }) as const)
        hints().work(limited, jobs)
      },
    })
  }

  /** Looks at whatever has come or is due. Answers whether there is more. */
  tick(): Promise<boolean> {
    return this.#rounds.tick()
  }

  /** New jobs are held. */
  async arrived(jobs: readonly Job[]): Promise<void> {
    await this.look(this.arrivals(jobs))
  }

  /** Where jobs that are held from now on are looked for. */
  arrivals(jobs: readonly Job[]): Places {
    return { flows: jobs.flatMap((job) => this.flows.of(job)?.id ?? []) }
  }

  async look(places: Places): Promise<void> {
    await this.#rounds.look(places)
  }

  /** Jobs that stood were claimed: their lanes have room. Nobody waits for it; what it does not get to is the ticker's. */
  async claimed(jobs: readonly Job[]): Promise<void> {
    await this.flows.intern(jobs.map((job) => ({ job })))
    await this.#rounds.look({ lanes: jobs.flatMap((job) => this.flows.of(job)?.lane ?? []) })
  }

  /** Jobs have moved, and others wait at one of their keys: looked at for all who were told of it by one statement, each of whom waits for it (`committed`). */
  waitedFor(jobs: readonly Job[]): void {
    this.#freeing = this.#rounds.look({ keys: jobs.flatMap((job) => this.flows.of(job)?.keys ?? []) })
  }

  /** The same of keys by their numbers, as the database tells them. */
  waitedAt(keys: string): void {
    this.#freeing = this.#rounds.look({ keys: listOf(keys) })
  }

  async committed(changes: readonly Change[], verdicts: readonly Verdict[]): Promise<void> {
    if (!changes.some(mayFlow)) return
    const applied = changes.filter((_, i) => verdicts[i]?.status === 'applied')
    if (applied.some(({ kind }) => kind === 'key' || kind === 'mend')) await this.#rounds.tick()
    const moves = applied.filter(isMove)
    const { keys, lanes, flows } = this.#placesOf(
      moves,
      ({ flow, spent }) => spent !== undefined || typeof flow?.next === 'object',
    )
    const isAny = keys.length + lanes.length + flows.length > 0
    await Promise.all([this.#freeing, isAny ? this.look({ keys, lanes, flows }) : undefined])
  }

  /** Where to look once the caller's transaction with these changes is committed. Who waits at their keys is known then: so at all of them. */
  afterwards(changes: readonly Change[], verdicts: readonly Verdict[]): Places {
    const applied = changes.filter((_, i) => verdicts[i]?.status === 'applied')
    return this.#placesOf(applied.filter(isMove), () => true)
  }

  #placesOf(moves: readonly MoveChange[], isFreeing: (move: MoveChange) => boolean) {
    const flowing = moves.filter(isFlowing)
    const stood = flowing.filter(({ before }) => before.lease === undefined)
    const held = moves.flatMap(({ before, after, spawn }) => [
      ...(placeMoveOf(before, after) === 'hold' ? [after] : []),
      ...(spawn === undefined ? [] : [spawn.job]),
    ])
    return {
      keys: flowing.filter(isFreeing).flatMap(({ after }) => this.flows.of(after)?.keys ?? []),
      lanes: stood.flatMap(({ after }) => this.flows.of(after)?.lane ?? []),
      flows: held.flatMap((job) => this.flows.of(job)?.id ?? []),
    }
  }

  /** What was loaded, with what holds those that it was asked of. */
  async withLobbies(
    items: readonly LoadItem[],
    found: readonly (Loaded | undefined)[],
  ): Promise<readonly (Loaded | undefined)[]> {
    const isAsked = (i: number) => items[i]?.flow === true
    const jobs = found.flatMap((each, i) => (each !== undefined && isAsked(i) ? [each.job] : []))
    if (jobs.length === 0) return found
    const lobbies = await lobbiesOf(this.#parts, this.flows, jobs)
    return found.map((each, i) =>
      each === undefined || !isAsked(i) ? each : { ...each, flow: lobbies.get(each.job.id) },
    )
  }

  async close(): Promise<void> {
    await this.#rounds.close()
  }
}
