/**
 * A job as expressions see it. Fields that a job does not have are empty (`''`, `{}`, -1 for `stepIndex`), so that a condition
 * about them is false rather than an error; keys of `env` and `labels` are asked for with `has(job.env.sandbox)` first. Inputs are not
 * in here: they may be big, or encrypted, and a policy that cannot see them cannot tell them to anybody.
 */
import type { Job } from '../core/job.ts'
import { topicOf } from '../core/recast.ts'

/** Of CEL's types: whole numbers are `bigint`. The names are those of the record, and the contract with whoever writes rules. */
export class JobFacts {
  readonly id: string
  readonly tenant: string
  readonly type: string
  readonly topic: string
  readonly queue: string
  readonly priority: bigint
  readonly env: Readonly<Record<string, string>>
  readonly labels: Readonly<Record<string, string>>
  readonly adapterId: string
  readonly contextPtr: string
  readonly parentId: string
  readonly workflowId: string
  readonly stepIndex: bigint
  readonly inputSize: bigint
  readonly generation: bigint
  readonly dialect: string

  /** `sentTo`: the topic that it is judged for, where it was sent there. All else is as it was asked for. */
  constructor({ id, spec, priority, generation, newer }: Described, sentTo?: string) {
    const { kind } = spec
    this.id = id
    this.tenant = kind.tenant
    this.type = kind.type
    this.topic = sentTo ?? topicOf(spec)
    this.queue = kind.queue
    this.priority = BigInt(priority)
    this.env = spec.env ?? NONE
    this.labels = spec.labels ?? NONE
    this.adapterId = spec.adapterId ?? ''
    this.contextPtr = spec.contextPtr ?? ''
    this.parentId = spec.parentId ?? ''
    this.workflowId = spec.workflowId ?? ''
    this.stepIndex = BigInt(spec.stepIndex ?? -1)
    this.inputSize = BigInt((newer?.input ?? spec.input)?.size ?? 0)
    this.generation = BigInt(generation)
    this.dialect = kind.policy.dialect ?? ''
  }
}

/** As much of a job as rules look at. */
export interface Described {
  readonly id: string
  readonly priority: number
  readonly generation: number
  /** What a duplicate has put in the place of its input. */
  readonly newer?: { readonly input: { readonly size: number } | undefined } | undefined
  readonly spec: {
    readonly kind: {
      readonly tenant: string
      readonly queue: string
      readonly type: string
      readonly policy: Pick<Job['spec']['kind']['policy'], 'dialect'>
    }
    readonly input: { readonly size: number } | undefined
  } & Pick<
    Job['spec'],
    'topic' | 'env' | 'labels' | 'adapterId' | 'contextPtr' | 'parentId' | 'workflowId' | 'stepIndex'
  >
}

const NONE: Readonly<Record<string, never>> = {}

/** The types of the fields above, as CEL names them. */
export const FACT_TYPES: Readonly<Record<keyof JobFacts, string>> = {
  id: 'string',
  tenant: 'string',
  type: 'string',
  topic: 'string',
  queue: 'string',
  priority: 'int',
  env: 'map<string, string>',
  labels: 'map<string, string>',
  adapterId: 'string',
  contextPtr: 'string',
  parentId: 'string',
  workflowId: 'string',
  stepIndex: 'int',
  inputSize: 'int',
  generation: 'int',
  dialect: 'string',
}
