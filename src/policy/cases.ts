/** A table of cases beside a policy (`chat.cases.yaml`): jobs as they may come, and what is to become of them. */
import { z } from 'zod'
import { DEFAULT_TENANT, PRIORITIES, type PriorityName } from '../core/job.ts'
import { DIALECT_NAMES } from '../core/policy.ts'
import type { Described } from './facts.ts'
import type { Judgement } from './judgement.ts'
import { DECISIONS } from './rule.ts'
import type { Snapshot } from './snapshot.ts'
import { type Fault, read, type SourceFile } from './source.ts'

export const isCases = (name: string): boolean => /\.cases\.(ya?ml|json)$/.test(name)

const texts = z.record(z.string(), z.string())

const describedJob = z
  .strictObject({
    id: z.string().default('pj_1'),
    tenant: z.string().default(DEFAULT_TENANT),
    type: z.string().optional(),
    topic: z.string().optional(),
    queue: z.string().optional(),
    priority: z.union([z.int().min(0).max(9), z.enum(Object.keys(PRIORITIES) as [PriorityName])]).default('normal'),
    env: texts.optional(),
    labels: texts.optional(),
    adapterId: z.string().optional(),
    contextPtr: z.string().optional(),
    parentId: z.string().optional(),
    workflowId: z.string().optional(),
    stepIndex: z.int().min(0).optional(),
    inputSize: z.int().min(0).default(0),
    generation: z.int().min(0).default(0),
    dialect: z.enum(DIALECT_NAMES).optional(),
  })
  .refine(({ type, topic }) => type !== undefined || topic !== undefined, 'must have a type or a topic')

const casesSchema = z.strictObject({
  cases: z.array(
    z.strictObject({
      name: z.string().min(1),
      job: describedJob,
      expect: z.strictObject({
        decision: z.enum(DECISIONS),
        rule: z.string().optional(),
        route: z.string().optional(),
        topic: z.string().optional(),
      }),
    }),
  ),
})

export interface CaseResult {
  readonly file: string
  readonly line: number
  readonly name: string
  readonly expected: {
    readonly decision: string
    readonly rule?: string | undefined
    readonly route?: string | undefined
    /** Where it comes to in the end. */
    readonly topic?: string | undefined
  }
  readonly found: Judgement
  readonly ok: boolean
}

export function tried(
  snapshot: Snapshot,
  files: readonly SourceFile[],
): { readonly results: readonly CaseResult[] } | { readonly faults: readonly Fault[] } {
  const results: CaseResult[] = []
  const faults: Fault[] = []
  for (const file of files) {
    const found = read(file, casesSchema)
    if ('faults' in found) {
      faults.push(...found.faults)
      continue
    }
    for (const [i, { name, job, expect: expected }] of found.value.cases.entries()) {
      const judgement = snapshot.judge(described(job))
      const ok =
        judgement.decision === expected.decision &&
        (expected.rule === undefined || expected.rule === judgement.rule) &&
        (expected.route === undefined || expected.route === judgement.route?.id) &&
        (expected.topic === undefined || expected.topic === (judgement.redirects.at(-1)?.to ?? job.topic ?? job.type))
      const { line } = found.placeOf(['cases', i])
      results.push({ file: file.name, line, name, expected, found: judgement, ok })
    }
  }
  return faults.length > 0 ? { faults } : { results }
}

function described(job: z.output<typeof describedJob>): Described {
  const { id, tenant, priority, generation, inputSize, dialect, ...rest } = job
  const type = rest.type ?? rest.topic ?? ''
  return {
    id,
    priority: typeof priority === 'number' ? priority : PRIORITIES[priority],
    generation,
    spec: {
      kind: { tenant, queue: rest.queue ?? type, type, policy: { dialect } },
      input: { size: inputSize },
      topic: rest.topic,
      env: rest.env,
      labels: rest.labels,
      adapterId: rest.adapterId,
      contextPtr: rest.contextPtr,
      parentId: rest.parentId,
      workflowId: rest.workflowId,
      stepIndex: rest.stepIndex,
    },
  }
}
