/**
 * Flows and their keys as the small numbers the database knows them by, each asked for once. Unlike a kind a flow may be
 * forgotten, with its key; a process that then names its number is told so by the database, and asks again.
 */
import { createHash } from 'node:crypto'
import { assert } from '../../../core/assert.ts'
import { type Gate, gateOf } from '../../../core/flow/gate.ts'
import { atRest } from '../../../core/flow/key.ts'
import { flowNameOf, weighedBy } from '../../../core/flow/membership.ts'
import type { Job, JobFlow } from '../../../core/job.ts'
import { askedOf } from '../../../core/recast.ts'
import { queueOf } from '../../codec/lane.ts'
import { storable } from '../../codec/text.ts'
import type { KeyBirth } from '../../store.ts'
import type { Statements } from '../connection/statements.ts'
import { codeOf } from '../connection/trouble.ts'
import { keyText, named } from '../enqueue/new-row.ts'
import { isAside, type Kinds, type Run, sideOf } from '../names/kinds.ts'
import { heldLane } from '../names/let-in-lane.ts'

export interface NumberedFlow {
  readonly id: number
  /** In the order in which its jobs name them. */
  readonly keys: readonly number[]
  readonly lane: number
}

export interface FlowsParts {
  readonly run: Run
  readonly statements: Pick<Statements, 'internFlows'>
  readonly kinds: Kinds
  /** Told of queues, and sides, that have flows. */
  readonly limited: (queues: readonly number[]) => void
}

/** A job, and for each of its keys what is to be known of it at first, as far as its bringer says so. */
export interface Member {
  readonly job: Job
  readonly flow?: readonly KeyBirth[] | undefined
}

/** Known at a time: names are made of what users say, and there may be any number of them. */
const KNOWN_MAX = 100_000

export class Flows {
  readonly #parts: FlowsParts
  #known = new Map<string, NumberedFlow>()

  constructor(parts: FlowsParts) {
    this.#parts = parts
  }

  /** The flow of a job that has been interned. Undefined: it has none. */
  of(job: Job): NumberedFlow | undefined {
    const name = flowNameOf(job)
    if (name === undefined) return undefined
    const known = this.#known.get(name)
    assert(known !== undefined, 'a flow is interned before it is used')
    return known
  }

  /** The lane in which a job is held. Undefined: it is never held. */
  heldLane(job: Job): number | undefined {
    const flow = this.of(job)
    return flow === undefined ? undefined : heldLane(flow.id)
  }

  async intern(members: readonly Member[]): Promise<void> {
    const unknown = new Map<string, Member>()
    for (const member of members) {
      const name = flowNameOf(member.job)
      if (name !== undefined && !this.#known.has(name)) unknown.set(name, member)
    }
    if (unknown.size === 0) return
    const { run, statements, kinds, limited } = this.#parts
    for (const { job } of unknown.values()) {
      const { kind } = askedOf(job)
      if (kinds.known(kind) === undefined) await kinds.intern(kind)
      if (isAside(job)) await kinds.internQueues([sideOf(job)])
    }
    const lanes = [...unknown.values()].map(({ job }) => kinds.lane(job))
    const rows = [...unknown].map(([name, member], n) => flowRow(name, member, lanes[n] as number))
    const [answer] = await run(statements.internFlows, [JSON.stringify(rows)])
    const numbers = JSON.parse(String(answer?.[0])) as [number, number[]][]
    if (this.#known.size + unknown.size > KNOWN_MAX) this.#known = new Map()
    for (const [n, name] of [...unknown.keys()].entries()) {
      const [id, keys] = numbers[n] as [number, number[]]
      this.#known.set(name, { id, keys, lane: lanes[n] as number })
    }
    limited([...new Set(lanes.map((lane) => queueOf(lane)))])
  }

  /** What the database may have forgotten, asked for again. */
  async internAnew(members: readonly Member[]): Promise<void> {
    for (const { job } of members) this.#known.delete(flowNameOf(job) ?? '')
    await this.intern(members)
  }

  forget(): void {
    this.#known = new Map()
  }
}

/** A statement named a flow that was forgotten meanwhile, and nothing of it was done. */
export const isFlowGone = (error: unknown): boolean => codeOf(error) === FOREIGN_KEY_VIOLATION

const FOREIGN_KEY_VIOLATION = '23503'

function flowRow(name: string, { job, flow: births = [] }: Member, lane: number) {
  const { kind, flow } = job.spec
  const { keys } = flow as JobFlow
  const ks = keys.map((key) => ({ ...named(key), ...documentRow(births.find((birth) => birth.key === key) ?? UNSAID) }))
  const weigher = weighedBy(flow as JobFlow)
  return {
    h: createHash('sha256').update(name).digest('base64url'),
    l: lane,
    p: job.priority,
    t: storable(kind.tenant),
    w: keyText(weigher ?? ''),
    ks,
  }
}

/** Of a key of which nobody has said anything: no limit. */
const UNSAID = { gate: gateOf(atRest(''), {}), text: undefined }

/** A key's gate and document as the database takes them; the names are explained in `flow_set.sql`. */
export const documentRow = ({ gate, text }: { readonly gate: Gate; readonly text: string | undefined }) => ({
  g: JSON.stringify(gate),
  s: gate.since,
  r: gate.rate === undefined ? 0 : gate.rateMs,
  m: gate.budget === undefined ? 0 : gate.perMs,
  w: gate.weight,
  x: text === undefined ? undefined : storable(text),
})
