/** What a topic of document 002 comes to: the queue its worker has announced for it, else one of its own name; bound to the document. */
import type { PolicyInput } from '../core/resolve.ts'
import type { JobTypes } from './job-types.ts'

export interface Addressed {
  readonly queue: string
  /** What a job of this topic says of its kind: nothing, where its worker has bound the topic already, with a policy of its own. */
  readonly said: { readonly queue?: string; readonly policy?: PolicyInput }
}

export async function addressedBy(types: Pick<JobTypes, 'kind'>, tenant: string, topic: string): Promise<Addressed> {
  const announced = await types.kind(tenant, topic)
  const queue = announced?.queue ?? topic
  const isBound = announced?.policy.dialect === '002'
  return { queue, said: isBound ? {} : { queue, policy: { dialect: '002' } } }
}
