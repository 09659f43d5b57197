/** S10: text round-trips exactly, code unit by code unit, or is refused with a pointer to the place. */
import type { Command } from '../../core/command.ts'
import { decide } from '../../core/decide.ts'
import { idNumber, idText } from '../../core/id.ts'
import type { Job, Time } from '../../core/job.ts'
import type { Body, Inserted, JobQuery, Key, Lane, MoveChange, NewJob, Verdict } from '../store.ts'
import type { Check } from './conformance.ts'
import { holds, same } from './holds.ts'
import { HOSTILE_JSON, HOSTILE_NUMBERS, HOSTILE_TEXTS, MEBIBYTE } from './hostile.ts'
import { IN_A_CHANGE, IN_A_NEW_JOB } from './hostile-places.ts'
import type { Saying, StoreFixture } from './store-fixture.ts'

export const text: readonly Check[] = [
  ...Object.entries(IN_A_NEW_JOB).map(
    ([place, put]): Check => ({
      name: `in a new job: ${place}`,
      run: (fixture) =>
        inNewJobs(fixture, (text) => put(fixture.draft(), text), { ...HOSTILE_TEXTS, mebibyte: MEBIBYTE }),
    }),
  ),
  {
    name: 'in a new job: input',
    run: (fixture) => inNewJobs(fixture, (input) => fixture.draft({ input }), HOSTILE_JSON),
  },
  ...Object.entries(IN_A_CHANGE).map(
    ([place, say]): Check => ({
      name: `in a change: ${place}`,
      run: (fixture) => inChanges(fixture, HOSTILE_TEXTS, (job, text) => ({ saying: say(job, text), rest: {} })),
    }),
  ),
  {
    name: 'in a change: text of a body',
    run: (fixture) => inChanges(fixture, HOSTILE_JSON, (_, text) => withBody({ name: 'checkpoint', text })),
  },
  {
    name: 'in a change: name of a body',
    run: (fixture) => inChanges(fixture, HOSTILE_TEXTS, (_, text) => withBody({ name: `step/${text}`, text })),
  },
  {
    name: 'in a change: a key',
    run: (fixture) =>
      inChanges(fixture, { ...HOSTILE_TEXTS, mebibyte: MEBIBYTE }, (_, key) => {
        const take: readonly Key[] = [{ purpose: 'slot', key, until: undefined }]
        return { saying: { type: 'signal', name: 's' }, rest: { take } }
      }),
  },
  { name: 'in a claim: worker, actor and request', run: inClaims },
  { name: 'in a heartbeat: fence and request', run: inHeartbeats },
  {
    name: 'jobs whose numbers are as large as they get live like all others',
    async run(fixture) {
      const place = (idNumber(fixture.id()) ?? 0) * 8
      for (const far of [2 ** 31, 2 ** 46, 2 ** 52]) {
        const queue = `far-${far}`
        const drafts = [1, 2, 3].map((n) => fixture.draft({ queue, input: String(n) }, idText(far + place + n)))
        const { items } = await fixture.store.insert(drafts)
        same(
          items,
          drafts.map(() => ({ status: 'inserted' })),
          'all are inserted',
        )
        const { jobs } = await fixture.claim({ queue, limit: 2 })
        const ids = drafts.map(({ job }) => job.id)
        same(
          jobs.map(({ before, input }) => [before.id, input]),
          [
            [ids[0], '1'],
            [ids[1], '2'],
          ],
          'in order',
        )
        const first = await fixture.record(ids[0] ?? '')
        const [beaten] = (await fixture.store.heartbeat([{ id: first.id, fence: fenceOf(first), requestId: 'b' }]))
          .items
        same(beaten?.status, 'renewed', 'it is kept')
        const beating = await fixture.record(first.id)
        await fixture.say(beating, { type: 'complete', fence: fenceOf(beating) }, beating.updatedAt)
        await fixture.expectFolds(first.id)
        const found = await fixture.store.find({ tenant: fixture.tenant, queues: [queue], order: 'oldest', limit: 2 })
        same(
          found.jobs.map(({ id }) => id),
          ids.slice(0, 2),
          'it is found',
        )
        const rest = await fixture.store.find({
          tenant: fixture.tenant,
          queues: [queue],
          order: 'oldest',
          limit: 2,
          cursor: found.cursor,
        })
        same(
          rest.jobs.map(({ id }) => id),
          ids.slice(2),
          'and what comes behind it',
        )
      }
    },
  },
  {
    name: 'numbers keep their last bit and their sign',
    async run(fixture) {
      const jobs = await running(fixture, HOSTILE_NUMBERS.length)
      for (const [i, done] of HOSTILE_NUMBERS.entries()) {
        const job = jobs[i] as Job
        const progress = { done, total: done, message: undefined, etaAt: undefined }
        const saying: Saying = { type: 'progress', fence: fenceOf(job), progress, counters: { n: done } }
        const change = attempt(fixture, job, saying, {})
        if (change !== undefined)
          await expectKept(fixture, change, (await fixture.commit(change))[0] as Verdict, String(done))
      }
    },
  },
]

