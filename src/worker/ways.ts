/**
 * Where each job runs: here, among others; in a cell, a process of its own; or here alone, with nothing else in the whole
 * process, for want of a cell. Core says which jobs must run apart, their type which of them always do.
 */
import type { Job } from '../core/job.ts'
import { runsApart } from '../core/suspicion.ts'
import type { Cells } from './apart/cells.ts'
import { handlerInCell } from './apart/handler-in-cell.ts'
import type { JobDefinition } from './definition.ts'
import { type Handler, handlerHere } from './handler.ts'

/** `isolated`: in a cell, as every job of its type; `cell`: in one this time. */
export type Way = 'here' | 'isolated' | 'cell' | 'alone'

export interface Placed {
  readonly way: Way
  readonly handler: Handler
}

/** Wraps a definition, as tracing does. */
export type Around = (definition: JobDefinition) => JobDefinition

interface Known {
  readonly definition: JobDefinition
  readonly here: Placed
  readonly alone: Placed
  readonly isolated: Placed | undefined
  readonly cell: Placed | undefined
}

export class Ways {
  readonly #known: ReadonlyMap<string, Known>
  readonly #cells: Cells | undefined

  constructor(definitions: readonly JobDefinition[], cells: Cells | undefined, around: Around) {
    this.#cells = cells
    this.#known = new Map(definitions.map((definition) => [definition.type, known(definition, cells, around)]))
  }

  /** How and where a job runs here; undefined where this worker has no handler for its type. */
  of(job: Job): Placed | undefined {
    const type = this.#known.get(job.spec.kind.type)
    if (type === undefined) return undefined
    const { definition, here, isolated, alone, cell } = type
    if (isolated !== undefined) return isolated
    if (!runsApart(job)) return here
    const importable = definition.module !== undefined && this.#cells?.serves(definition.module) === true
    return cell !== undefined && importable ? cell : alone
  }
}

function known(definition: JobDefinition, cells: Cells | undefined, around: Around): Known {
  const { module, isolate } = definition
  const here = handlerHere(around(definition))
  const inCell = cells === undefined || module === undefined ? undefined : handlerInCell(definition, cells, around)
  return {
    definition,
    here: { way: 'here', handler: here },
    isolated: isolate && inCell && { way: 'isolated', handler: inCell },
    cell: inCell && { way: 'cell', handler: inCell },
    alone: { way: 'alone', handler: here },
  }
}
