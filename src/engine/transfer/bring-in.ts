/**
 * Jobs of another store, brought in as they were: under their ids, with their logs, bodies, late words and keys. Core made each of those
 * events once; here they are folded and held against the invariants before anything is written, and the record is what they come to.
 *
 * A job is inserted at its first event and moved to where it stands, a claim with all that follows it at a time, which is as much as a
 * commit may tell (`stretches.ts`); so an import that is cut off in between is begun again, and each job goes on from where it is. Until
 * then it looks like one that can be claimed: its queue must be paused (`pauses.ts`).
 */
import { type Decision, decide, decideTick } from '../../core/decide.ts'
import { bondOf } from '../../core/dialects/bond.ts'
import type { Event } from '../../core/event.ts'
import { derive, evolve } from '../../core/evolve.ts'
import { withNonce } from '../../core/fence.ts'
import { isOwned, type Job, type Time } from '../../core/job.ts'
import { keyChange, keyOf } from '../../core/keys.ts'
import { reasonOf } from '../../core/reason.ts'
import { isStripping } from '../../core/stripped.ts'
import type { Body, Change, Inserted, Key, Loaded, LoadItem, NewJob, Store } from '../../store/store.ts'
import { birthsIn, birthsOf } from '../flow-keys.ts'
import { keysOf } from '../keys.ts'
import { logBreaches } from '../log-breaches.ts'
import type { CarriedJob } from './carried.ts'
import { stretchAfter } from './stretches.ts'

export type Brought =
  | { readonly status: 'brought' }
  /** It was brought in before. */
  | { readonly status: 'there' }
  | { readonly status: 'refused'; readonly why: string }

/** A job on its way: what it was at first, what it is, and what lies in between. */
interface Arrival {
  readonly first: Job
  readonly last: Job
  readonly log: readonly Event[]
  readonly carried: CarriedJob
}

type Writing = Pick<Store, 'load' | 'insert' | 'commit'>

/** Brings in some jobs. `nonce`: of the leases that are named in their logs, all of which are over. */
export async function broughtIn(
  store: Writing,
  jobs: readonly CarriedJob[],
  nonce: string,
): Promise<readonly Brought[]> {
  const { now } = await store.load([])
  const arrivals = jobs.map((job) => arrivalOf(job, nonce, now))
  const answers: Brought[] = arrivals.map((each) => ('why' in each ? { status: 'refused', ...each } : BROUGHT))
  const refuse = (i: number, why: string) => {
    answers[i] = { status: 'refused', why }
  }
  const open = arrivals.flatMap((arrival, i) => ('why' in arrival ? [] : [{ i, arrival }]))
  const there = await store.load(open.map(({ arrival }) => ({ id: arrival.first.id })))
  const holders = await store.load(open.map(({ arrival }) => heldBy(arrival)))
  const moving: Moving[] = []
  const born: { readonly i: number; readonly item: NewJob; readonly arrival: Arrival }[] = []
  for (const [n, { i, arrival }] of open.entries()) {
    const known = there.items[n]
    const obstacle = obstacleTo(arrival, known, holders.items[n])
    if (obstacle !== undefined) refuse(i, obstacle)
    else if (known === undefined) born.push({ i, item: birthOf(arrival, now), arrival })
    else if (known.job.rev >= arrival.last.rev) answers[i] = { status: 'there' }
    else moving.push({ i, arrival, before: known.job })
  }
  if (born.length > 0) {
    const inserted = await store.insert(born.map(({ item }) => item))
    for (const [n, { i, arrival }] of born.entries()) {
      const answer = inserted.items[n] as Inserted
      if (answer.status !== 'inserted') refuse(i, whyNotInserted(answer))
      else if (arrival.log.length > 1) moving.push({ i, arrival, before: arrival.first })
    }
  }
  for (const { i, why } of await moved(store, moving)) refuse(i, why)
  await noted(
    store,
    open.filter(({ i }) => answers[i]?.status !== 'refused').map(({ arrival }) => arrival),
  )
  return answers
}

const BROUGHT: Brought = { status: 'brought' }

interface Refused {
  readonly i: number
  readonly why: string
}

interface Moving {
  readonly i: number
  readonly arrival: Arrival
  readonly before: Job
}

function arrivalOf(carried: CarriedJob, nonce: string, now: Time): Arrival | { readonly why: string } {
  try {
    const log = carried.log.map((event) => withNonce(event, nonce))
    const record = derive(log)
    const [breach] = logBreaches(record, log)
    if (breach !== undefined) return { why: `its log is not one of ours: ${breach.what}` }
    const closed = isOwned(record) ? closing(record, now) : []
    if ('why' in closed) return closed
    const whole = [...log, ...closed]
    return { first: derive(whole.slice(0, 1)), last: derive(whole), log: whole, carried }
  } catch (error) {
    return { why: `its log cannot be read: ${reasonOf(error)}` }
  }
}

/** What becomes of a job whose owner stayed behind, as of any other whose owner says nothing: core's word, once its lease is over. */
function closing(job: Job, now: Time): readonly Event[] | { readonly why: string } {
  const asked = { actor: bondOf(job.spec.kind.policy).tickedBy, requestId: `tick/${job.rev}` }
  const decision: Decision | undefined = decideTick(job, now, asked)
  if (decision?.kind !== 'accepted') {
    const until = new Date(job.lease?.expiresAt ?? now).toISOString()
    return { why: `it was running when it was exported, by a lease until ${until}: bring it in after that` }
  }
  if (decision.successor !== undefined)
    return {
      why: 'it was running when it was exported, and its document has a new job follow: export it once it has ended',
    }
  return decision.events
}