const fenceOf = (job: Job): string => job.lease?.fence ?? ''

type Texts = Readonly<Record<string, string>>

async function inNewJobs(fixture: StoreFixture, put: (text: string) => NewJob, texts: Texts): Promise<void> {
  const hostile = Object.entries(texts).map(([name, text]) => ({ name, draft: put(text) }))
  const neighbours = hostile.map(() => fixture.draft({ queue: 'neighbours' }))
  const batch = hostile.flatMap(({ draft }, i) => [draft, neighbours[i] as NewJob])
  const { items } = await fixture.store.insert(batch)
  const born: Hostile[] = []
  for (const [i, { name, draft }] of hostile.entries()) {
    same(items[2 * i + 1], { status: 'inserted' }, `${name}: its neighbour is inserted`)
    if (await accepted(fixture, name, draft, items[2 * i] as Inserted)) born.push({ name, draft })
  }
  await Promise.all(born.map((each) => expectBorn(fixture, each)))
  await expectLivable(fixture, born)
}

interface Hostile {
  readonly name: string
  readonly draft: NewJob
}

/** False where it was refused with a pointer, and is not there. */
async function accepted(fixture: StoreFixture, name: string, { job }: NewJob, answer: Inserted): Promise<boolean> {
  if (answer.status !== 'rejected') {
    same(answer, { status: 'inserted' }, `${name}: it is inserted, or refused with a pointer`)
    return true
  }
  holds(answer.field !== '' && answer.rule !== '', `${name}: a refusal names the place and the rule`)
  await fixture.expectGone(job.id, `${name}: what was refused is not there`)
  return false
}

/** It is there exactly as given. */
async function expectBorn(fixture: StoreFixture, { name, draft }: Hostile): Promise<void> {
  const { job, input, event } = draft
  const bodies = input === undefined ? {} : { input }
  same(await fixture.loaded(job.id, ['input']), { job, bodies, caused: [] }, `${name}: it comes back as it was`)
  same(await fixture.events(job.id), [event], `${name}: so does its event`)
  await expectFound(fixture, name, job)
}

/** It can be claimed and lived to its end like any other. */
async function expectLivable(fixture: StoreFixture, born: readonly Hostile[]): Promise<void> {
  const lanes = new Map<string, Lane>()
  for (const { draft } of born) {
    const { spec, priority } = draft.job
    const { tenant, queue } = spec.kind
    lanes.set(JSON.stringify([tenant, queue]), { tenant, queue, priority })
  }
  const { jobs } = await fixture.claim({ lanes: [...lanes.values()], limit: born.length + 1, maxInputBytes: 64 << 20 })
  const claimed = new Map(jobs.map((each) => [each.before.id, each]))
  same(jobs.length, born.length, 'each is claimed')
  for (const { name, draft } of born) {
    const { before, input } = claimed.get(draft.job.id) ?? {}
    same([before, input], [draft.job, draft.input], `${name}: it can be claimed`)
  }
  const { items } = await fixture.store.load(born.map(({ draft }) => ({ id: draft.job.id })))
  const owned = items.map((item) => item?.job as Job)
  const ends = owned.map((job) => fixture.change(job, { type: 'complete', fence: fenceOf(job) }, job.updatedAt))
  same(
    await fixture.commit(...ends),
    born.map(() => ({ status: 'applied' })),
    'each is completed',
  )
  await Promise.all(born.map(({ draft }) => fixture.expectFolds(draft.job.id)))
}

/** By each of its heads. */
async function expectFound(fixture: StoreFixture, name: string, { id, spec }: Job): Promise<void> {
  const { tenant, queue, type } = spec.kind
  const { labels, correlationId, workflowId, dedupeKey, alias } = spec
  const query: JobQuery = {
    tenant,
    queues: [queue],
    types: [type],
    labels,
    correlationId,
    workflowId,
    dedupeKey,
    createdFrom: fixture.begin,
    createdTo: fixture.begin + 1,
    order: 'newest',
    limit: 100,
  }
  const { jobs } = await fixture.store.find(query)
  holds(
    jobs.some((job) => job.id === id),
    `${name}: it is found by what it was given`,
  )
  if (alias === undefined) return
  same((await fixture.store.load([{ id: alias, tenant }])).items[0]?.job.id, id, `${name}: it is found by its alias`)
}

/** Jobs at work, as many as asked for. */
async function running(fixture: StoreFixture, count: number): Promise<readonly Job[]> {
  let jobs = await fixture.insert(...Array.from({ length: count }, () => ({})))
  const all = async (say: (job: Job) => Saying) => {
    const changes = jobs.map((job) => fixture.change(job, say(job), fixture.begin))
    same(
      await fixture.commit(...changes),
      jobs.map(() => ({ status: 'applied' })),
      'they are at work',
    )
    jobs = changes.map(({ after }) => after)
  }
  await all(() => ({ type: 'claim', workerId: 'w', nonce: '00000000000000aa' }))
  await all((job) => ({ type: 'start', fence: fenceOf(job) }))
  return jobs
}

