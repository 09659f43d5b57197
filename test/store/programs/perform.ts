import { idText } from '../../../src/core/id.ts'
import type { JobId } from '../../../src/core/job.ts'
import { holds, same } from '../../../src/store/conformance/holds.ts'
import type { Grant, Loaded, Store } from '../../../src/store/store.ts'
import type { Intent, Program } from './program.ts'
import { type Plan, ProgramRun } from './program-run.ts'
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

export interface ProgramFixture {
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
export async function perform(fixture: ProgramFixture, programs: readonly Program[]): Promise<Performance> {
  const { store, serial } = fixture
  const { now: begin } = await store.load([])
  let number = serial * 10_000_000
  const newId = () => {
    number += 1
    return idText(number)
  }
  const runs = programs.map((program, i) => new ProgramRun(program, `program-${serial}-${i}`, begin, newId))
  const running = new Running(runs)
  const steps = Math.max(0, ...programs.map(({ intents }) => intents.length))
  const feedStart = (await store.events({ by: 'feed', after: undefined, limit: 1 })).cursor
  for (let step = 0; step < steps; step += 1) {
    await performStep(store, running, step, `${serial}/${step}`)
    fixture.pass?.()
  }
  await expectEndings(store, running, steps)
  await expectFeed(store, running, feedStart ?? '', steps)
  return { failures: running.failures, seen: running.seen }
}

/** Who is still in, and who is out and why. */
class Running {
  readonly #runs: Set<ProgramRun>
  readonly failures: Failure[] = []
  readonly seen = new Set<string>()

  constructor(runs: readonly ProgramRun[]) {
    this.#runs = new Set(runs)
  }

