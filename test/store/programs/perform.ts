import { idText } from '../../../src/core/id.ts'
import type { JobId } from '../../../src/core/job.ts'
import { holds, same } from '../../../src/store/conformance/holds.ts'
import type { Grant, Loaded, Store } from '../../../src/store/store.ts'
import { Actor, type Plan } from './actor.ts'
import type { Intent, Program } from './program.ts'
import type { Slot } from './slot.ts'

export interface Failure {
  readonly program: Program
  readonly step: number
  readonly error: unknown
}

export interface Performance {
  readonly failures: readonly Failure[]
  /** Every kind of event, answer and verdict that came up: `event claimed`, `state parked`, `commit late`. */
  readonly seen: ReadonlySet<string>
}

export interface Stage {
  readonly store: Store
  /** Unique among all performances on this data: names tenants and ids. */
  readonly serial: number
  /** Between the steps: where the clock is virtual, time passes here. */
  readonly pass?: () => void
}

/** Programs in one performance share each round trip; they have nothing else in common. */
export const TOGETHER = 500

/**
 * All programs, step by step, in lockstep: one load, one insert, one claim, one heartbeat and one commit serve the
 * same step of all of them. A program that fails is out, the others go on.
 */
export async function perform(stage: Stage, programs: readonly Program[]): Promise<Performance> {
  const { store, serial } = stage
  const { now: begin } = await store.load([])
  let number = serial * 10_000_000
  const newId = () => {
    number += 1
    return idText(number)
  }
  const actors = programs.map((program, i) => new Actor(program, `program-${serial}-${i}`, begin, newId))
  const cast = new Cast(actors)
  const steps = Math.max(0, ...programs.map(({ intents }) => intents.length))
  const feedStart = (await store.events({ by: 'feed', after: undefined, limit: 1 })).cursor
  for (let step = 0; step < steps; step += 1) {
    await performStep(store, cast, step, `${serial}/${step}`)
    stage.pass?.()
  }
  await expectEndings(store, cast, steps)
  await expectFeed(store, cast, feedStart ?? '', steps)
  return { failures: cast.failures, seen: cast.seen }
}

/** Who is still in, and who is out and why. */
class Cast {
  readonly #actors: Set<Actor>
  readonly failures: Failure[] = []
  readonly seen = new Set<string>()

  constructor(actors: readonly Actor[]) {
    this.#actors = new Set(actors)
  }