interface Wish {
  readonly saying: Saying
  readonly rest: Partial<MoveChange>
}

function withBody(body: Body): Wish {
  const ref = { name: 'signal/1', size: 1, digest: undefined }
  return { saying: { type: 'signal', name: 's', body: ref }, rest: { bodies: [body] } }
}

/** Undefined where core has refused it with a pointer of its own. */
function attempt(fixture: StoreFixture, job: Job, saying: Saying, rest: Partial<MoveChange>): MoveChange | undefined {
  const command = { actor: 'suite', requestId: fixture.requestId(), ...saying } as Command
  return refusedByCore(job, command, fixture.begin) ? undefined : fixture.change(job, saying, fixture.begin, rest)
}

/** What core refuses with a pointer of its own never reaches a store. */
function refusedByCore(job: Job, command: Command, now: Time): boolean {
  const decision = decide(job, command, now)
  return decision.kind === 'refused' && decision.refusal.violations.length > 0
}

async function inChanges(fixture: StoreFixture, texts: Texts, wish: (job: Job, text: string) => Wish): Promise<void> {
  const changes: { readonly name: string; readonly change: MoveChange }[] = []
  const jobs = await running(fixture, Object.keys(texts).length)
  for (const [i, [name, text]] of Object.entries(texts).entries()) {
    const job = jobs[i] as Job
    const { saying, rest } = wish(job, text)
    const change = attempt(fixture, job, saying, rest)
    if (change !== undefined) changes.push({ name, change })
  }
  const neighbours = await fixture.insert(...changes.map(() => ({ queue: 'neighbours' })))
  const ends = neighbours.map((job) => fixture.change(job, { type: 'cancel', mode: 'hard' }, fixture.begin))
  const verdicts = await fixture.commit(...changes.flatMap(({ change }, i) => [change, ends[i] as MoveChange]))
  for (const [i, { name }] of changes.entries()) {
    same(verdicts[2 * i + 1], { status: 'applied' }, `${name}: its neighbour is applied`)
  }
  const kept = ({ name, change }: { name: string; change: MoveChange }, i: number) =>
    expectKept(fixture, change, verdicts[2 * i] as Verdict, name)
  await Promise.all(changes.map(kept))
}

async function expectKept(fixture: StoreFixture, change: MoveChange, verdict: Verdict, name: string): Promise<void> {
  const { before, after, events, bodies } = change
  if (verdict.status === 'rejected') {
    holds(verdict.field !== '' && verdict.rule !== '', `${name}: a refusal names the place and the rule`)
    return fixture.expectRecord(before, `${name}: what was refused has changed nothing`)
  }
  same(verdict, { status: 'applied' }, `${name}: it is applied, or refused with a pointer`)
  const names = bodies.map((body) => body.name)
  const requestId = events[0]?.requestId
  const { items } = await fixture.store.load([{ id: after.id, bodies: names, requestId }])
  const texts = Object.fromEntries(bodies.map((body) => [body.name, body.text]))
  same(items[0], { job: after, bodies: texts, caused: events }, `${name}: it comes back as it was`)
  await fixture.expectFolds(after.id)
}

async function inClaims(fixture: StoreFixture): Promise<void> {
  for (const [name, text] of Object.entries(HOSTILE_TEXTS)) {
    const job = await fixture.insertOne()
    const grant = fixture.grant({ workerId: text, actor: text, requestId: `${fixture.tenant}${text}` })
    const { actor, requestId, workerId, nonce } = grant
    if (refusedByCore(job, { type: 'claim', actor, requestId, workerId, nonce }, fixture.begin)) {
      await fixture.say(job, { type: 'cancel', mode: 'hard' })
      continue
    }
    const { jobs } = await fixture.store.claim(grant)
    same(
      jobs.map(({ before }) => before.id),
      [job.id],
      `${name}: it is claimed`,
    )
    const { owner } = await fixture.record(job.id)
    same(owner?.workerId, text, `${name}: the worker’s name comes back`)
    const event = (await fixture.events(job.id)).at(-1)
    same([event?.actor, event?.requestId], [text, grant.requestId], `${name}: so do actor and request`)
    same((await fixture.store.claim(grant)).replayed, true, `${name}: a repetition is known`)
  }
}

async function inHeartbeats(fixture: StoreFixture): Promise<void> {
  const job = await fixture.claimed()
  for (const [name, text] of Object.entries(HOSTILE_TEXTS)) {
    const mine = { id: job.id, fence: fenceOf(job), requestId: text }
    if (refusedByCore(job, { type: 'heartbeat', actor: 'w', fence: mine.fence, requestId: text }, fixture.begin))
      continue
    const { items } = await fixture.store.heartbeat([mine, { ...mine, fence: text }, { ...mine, id: text }])
    same(
      items.map(({ status }) => status),
      ['renewed', 'lost', 'lost'],
      `${name}: the owner’s is renewed`,
    )
    same((await fixture.record(job.id)).lease?.lastBeatId, text, `${name}: its request comes back`)
  }
  await fixture.expectFolds(job.id)
}
