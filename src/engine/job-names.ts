import type { Job, JobId } from '../core/job.ts'
import type { LoadItem } from '../store/store.ts'
import type { Engine } from './engine.ts'
import type { Whose } from './sealing.ts'

/** How a caller names a job: by its id, or with its tenant by the id its producer chose. */
export interface Called {
  readonly id: JobId
  readonly tenant?: string | undefined
}

export const calledAs = ({ id, tenant }: Called): string => (tenant === undefined ? id : `${id}\n${tenant}`)

/** The name under which a job's texts are sealed. It never changes. */
export const whoseIs = ({ id, spec }: Pick<Job, 'id' | 'spec'>): Whose => ({
  tenant: spec.kind.tenant,
  job: spec.alias ?? id,
})

/** Jobs that are remembered; others are looked up when a word names them. */
const REMEMBERED = 50_000

/** Remembers for each name of a job the tenant, type and id that its texts are bound to. */
export class JobNames {
  readonly #engine: Pick<Engine, 'load'>
  readonly #known = new Map<string, Whose>()

  constructor(engine: Pick<Engine, 'load'>) {
    this.#engine = engine
  }

  remember(name: string, job: Job): void {
    if (this.#known.has(name)) return
    if (this.#known.size >= REMEMBERED) this.#known.delete(this.#known.keys().next().value as string)
    this.#known.set(name, whoseIs(job))
  }

  /** Keyed by `calledAs`; names of no job are left out. */
  async of(jobs: readonly Called[]): Promise<ReadonlyMap<string, Whose>> {
    const found = new Map<string, Whose>()
    const unknown = new Map<string, LoadItem>()
    for (const { id, tenant } of jobs) {
      const name = calledAs({ id, tenant })
      const whose = this.#known.get(name)
      if (whose === undefined) unknown.set(name, { id, tenant })
      else found.set(name, whose)
    }
    if (unknown.size === 0) return found
    const { items } = await this.#engine.load([...unknown.values()])
    for (const [i, name] of [...unknown.keys()].entries()) {
      const job = items[i]?.job
      if (job === undefined) continue
      this.remember(name, job)
      found.set(name, whoseIs(job))
    }
    return found
  }
}
