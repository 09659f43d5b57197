/** A JobRequest of document 002 as what it asks for, and a job as its record: under the name that its client chose. */
import { type Job, PRIORITIES, type Priority } from '../job.ts'
import type { Fields } from './dialect.ts'
import { view } from './view.ts'

export interface JobRequest {
  readonly job_id?: string | undefined
  readonly topic: string
  readonly priority: 'interactive' | 'batch' | 'critical'
  readonly context_ptr?: string | undefined
  readonly adapter_id?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly parent_job_id?: string | undefined
  readonly workflow_id?: string | undefined
  readonly step_index?: number | undefined
}

export interface Requested {
  readonly id: string | undefined
  readonly topic: string
  readonly priority: Priority
  readonly contextPtr: string | undefined
  readonly adapterId: string | undefined
  readonly env: Readonly<Record<string, string>> | undefined
  readonly parentId: string | undefined
  readonly workflowId: string | undefined
  readonly stepIndex: number | undefined
}

export const requested = (request: JobRequest): Requested => ({
  id: request.job_id,
  topic: request.topic,
  priority: PRIORITIES[request.priority],
  contextPtr: request.context_ptr,
  adapterId: request.adapter_id,
  env: request.env,
  parentId: request.parent_job_id,
  workflowId: request.workflow_id,
  stepIndex: request.step_index,
})

/** The id its client chose, where it chose one: results and states are told under the name of the request. */
export const requestName = ({ id, spec }: Job): string => spec.alias ?? id

/** The record, its JobRequest and its JobResult under that name. */
export function asRequested(job: Job): Fields {
  const job_id = requestName(job)
  const named = Object.entries(view(job, '002')).map(([field, value]) =>
    typeof value === 'object' ? [field, { ...value, job_id }] : [field, value],
  )
  return Object.fromEntries(named) as Fields
}
