/** Flows, their keys, and what a change does to them, as the words of scripts (`hall.lua`, `move.lua`). */
import type { Gate } from '../../../core/flow/gate.ts'
import { placeMoveOf, weighedBy } from '../../../core/flow/membership.ts'
import type { Job } from '../../../core/job.ts'
import { storable } from '../../codec/text.ts'
import { type KeyBirth, type KeyMove, type Mend, type MoveChange, type NewJob, queueKey } from '../../store.ts'
import { digitsOf } from '../job/id-text.ts'
import { INLINE, NONE, timeWord } from '../job/job-text.ts'
import { laneWord } from '../job/lane-word.ts'
import { flowId, limitId } from './ids.ts'

/** The lane of a job that has a flow, in the place of one that it could be claimed from. */
export const IN_FLOW = 'flow'

/** Whether anything becomes of a slot, a key or a budget. */
export const isFlowing = ({ before, after, flow, spent }: MoveChange): boolean =>
  after.spec.flow !== undefined && (flow !== undefined || spent !== undefined || placeMoveOf(before, after) !== 'stay')

/** The flow of a new job, and what is to be known of its keys at first. */
export const newcomerFlowWords = (job: Job, births: NonNullable<NewJob['flow']>): readonly string[] => [
  ...flowWords(job),
  String(births.length),
  ...births.flatMap((birth) => limitWords(job.spec.kind.tenant, birth.key, birth)),
]

export const moveFlowWords = ({ before, after, flow, spent = [], births = [] }: MoveChange): readonly string[] => {
  const { tenant } = before.spec.kind
  const keys = keysOf(after)
  const spends = spent.flatMap(({ amount, key }) =>
    (key === undefined ? keys : [key]).flatMap((each) => [limitId(tenant, each), String(amount)]),
  )
  return [
    placeMoveOf(before, after),
    flowId(before),
    ...flowWords(after),
    ...(flow === undefined ? [NONE] : keyMoveWords(tenant, flow)),
    String(spends.length / 2),
    ...spends,
    String(births.length),
    ...births.flatMap((birth) => limitWords(tenant, birth.key, birth)),
  ]
}

export function keyMoveWords(tenant: string, { key, rev, on, next }: KeyMove): readonly string[] {
  const [how, more] = typeof next === 'string' ? [next, []] : ['next', limitWords(tenant, key, next)]
  return [how, limitId(tenant, key), String(rev), on === undefined ? NONE : `${INLINE}${storable(on)}`, ...more]
}

export const mendWords = ({ tenant, keys, jobs, held, spent, claims }: Mend): readonly string[] => [
  String(keys.length),
  ...keys.map((key) => limitId(tenant, key)),
  String(jobs.length),
  ...jobs.map(({ id }) => digitsOf(id)),
  String(held.length),
  ...held.flatMap((job) => [digitsOf(job.id), timeWord(job.readyAt), ...flowWords(job)]),
  String(spent.length),
  ...spent.flatMap(({ key, amount }) => [limitId(tenant, key), String(amount)]),
  String(claims.length),
  ...claims.flatMap(({ key, at }) => [limitId(tenant, key), String(at)]),
]

function flowWords(job: Job): readonly string[] {
  const { kind, flow } = job.spec
  const { tenant, queue } = kind
  const weigher = flow && weighedBy(flow)
  const keys = keysOf(job)
  return [
    flowId(job),
    weigher === undefined ? NONE : limitId(tenant, weigher),
    queueKey(tenant, queue),
    laneWord(job),
    storable(tenant),
    String(keys.length),
    ...keys.flatMap((key) => [limitId(tenant, key), storable(key)]),
  ]
}

const keysOf = ({ spec }: Job): readonly string[] => [...new Set(spec.flow?.keys)]

type Document = Pick<KeyBirth, 'gate' | 'text'> & { readonly log?: string | undefined }

function limitWords(tenant: string, key: string, { gate, text, log }: Document): readonly string[] {
  return [
    limitId(tenant, key),
    storable(tenant),
    storable(key),
    ...numbersOf(gate),
    JSON.stringify(gate),
    storable(text),
    log === undefined ? NONE : `${INLINE}${storable(log)}`,
  ]
}

/** What scripts compare of a gate: none is 0. */
const numbersOf = ({ since, rate, rateMs, budget, perMs, weight }: Gate): readonly string[] =>
  [since, rate === undefined ? 0 : rateMs, budget === undefined ? 0 : perMs, weight].map(String)
