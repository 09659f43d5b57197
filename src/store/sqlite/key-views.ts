/** Flow keys and what is taken of them, as rows say it. */
import type { Gate } from '../../core/flow/gate.ts'
import { flowNameOf } from '../../core/flow/membership.ts'
import type { Job } from '../../core/job.ts'
import { original, storable } from '../codec/text.ts'
import type { KeyView, Lobby } from '../store.ts'
import type { Reply } from './channel.ts'
import { jobOf, type KindsByNumber } from './decode.ts'
import { numberOf } from './encode.ts'
import type { Occupant } from './protocol.ts'
import type { Reader } from './reader.ts'
import type { KeyViewRow } from './rows.ts'

export function keyView(tenant: string, { name, rev, gate, text, log, count, probes, held }: KeyViewRow): KeyView {
  const texts = { key: original(name), text: original(text), log: log === null ? undefined : original(log) }
  return { tenant, rev, gate: JSON.parse(gate) as Gate, ...texts, count, probes, held }
}

/** Counts the jobs that stand or are owned under each of the keys, from the jobs themselves. */
export async function recounted(
  reader: Reader,
  kinds: KindsByNumber,
  views: readonly KeyView[],
): Promise<readonly KeyView[]> {
  const taken = new Map(views.map(({ tenant, key }) => [JSON.stringify([tenant, key]), 0]))
  const count = ({ spec }: Job): void => {
    for (const key of new Set(spec.flow?.keys)) {
      const name = JSON.stringify([spec.kind.tenant, key])
      const known = taken.get(name)
      if (known !== undefined) taken.set(name, known + 1)
    }
  }
  for (let after: Occupant | null = [0, 0, 0]; after !== null; ) {
    const { answered }: Reply<'occupants'> = await reader.call('occupants', after)
    for (const row of answered.jobs) count(jobOf(row, kinds))
    after = answered.next
  }
  return views.map((view) => ({ ...view, recount: taken.get(JSON.stringify([view.tenant, view.key])) }))
}

/** What lets a job in. Undefined: it has no flow. */
export async function lobbyOf(reader: Reader, job: Job): Promise<Lobby | undefined> {
  const flow = flowNameOf(job)
  if (flow === undefined) return undefined
  const { tenant } = job.spec.kind
  const { answered } = await reader.call('lobby', {
    id: numberOf(job.id, 'id'),
    tenant: storable(tenant),
    keys: (job.spec.flow?.keys ?? []).map(storable),
    flow: storable(flow),
  })
  const { held, others, watch } = answered
  const named = watch?.by === 'key' ? { ...watch, key: original(watch.key) } : watch
  return { held, keys: answered.views.map((view) => keyView(tenant, view)), others, watch: named ?? undefined }
}
