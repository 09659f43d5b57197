/** A job as rules see it, with what a test says about it. */
import type { Described } from '../../src/policy/facts.ts'

interface Words extends Partial<Omit<Described['spec'], 'kind' | 'input'>> {
  readonly id?: string
  readonly tenant?: string
  readonly type?: string
  readonly queue?: string
  readonly priority?: number
}

export function job({
  id = 'pj_1',
  tenant = 'default',
  type = 'mail.send',
  queue = 'mail',
  priority = 5,
  ...rest
}: Words = {}): Described {
  return {
    id,
    priority,
    generation: 0,
    spec: {
      kind: { tenant, queue, type, policy: { dialect: undefined } },
      input: undefined,
      topic: undefined,
      env: undefined,
      labels: undefined,
      adapterId: undefined,
      contextPtr: undefined,
      parentId: undefined,
      workflowId: undefined,
      stepIndex: undefined,
      ...rest,
    },
  }
}
