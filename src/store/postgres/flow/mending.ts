/** Slots made anew from where jobs are, and flows so that somebody looks at them, as `flow_mend` takes it. */
import { idNumber } from '../../../core/id.ts'
import { storable } from '../../codec/text.ts'
import type { Mend } from '../../store.ts'
import { literal } from '../batch/uniform.ts'
import { keyText } from '../enqueue/new-row.ts'
import type { Flows } from './flows.ts'

export const mendValues = ({ tenant, keys, jobs, held, spent, claims }: Mend, flows: Pick<Flows, 'of'>): string[] => [
  storable(tenant),
  JSON.stringify(keys.map(keyText)),
  JSON.stringify(jobs.map((job) => ({ i: idNumber(job.id), f: flows.of(job)?.id, c: job.lease?.grantedAt }))),
  literal(held.map((job) => flows.of(job)?.id)),
  JSON.stringify(spent.map(({ key, amount }) => ({ k: keyText(key), a: amount }))),
  JSON.stringify(claims.map(({ key, at }) => ({ k: keyText(key), c: at }))),
]