  get in(): readonly ProgramRun[] {
    return [...this.#runs]
  }

  /** Does a part of a program's work; one whose part goes wrong is out. */
  try<T>(run: ProgramRun, step: number, part: () => T): T | undefined {
    if (!this.#runs.has(run)) return undefined
    try {
      return part()
    } catch (error) {
      this.#runs.delete(run)
      this.failures.push({ program: run.program, step, error })
      return undefined
    }
  }
}

type Of<K extends Plan['kind']> = { readonly run: ProgramRun; readonly plan: Extract<Plan, { kind: K }> }

async function performStep(store: Store, running: Running, step: number, name: string): Promise<void> {
  const planned = await plans(store, running, step)
  const of = <K extends Plan['kind']>(kind: K) => planned.filter(({ plan }) => plan.kind === kind) as Of<K>[]
  await inserts(store, running, step, of('insert'))
  for (const [i, some] of chunks(of('claim'), LANES).entries()) await claims(store, running, step, some, `${name}/${i}`)
  await beats(store, running, step, of('beat'))
  await commits(store, running, step, of('commit'))
}

async function plans(
  store: Store,
  running: Running,
  step: number,
): Promise<readonly { run: ProgramRun; plan: Plan }[]> {
  const wanted = running.in.flatMap((run) => {
    const intent = run.program.intents[step]
    return intent === undefined ? [] : [{ run, intent, load: running.try(run, step, () => run.next(intent)) }]
  })
  const asked = wanted.filter(({ load }) => load !== undefined)
  const { items, now } = await store.load(asked.map(({ load }) => ({ id: load?.id ?? '', requestId: load?.requestId })))
  const loaded = new Map(asked.map(({ run }, i) => [run, items[i]]))
  return wanted.flatMap(({ run, intent }) => {
    const plan = running.try(run, step, () => planOf(run, intent, loaded.get(run), now))
    return plan === undefined ? [] : [{ run, plan }]
  })
}

function planOf(run: ProgramRun, intent: Intent, loaded: Loaded | undefined, now: number): Plan {
  const slot = run.slotOf(intent)
  if (slot.job !== undefined) expectRecord(slot, loaded)
  return run.plan(intent, now, loaded?.caused ?? [])
}

/** The stored record is the model's; from here on they are one, which makes the next comparison cheap. */
function expectRecord(slot: Slot, loaded: Loaded | undefined): void {
  same(loaded?.job, slot.job, 'the stored record is the model’s')
  slot.job = loaded?.job
}

async function inserts(store: Store, running: Running, step: number, planned: readonly Of<'insert'>[]): Promise<void> {
  if (planned.length === 0) return
  const { items, now } = await store.insert(planned.map(({ plan }) => plan.item))
  for (const [i, { run, plan }] of planned.entries()) {
    const answer = items[i]
    if (answer === undefined) continue
    running.seen.add(`insert ${answer.status}`)
    running.try(run, step, () => plan.learn(answer, now))
  }
}

const LANES = 50

async function claims(
  store: Store,
  running: Running,
  step: number,
  planned: readonly Of<'claim'>[],
  name: string,
): Promise<void> {
  const lanes = planned.map(({ run, plan }) => ({
    tenant: run.tenant,
    queue: plan.job.spec.kind.queue,
    priority: plan.job.priority,
  }))
  const nonce = (step + 1).toString(16).padStart(16, '0')
  const worker = { workerId: 'w', actor: 'worker:w', requestId: `claim/${name}`, nonce }
  const grant: Grant = { ...worker, lanes, limit: lanes.length + 1, maxInputBytes: 1 << 20 }
  const { jobs, now } = await store.claim(grant)
  const claimed = new Map(jobs.map((each) => [each.before.id, each]))
  for (const { run, plan } of planned) {
    const given = claimed.get(plan.job.id)
    running.seen.add(`claim ${given === undefined ? 'nothing' : 'given'}`)
    running.try(run, step, () => plan.learn(grant, given, now))
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

async function beats(store: Store, running: Running, step: number, planned: readonly Of<'beat'>[]): Promise<void> {
  if (planned.length === 0) return
  const { items, now } = await store.heartbeat(planned.map(({ plan }) => plan.beat))
  for (const [i, { run, plan }] of planned.entries()) {
    const answer = items[i]
    if (answer === undefined || answer.status === 'busy') continue
    running.seen.add(`heartbeat ${answer.status}`)
    running.try(run, step, () => plan.learn(answer, now))
  }
}

async function commits(store: Store, running: Running, step: number, planned: readonly Of<'commit'>[]): Promise<void> {
  if (planned.length === 0) return
  const { verdicts, now } = await store.commit(planned.map(({ plan }) => plan.change))
  for (const [i, { run, plan }] of planned.entries()) {
    const verdict = verdicts[i]
    if (verdict === undefined) continue
    running.seen.add(`${plan.change.kind} ${verdict.status}`)
    running.try(run, step, () => plan.learn(verdict, now))
  }
}

/** Records, bodies, logs, annotations and successors, each against the model. */
async function expectEndings(store: Store, running: Running, step: number): Promise<void> {
  const slots = running.in.flatMap((run) => run.slots.map((slot) => ({ run, slot })))
  const there = slots.filter(({ slot }) => slot.job !== undefined)
  const idOf = (slot: Slot) => slot.job?.id ?? ''
  const names = ['input', 'output', 'checkpoint', 'replaced', 'next', 'step/', 'signal/', 'error/']
  const { items } = await store.load(there.map(({ slot }) => ({ id: idOf(slot), bodies: names })))
  const logs = await Promise.all(
    there.map(({ slot }) => store.events({ by: 'job', id: idOf(slot), afterRev: 0, limit: 1_000 })),
  )
  const notes = await Promise.all(there.map(({ slot }) => store.events({ by: 'annotation', id: idOf(slot) })))
  for (const [i, { run, slot }] of there.entries()) {
    running.try(run, step, () => {
      for (const { type, to } of slot.events) running.seen.add(`event ${type}`).add(`state ${to}`)
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
  const born = running.in.flatMap((run) => run.successors.map((item) => ({ run, item })))
  if (born.length > 0) running.seen.add('successor')
  const successors = await store.load(born.map(({ item }) => ({ id: item.job.id, bodies: ['input'] })))
  for (const [i, { run, item }] of born.entries()) {
    running.try(run, step, () => {
      same(successors.items[i]?.job, item.job, 'a successor is there')
      same(successors.items[i]?.bodies['input'], item.input, 'with its input')
    })
  }
  const ended = running.in.flatMap((run) => run.purged.map((id) => ({ run, id })))
  const gone = await store.load(ended.map(({ id }) => ({ id })))
  for (const [i, { run }] of ended.entries()) {
    running.try(run, step, () => same(gone.items[i], undefined, 'what was purged is gone'))
  }
}

/** Every event of every program is in the feed, once. */
async function expectFeed(store: Store, running: Running, start: string, step: number): Promise<void> {
  const mine = new Map(running.in.map((run) => [run.tenant, { run, seen: [] as string[] }]))
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
  for (const { run, seen } of mine.values()) {
    running.try(run, step, () => {
      same(new Set(seen).size, seen.length, 'the feed repeats nothing')
      const shown = new Set(seen)
      const events = run.slots
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
