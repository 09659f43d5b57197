import type { Job, Time } from '../../core/job.ts'
import type { Lane } from '../store.ts'
import { Agenda } from './agenda.ts'

/** Jobs that may be claimed, by lane and side lane. An empty lane is not kept. */
export class Lanes {
  readonly #main = new Map<string, Agenda>()
  /** Side lanes by lane, then by need. */
  readonly #side = new Map<string, Map<string, Agenda>>()

  /** In the order of `at`, then of `number`. Undefined: it stands in no lane. */
  enter(job: Job, at: Time | undefined, number: number): void {
    if (at === undefined) return
    const name = laneName(laneOf(job))
    if (job.needs === undefined) agendaIn(this.#main, name).set(job.id, at, number)
    else {
      const beside = this.#side.get(name) ?? new Map<string, Agenda>()
      this.#side.set(name, beside)
      agendaIn(beside, job.needs).set(job.id, at, number)
    }
  }

  leave(job: Job): void {
    const name = laneName(laneOf(job))
    if (job.needs === undefined) return takeOff(this.#main, name, job)
    const beside = this.#side.get(name)
    if (beside === undefined) return
    takeOff(beside, job.needs, job)
    if (beside.size === 0) this.#side.delete(name)
  }

  get isEmpty(): boolean {
    return this.#main.size === 0 && this.#side.size === 0
  }

  main(lane: Lane): Agenda | undefined {
    return this.#main.get(laneName(lane))
  }

  /** The side lanes of a lane, by need. */
  beside(lane: Lane): ReadonlyMap<string, Agenda> {
    return this.#side.get(laneName(lane)) ?? NONE
  }

  *all(): Generator<Agenda> {
    yield* this.#main.values()
    for (const beside of this.#side.values()) yield* beside.values()
  }
}

function agendaIn(agendas: Map<string, Agenda>, name: string): Agenda {
  const agenda = agendas.get(name) ?? new Agenda()
  agendas.set(name, agenda)
  return agenda
}

function takeOff(agendas: Map<string, Agenda>, name: string, { id }: Job): void {
  agendas.get(name)?.remove(id)
  if (agendas.get(name)?.first() === undefined) agendas.delete(name)
}

const NONE: ReadonlyMap<string, Agenda> = new Map()

const laneName = ({ tenant, queue, priority }: Lane): string => JSON.stringify([tenant, queue, priority])

const laneOf = ({ spec, priority }: Job): Lane => ({ tenant: spec.kind.tenant, queue: spec.kind.queue, priority })