  get in(): readonly Actor[] {
    return [...this.#actors]
  }

  /** Does a part of an actor's work; an actor whose part goes wrong is out. */
  try<T>(actor: Actor, step: number, part: () => T): T | undefined {
    if (!this.#actors.has(actor)) return undefined
    try {
      return part()
    } catch (error) {
      this.#actors.delete(actor)
      this.failures.push({ program: actor.program, step, error })
      return undefined
    }
  }
}

type Of<K extends Plan['kind']> = { readonly actor: Actor; readonly plan: Extract<Plan, { kind: K }> }

async function performStep(store: Store, cast: Cast, step: number, name: string): Promise<void> {
  const planned = await plans(store, cast, step)
  const of = <K extends Plan['kind']>(kind: K) => planned.filter(({ plan }) => plan.kind === kind) as Of<K>[]
  await inserts(store, cast, step, of('insert'))
  for (const [i, some] of chunks(of('claim'), LANES).entries()) await claims(store, cast, step, some, `${name}/${i}`)
  await beats(store, cast, step, of('beat'))
  await commits(store, cast, step, of('commit'))
}

async function plans(store: Store, cast: Cast, step: number): Promise<readonly { actor: Actor; plan: Plan }[]> {
  const wanted = cast.in.flatMap((actor) => {
    const intent = actor.program.intents[step]
    return intent === undefined ? [] : [{ actor, intent, load: cast.try(actor, step, () => actor.next(intent)) }]
  })
  const asked = wanted.filter(({ load }) => load !== undefined)
  const { items, now } = await store.load(asked.map(({ load }) => ({ id: load?.id ?? '', requestId: load?.requestId })))
  const loaded = new Map(asked.map(({ actor }, i) => [actor, items[i]]))
  return wanted.flatMap(({ actor, intent }) => {
    const plan = cast.try(actor, step, () => planOf(actor, intent, loaded.get(actor), now))
    return plan === undefined ? [] : [{ actor, plan }]
  })
}

function planOf(actor: Actor, intent: Intent, loaded: Loaded | undefined, now: number): Plan {
  const slot = actor.slotOf(intent)
  if (slot.job !== undefined) expectRecord(slot, loaded)
  return actor.plan(intent, now, loaded?.caused ?? [])
}

/** The stored record is the model's; from here on they are one, which makes the next comparison cheap. */
function expectRecord(slot: Slot, loaded: Loaded | undefined): void {
  same(loaded?.job, slot.job, 'the stored record is the model’s')
  slot.job = loaded?.job
}

async function inserts(store: Store, cast: Cast, step: number, planned: readonly Of<'insert'>[]): Promise<void> {
  if (planned.length === 0) return
  const { items, now } = await store.insert(planned.map(({ plan }) => plan.item))
  for (const [i, { actor, plan }] of planned.entries()) {
    const answer = items[i]
    if (answer === undefined) continue
    cast.seen.add(`insert ${answer.status}`)
    cast.try(actor, step, () => plan.learn(answer, now))
  }
}

const LANES = 50

async function claims(
  store: Store,
  cast: Cast,
  step: number,
  planned: readonly Of<'claim'>[],
  name: string,
): Promise<void> {
  const lanes = planned.map(({ actor, plan }) => ({
    tenant: actor.tenant,
    queue: plan.job.spec.kind.queue,
    priority: plan.job.priority,
  }))
  const nonce = (step + 1).toString(16).padStart(16, '0')
  const worker = { workerId: 'w', actor: 'worker:w', requestId: `claim/${name}`, nonce }
  const grant: Grant = { ...worker, lanes, limit: lanes.length + 1, maxInputBytes: 1 << 20 }
  const { jobs, now } = await store.claim(grant)
  const claimed = new Map(jobs.map((each) => [each.before.id, each]))
  for (const { actor, plan } of planned) {
    const given = claimed.get(plan.job.id)
    cast.seen.add(`claim ${given === undefined ? 'nothing' : 'given'}`)
    cast.try(actor, step, () => plan.learn(grant, given, now))
  }
  const known = new Set(planned.map(({ plan }) => plan.job.id))
  holds(
    jobs.every(({ before }) => known.has(before.id)),
    'nobody claims what was not asked for',
  )
  if (step % 4 !== 0 || jobs.length === 0) return
  const again = await store.claim(grant)
  // A lease of a second may have run out in between: then it is rightly not given again.
  const lasting = (each: { before: { id: JobId }; leaseExpiresAt: number }) => each.leaseExpiresAt > again.now
  const order = <T extends { before: { id: JobId } }>(list: readonly T[]) =>
    list.toSorted((a, b) => (a.before.id < b.before.id ? -1 : 1))
  same(order(again.jobs.filter(lasting)), order(jobs.filter(lasting)), 'a repeated claim gives the same')
}

async function beats(store: Store, cast: Cast, step: number, planned: readonly Of<'beat'>[]): Promise<void> {
  if (planned.length === 0) return
  const { items, now } = await store.heartbeat(planned.map(({ plan }) => plan.beat))
  for (const [i, { actor, plan }] of planned.entries()) {
    const answer = items[i]
    if (answer === undefined || answer.status === 'busy') continue
    cast.seen.add(`heartbeat ${answer.status}`)
    cast.try(actor, step, () => plan.learn(answer, now))
  }
}

async function commits(store: Store, cast: Cast, step: number, planned: readonly Of<'commit'>[]): Promise<void> {
  if (planned.length === 0) return
  const { verdicts, now } = await store.commit(planned.map(({ plan }) => plan.change))
  for (const [i, { actor, plan }] of planned.entries()) {
    const verdict = verdicts[i]
    if (verdict === undefined) continue
    cast.seen.add(`${plan.change.kind} ${verdict.status}`)
    cast.try(actor, step, () => plan.learn(verdict, now))
  }
}

/** Records, bodies, logs, annotations and successors, each against the model. */
async function expectEndings(store: Store, cast: Cast, step: number): Promise<void> {
  const slots = cast.in.flatMap((actor) => actor.slots.map((slot) => ({ actor, slot })))
  const there = slots.filter(({ slot }) => slot.job !== undefined)
  const idOf = (slot: Slot) => slot.job?.id ?? ''
  const names = ['input', 'output', 'checkpoint', 'step/', 'signal/', 'error/']
  const { items } = await store.load(there.map(({ slot }) => ({ id: idOf(slot), bodies: names })))
  const logs = await Promise.all(
    there.map(({ slot }) => store.events({ by: 'job', id: idOf(slot), afterRev: 0, limit: 1_000 })),
  )
  const notes = await Promise.all(there.map(({ slot }) => store.events({ by: 'annotation', id: idOf(slot) })))
  for (const [i, { actor, slot }] of there.entries()) {
    cast.try(actor, step, () => {
      for (const { type, to } of slot.events) cast.seen.add(`event ${type}`).add(`state ${to}`)
      expectRecord(slot, items[i])
      same(items[i]?.bodies, Object.fromEntries(slot.bodies), 'the stored bodies are those that were written')
      slot.expectLog(logs[i]?.events ?? [])
      const key = (each: { generation: number; attempt: number; command: string }) =>
        `${each.generation} ${each.attempt} ${each.command}`
      same(
        (notes[i]?.annotations ?? []).map(key).toSorted(),
        [...slot.annotations.keys()].toSorted(),
        'late words, once',
      )
    })
  }
  const born = cast.in.flatMap((actor) => actor.successors.map((item) => ({ actor, item })))
  if (born.length > 0) cast.seen.add('successor')
  const successors = await store.load(born.map(({ item }) => ({ id: item.job.id, bodies: ['input'] })))
  for (const [i, { actor, item }] of born.entries()) {
    cast.try(actor, step, () => {
      same(successors.items[i]?.job, item.job, 'a successor is there')
      same(successors.items[i]?.bodies['input'], item.input, 'with its input')
    })
  }
  const ended = cast.in.flatMap((actor) => actor.purged.map((id) => ({ actor, id })))
  const gone = await store.load(ended.map(({ id }) => ({ id })))
  for (const [i, { actor }] of ended.entries()) {
    cast.try(actor, step, () => same(gone.items[i], undefined, 'what was purged is gone'))
  }
}

/** Every event of every program is in the feed, once. */
async function expectFeed(store: Store, cast: Cast, start: string, step: number): Promise<void> {
  const mine = new Map(cast.in.map((actor) => [actor.tenant, { actor, seen: [] as string[] }]))
  const positions = new Set<string>()
  for (let after = start, calm = 0; calm < 3; ) {
    const page = await store.events({ by: 'feed', after, limit: 2_000 })
    for (const { position, tenant, jobId, rev, type } of page.feed) {
      holds(!positions.has(position), 'no position is shown twice')
      positions.add(position)
      if (type !== 'heartbeat') mine.get(tenant)?.seen.push(`${jobId} ${rev}`)
    }
    calm = page.feed.length === 0 ? calm + 1 : 0
    after = page.cursor ?? after
  }
  for (const { actor, seen } of mine.values()) {
    cast.try(actor, step, () => {
      same(new Set(seen).size, seen.length, 'the feed repeats nothing')
      const shown = new Set(seen)
      const events = actor.slots
        .flatMap(({ events: all }) => all)
        .filter(({ type }) => type !== 'heartbeat' && type !== 'compacted')
      same(
        events.filter(({ jobId, rev }) => !shown.has(`${jobId} ${rev}`)),
        [],
        'the feed misses nothing',
      )
    })
  }
}

const chunks = <T>(list: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size))
