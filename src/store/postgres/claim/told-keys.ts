/** Which flow key hears how an attempt ends, as it was when the attempt was claimed: behind what `claim_limited` answers. */
import { toldKey } from '../../../core/flow/membership.ts'
import type { Spec } from '../../../core/job.ts'
import { original } from '../../codec/text.ts'
import type { ClaimedJob } from '../../store.ts'
import type { Row } from '../connection/client.ts'

/** By tenant and name. */
export type ToldKeys = ReadonlyMap<string, NonNullable<ClaimedJob['flow']>>

/** Behind the columns of `claim_limited` come two that every claim has (claim-answer.ts), then this. */
const TOLD = 16

export function toldIn(row: Row): ToldKeys {
  const json = row[TOLD]
  if (json === undefined) return NOBODY_TOLD
  if (json === null) return new Map()
  const keys = JSON.parse(String(json)) as [tenant: string, name: string, text: string, rev: number][]
  return new Map(
    keys.map(([tenant, name, text, rev]) => {
      const key = original(name)
      return [nameOf(original(tenant), key), { key, text: original(text), rev }]
    }),
  )
}

export function toldOf(told: ToldKeys, spec: Spec): ClaimedJob['flow'] {
  const key = toldKey(spec)
  return key === undefined ? undefined : told.get(nameOf(spec.kind.tenant, key))
}

/** The claim was not asked for jobs with a flow. */
export const NOBODY_TOLD: ToldKeys = new Map()

const nameOf = (tenant: string, key: string): string => JSON.stringify([tenant, key])
