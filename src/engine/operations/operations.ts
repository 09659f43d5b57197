/** Operations as jobs: enqueued, found, told. What they do is elsewhere (`run.ts`), and so is who runs them. */
import { assert } from '../../core/assert.ts'
import { type Job, type JobId, type Kind, LIVE_STATES, PRIORITIES, type State } from '../../core/job.ts'
import {
  OPERATION_POLICY,
  OPERATION_TYPE,
  OPERATIONS_QUEUE,
  type OperationReport,
  type OperationSpec,
  type OperationStatus,
} from '../../core/operation.ts'
import type { Loaded } from '../../store/store.ts'
import type { Answer, Engine, EnqueueAnswer } from '../engine.ts'
import { findSome } from '../find-some.ts'
import { type Course, NO_REPORT } from './course.ts'

export interface OperationPage {
  readonly operations: readonly OperationStatus[]
  readonly cursor: string | undefined
}

type Around = Pick<Engine, 'enqueue' | 'settle' | 'find' | 'load' | 'events'>

export class Operations {
  readonly #engine: Around

  constructor(engine: Around) {
    this.#engine = engine
  }

  async start(tenant: string, spec: OperationSpec, requestId: string): Promise<EnqueueAnswer> {
    const kind: Kind = { tenant, queue: OPERATIONS_QUEUE, type: OPERATION_TYPE, policy: OPERATION_POLICY }
    const input = JSON.stringify(spec)
    const request = { kind, input, requestId, actor: spec.by, priority: PRIORITIES.normal }
    const [answer] = await this.#engine.enqueue([request])
    assert(answer !== undefined, 'every request is answered')
    return answer
  }

  /** It stops before its next page: what was done to jobs stays done. */
  async cancel(tenant: string, id: JobId, by: string, requestId: string): Promise<Answer> {
    const command = { type: 'cancel', mode: 'soft', actor: by, requestId } as const
    const [answer] = await this.#engine.settle([{ id, tenant, command }])
    assert(answer !== undefined, 'every word is answered')
    return answer
  }

  async find(tenant: string, id: JobId): Promise<OperationStatus | undefined> {
    const [status] = await this.#told(tenant, [id])
    return status
  }

  /** Newest first. */
  async page(tenant: string, cursor: string | undefined, limit: number): Promise<OperationPage> {
    const query = {
      tenant,
      queues: [OPERATIONS_QUEUE],
      types: [OPERATION_TYPE],
      order: 'newest',
      limit,
      cursor,
    } as const
    const page = await findSome(this.#engine, query)
    const ids = page.jobs.map(({ id }) => id)
    return { operations: await this.#told(tenant, ids), cursor: page.cursor }
  }

  /** Tenants that have operations which have not ended; `tenant`: whether that one has. */
  async tenantsAtWork(tenant: string | undefined): Promise<ReadonlySet<string>> {
    const { tally } = await this.#engine.events({ by: 'tally', tenant, queue: OPERATIONS_QUEUE })
    return new Set(tally.filter(isAtWork).map((row) => row.tenant))
  }

  async #told(tenant: string, ids: readonly JobId[]): Promise<readonly OperationStatus[]> {
    if (ids.length === 0) return []
    const { items } = await this.#engine.load(ids.map((id) => ({ id, tenant, bodies: BODIES })))
    return items.flatMap((item) => (item !== undefined && isOperation(item.job) ? [statusOf(item)] : []))
  }
}

const BODIES = ['input', 'checkpoint', 'output']
const LIVE: ReadonlySet<State> = new Set(LIVE_STATES)

const isAtWork = (row: { readonly queue: string; readonly state: State; readonly count: number }): boolean =>
  row.queue === OPERATIONS_QUEUE && LIVE.has(row.state) && row.count > 0

const isOperation = ({ spec }: Job): boolean =>
  spec.kind.queue === OPERATIONS_QUEUE && spec.kind.type === OPERATION_TYPE

function statusOf({ job, bodies }: Loaded): OperationStatus {
  const { edit, ...spec } = specFrom(bodies['input'] ?? '{}')
  const { output, checkpoint } = bodies
  return {
    id: job.id,
    tenant: job.spec.kind.tenant,
    state: job.state,
    spec: { ...spec, isEdited: edit !== undefined },
    askedAt: job.spec.createdAt,
    endedAt: job.endedAt,
    progress: job.progress,
    report: reportIn(output, checkpoint),
    error: job.error,
  }
}

function reportIn(output: string | undefined, checkpoint: string | undefined): OperationReport {
  if (output !== undefined && output !== '') return JSON.parse(output) as OperationReport
  return checkpoint === undefined ? NO_REPORT : (JSON.parse(checkpoint) as Course).report
}

/** `undefined` does not survive JSON: what is absent is put back. */
export function specFrom(text: string): OperationSpec {
  const { queues, reason, canary, edit, ...rest } = JSON.parse(text) as OperationSpec
  return { ...rest, queues, reason, canary, edit }
}