/** Who holds its dedupe key; itself, where it has none. */
function heldBy({ first }: Arrival): LoadItem {
  const key = keyOf(first)
  return key === undefined ? { id: first.id } : { id: key.key, key: 'dedupe', tenant: first.spec.kind.tenant }
}

function obstacleTo(
  { first, carried }: Arrival,
  known: Loaded | undefined,
  holder: Loaded | undefined,
): string | undefined {
  if (known !== undefined && !isSame(known.job, first)) return 'another job has its id here'
  if (!carried.holdsKey || holder === undefined || holder.job.id === first.id) return undefined
  return `job ${holder.job.id} holds its dedupe key here`
}

const isSame = ({ spec: a }: Job, { spec: b }: Job): boolean =>
  a.createdAt === b.createdAt &&
  a.kind.tenant === b.kind.tenant &&
  a.kind.queue === b.kind.queue &&
  a.kind.type === b.kind.type

function birthOf({ first, log, carried }: Arrival, now: Time): NewJob {
  const [event] = log as readonly [Event]
  // The name of a request that nobody chose is the job's own.
  const requestId = event.requestId === first.id ? undefined : event.requestId
  const keys = keysOf(first, { requestId }, now).filter(({ purpose }) => purpose !== 'dedupe')
  // A stripped job has none; what stands for it goes with the commit that tells so.
  const input = first.spec.input === undefined ? undefined : (carried.bodies['input'] ?? '')
  return {
    job: first,
    event,
    input,
    keys: log.length > 1 ? keys : [...keys, ...heldKeys(first, carried)],
    flow: birthsOf(first),
  }
}

function heldKeys(job: Job, { holdsKey }: CarriedJob): readonly Key[] {
  const key = holdsKey ? keyOf(job) : undefined
  return key === undefined ? [] : [key]
}

function whyNotInserted(answer: Exclude<Inserted, { status: 'inserted' }>): string {
  switch (answer.status) {
    case 'exists':
      return `job ${answer.job.id} has its ${answer.by === 'idempotency' ? 'request id' : answer.by} here`
    case 'busy':
      return 'somebody else is just taking one of its keys'
    case 'rejected':
      return `the store cannot keep it: ${answer.field}: ${answer.rule}`
  }
}

async function moved(store: Writing, moving: readonly Moving[]): Promise<readonly Refused[]> {
  const refused: Refused[] = []
  let open = moving
  while (open.length > 0) {
    const steps = open.map((each) => ({ ...each, ...nextOf(each) }))
    const { verdicts, now } = await store.commit(steps.map(({ change }) => change))
    const further: Moving[] = []
    for (const [n, { i, arrival, before, after }] of steps.entries()) {
      const verdict = verdicts[n]
      if (verdict?.status === 'rejected') {
        await removed(store, before, now)
        refused.push({ i, why: `the store cannot keep it: ${verdict.field}: ${verdict.rule}` })
      } else if (verdict?.status !== 'applied') refused.push({ i, why: MEDDLED })
      else if (after.rev < arrival.last.rev) further.push({ i, arrival, before: after })
    }
    open = further
  }
  return refused
}

/** What is at its first event and cannot be taken further would run as a new job: it goes, as an operator would have it go. */
async function removed(store: Writing, job: Job, now: Time): Promise<void> {
  const asked = { actor: 'operator', requestId: `import/${job.id}`, expectedRev: job.rev }
  const decision = decide(job, { ...asked, type: 'cancel', mode: 'hard', reason: 'it could not be brought in' }, now)
  if (decision.kind !== 'accepted') return
  const { job: after, events } = decision
  const { give, take } = keyChange(job, after)
  const move = { kind: 'move', before: job, after, events, bodies: [], notAfter: undefined } as const
  await store.commit([{ ...move, give, take, spawn: undefined }])
  await store.commit([{ kind: 'purge', before: after }])
}

const MEDDLED =
  'somebody moved it while it was brought in: stop every process that has this store open, remove the job, and import again'

/** The next stretch of its log. Its key comes with the first of them, bodies with the last: until then nobody has a use for them. */
function nextOf({ arrival, before }: Moving): { readonly after: Job; readonly change: Change } {
  const { last, log, carried } = arrival
  const events = stretchAfter(log, before.rev)
  const folded = events.reduce<Job>(evolve, before)
  const isLast = folded.rev === last.rev
  const after = isLast ? last : folded
  const bodies = isLast ? bodiesOf(carried) : []
  const strips = isStripping(before, after) ? true : undefined
  const move = { kind: 'move', before, after, events, bodies, strips } as const
  const take = before.rev === arrival.first.rev ? heldKeys(last, carried) : []
  const births = birthsIn(events)
  return { after, change: { ...move, notAfter: undefined, give: [], take, spawn: undefined, births } }
}

/** All but its input, which it was born with. */
const bodiesOf = ({ bodies }: CarriedJob): readonly Body[] =>
  Object.entries(bodies)
    .filter(([name]) => name !== 'input')
    .map(([name, text]) => ({ name, text }))

async function noted(store: Writing, arrivals: readonly Arrival[]): Promise<void> {
  const notes = arrivals.flatMap(({ carried }) => carried.notes)
  if (notes.length > 0) await store.commit(notes.map((annotation) => ({ kind: 'annotate', annotation })))
}
