/** S10: text round-trips exactly, code unit by code unit, or is refused with a pointer to the place. */
import type { Command } from '../../core/command.ts'
import { decide } from '../../core/decide.ts'
import type { Event } from '../../core/event.ts'
import type { Job, Spec, Time } from '../../core/job.ts'
import type { Body, Change, Inserted, JobQuery, Key, NewJob, Verdict } from '../store.ts'
import type { Scene } from './conformance.ts'
import { holds, same } from './holds.ts'
import { HOSTILE_JSON, HOSTILE_NUMBERS, HOSTILE_TEXTS, MEBIBYTE } from './hostile.ts'
import type { Saying, Stage } from './stage.ts'

/** Everywhere a producer's words go. */
const IN_A_NEW_JOB: Readonly<Record<string, (draft: NewJob, text: string) => NewJob>> = {
  tenant: (draft, text) => kindOf(draft, { tenant: text }),
  queue: (draft, text) => kindOf(draft, { queue: text }),
  type: (draft, text) => kindOf(draft, { type: text }),
  'error code of the policy': (draft, text) => {
    const { policy } = draft.job.spec.kind
    return kindOf(draft, { policy: { ...policy, errors: entry(text, 'permanent') } })
  },
  alias: (draft, text) => specOf(draft, { alias: text }),
  contextPtr: (draft, text) => specOf(draft, { contextPtr: text }),
  topic: (draft, text) => specOf(draft, { topic: text }),
  adapterId: (draft, text) => specOf(draft, { adapterId: text }),
  'name in env': (draft, text) => specOf(draft, { env: entry(text, 'x') }),
  'value in env': (draft, text) => specOf(draft, { env: entry('x', text) }),
  'name of a label': (draft, text) => specOf(draft, { labels: entry(text, 'x') }),
  'value of a label': (draft, text) => specOf(draft, { labels: entry('x', text) }),
  workflowId: (draft, text) => specOf(draft, { workflowId: text }),
  dedupeKey: (draft, text) => specOf(draft, { dedupeKey: text }),
  correlationId: (draft, text) => eventOf(specOf(draft, { correlationId: text }), { correlationId: text }),
  traceparent: (draft, text) => specOf(draft, { traceparent: text }),
  'digest of the input': (draft, text) => specOf(draft, { input: { name: 'input', size: 1, digest: text } }),
  actor: (draft, text) => eventOf(draft, { actor: text }),
  requestId: (draft, text) => eventOf(draft, { requestId: text }),
  cause: (draft, text) => eventOf(draft, { cause: text }),
  'dedupe key': (draft, text) => ({ ...draft, keys: [{ purpose: 'dedupe', key: text, until: undefined }] }),
  'idempotency key': (draft, text) => ({ ...draft, keys: [{ purpose: 'idempotency', key: text, until: undefined }] }),
}

/** Everywhere a worker's, an operator's and a passer-by's words go. Core refuses some; a store must bear the rest. */
const IN_A_CHANGE: Readonly<Record<string, (job: Job, text: string) => Saying>> = {
  'name of a signal': (_, name) => ({ type: 'signal', name }),
  'key of a signal': (_, key) => ({ type: 'signal', name: 's', key }),
  'digest of a body': (_, digest) => ({ type: 'signal', name: 's', body: { name: 'signal/1', size: 1, digest } }),
  actor: (_, actor) => ({ type: 'signal', name: 's', actor }),
  requestId: (_, requestId) => ({ type: 'signal', name: 's', requestId }),
  cause: (_, cause) => ({ type: 'signal', name: 's', cause }),
  correlationId: (_, correlationId) => ({ type: 'signal', name: 's', correlationId }),
  traceparent: (_, traceparent) => ({ type: 'signal', name: 's', traceparent }),
  'reason of a cancel': (_, reason) => ({ type: 'cancel', mode: 'soft', reason }),
  'progress message': (job, message) => ({
    type: 'progress',
    fence: fenceOf(job),
    progress: { done: 1, total: undefined, message, etaAt: undefined },
  }),
  'name of a counter': (job, name) => ({ type: 'progress', fence: fenceOf(job), counters: entry(name, 1) }),
  'name of an artifact': (job, name) => ({ type: 'record', fence: fenceOf(job), artifact: { name, ptr: 'p' } }),
  'pointer of an artifact': (job, ptr) => ({ type: 'record', fence: fenceOf(job), artifact: { name: 'a', ptr } }),
  'name of a step': (job, name) => ({
    type: 'record',
    fence: fenceOf(job),
    step: { name, body: undefined, compensate: true },
  }),
  'code of an error': (job, code) => ({ type: 'fail', fence: fenceOf(job), fault: { code, message: 'm' } }),
  'message of an error': (job, message) => ({ type: 'fail', fence: fenceOf(job), fault: { code: 'E', message } }),
  'context of an error': (job, text) => ({
    type: 'fail',
    fence: fenceOf(job),
    fault: { code: 'E', message: 'm', context: entry(text, text) },
  }),
  'message of a dead letter': (_, message) => ({
    type: 'deadLetter',
    reason: 'policy_violation',
    stage: 'exec',
    message,
  }),
  'name of a wait': (job, name) => ({ type: 'wait', fence: fenceOf(job), name }),
  'key of a wait': (job, key) => ({ type: 'wait', fence: fenceOf(job), name: 'w', key }),
  'memo of a wait': (job, memo) => ({ type: 'wait', fence: fenceOf(job), name: 'w', memo }),
  'pointer of a result': (job, resultPtr) => ({ type: 'complete', fence: fenceOf(job), resultPtr }),
}

export const text: readonly Scene[] = [
  ...Object.entries(IN_A_NEW_JOB).map(
    ([place, put]): Scene => ({
      name: `in a new job: ${place}`,
      play: (stage) => inNewJobs(stage, (text) => put(stage.draft(), text), { ...HOSTILE_TEXTS, mebibyte: MEBIBYTE }),
    }),
  ),
  {
    name: 'in a new job: input',
    play: (stage) => inNewJobs(stage, (input) => stage.draft({ input }), HOSTILE_JSON),
  },
  ...Object.entries(IN_A_CHANGE).map(
    ([place, say]): Scene => ({
      name: `in a change: ${place}`,
      play: (stage) => inChanges(stage, HOSTILE_TEXTS, (job, text) => ({ saying: say(job, text), rest: {} })),
    }),
  ),
  {
    name: 'in a change: text of a body',
    play: (stage) => inChanges(stage, HOSTILE_JSON, (_, text) => withBody({ name: 'checkpoint', text })),
  },
  {
    name: 'in a change: name of a body',
    play: (stage) => inChanges(stage, HOSTILE_TEXTS, (_, text) => withBody({ name: `step/${text}`, text })),
  },
  {
    name: 'in a change: a key',
    play: (stage) =>
      inChanges(stage, { ...HOSTILE_TEXTS, mebibyte: MEBIBYTE }, (_, key) => {
        const take: readonly Key[] = [{ purpose: 'slot', key, until: undefined }]
        return { saying: { type: 'signal', name: 's' }, rest: { take } }
      }),
  },
  { name: 'in a claim: worker, actor and request', play: inClaims },
  { name: 'in a heartbeat: fence and request', play: inHeartbeats },
  { name: 'in a query: nothing found is no error', play: inQueries },
  { name: 'in a setting: key and text', play: inSettings },
  {
    name: 'numbers keep their last bit and their sign',
    async play(stage) {
      for (const done of HOSTILE_NUMBERS) {
        const job = await running(stage)
        const progress = { done, total: done, message: undefined, etaAt: undefined }
        const saying: Saying = { type: 'progress', fence: fenceOf(job), progress, counters: { n: done } }
        const change = attempt(stage, job, saying, {})
        if (change !== undefined)
          await expectKept(stage, change, (await stage.commit(change))[0] as Verdict, String(done))
      }
    },
  },
]

const fenceOf = (job: Job): string => job.lease?.fence ?? ''

/** Survives a key called `__proto__`. */
const entry = <T>(name: string, value: T): Readonly<Record<string, T>> => Object.fromEntries([[name, value]])

function specOf(draft: NewJob, changes: Partial<Spec>): NewJob {
  const spec = { ...draft.job.spec, ...changes }
  const payload = { ...draft.event.payload, spec }
  return { ...draft, job: { ...draft.job, spec }, event: { ...draft.event, payload } as Event }
}

const kindOf = (draft: NewJob, changes: Partial<Spec['kind']>): NewJob =>
  specOf(draft, { kind: { ...draft.job.spec.kind, ...changes } })

const eventOf = (draft: NewJob, changes: Partial<Event>): NewJob => ({
  ...draft,
  event: { ...draft.event, ...changes } as Event,
})

type Texts = Readonly<Record<string, string>>

async function inNewJobs(stage: Stage, put: (text: string) => NewJob, texts: Texts): Promise<void> {
  const hostile = Object.entries(texts).map(([name, text]) => ({ name, draft: put(text) }))
  const neighbours = hostile.map(() => stage.draft({ queue: 'neighbours' }))
  const batch = hostile.flatMap(({ draft }, i) => [draft, neighbours[i] as NewJob])
  const { items } = await stage.store.insert(batch)
  for (const [i, { name, draft }] of hostile.entries()) {
    same(items[2 * i + 1], { status: 'inserted' }, `${name}: its neighbour is inserted`)
    await expectBorn(stage, name, draft, items[2 * i] as Inserted)
  }
}

/** It is there exactly as given and can be lived to its end; or it was refused with a pointer and is not there. */
async function expectBorn(stage: Stage, name: string, draft: NewJob, answer: Inserted): Promise<void> {
  const { id, spec, priority } = draft.job
  if (answer.status === 'rejected') {
    holds(answer.field !== '' && answer.rule !== '', `${name}: a refusal names the place and the rule`)
    return stage.expectGone(id, `${name}: what was refused is not there`)
  }
  same(answer, { status: 'inserted' }, `${name}: it is inserted, or refused with a pointer`)
  const bodies = draft.input === undefined ? {} : { input: draft.input }
  same(await stage.loaded(id, ['input']), { job: draft.job, bodies, caused: [] }, `${name}: it comes back as it was`)
  same(await stage.events(id), [draft.event], `${name}: so does its event`)
  await expectFound(stage, name, draft.job)
  const { tenant, queue } = spec.kind
  const { jobs } = await stage.claim({ lanes: [{ tenant, queue, priority }], limit: 1 })
  same(
    jobs.map(({ before, input }) => [before, input]),
    [[draft.job, draft.input]],
    `${name}: it can be claimed`,
  )
  const claimed = await stage.record(id)
  await stage.say(claimed, { type: 'complete', fence: fenceOf(claimed) }, claimed.updatedAt)
  await stage.expectFolds(id)
}

/** By each of its heads. */
async function expectFound(stage: Stage, name: string, { id, spec }: Job): Promise<void> {
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
    createdFrom: stage.begin,
    createdTo: stage.begin + 1,
    order: 'newest',
    limit: 100,
  }
  const { jobs } = await stage.store.find(query)
  holds(
    jobs.some((job) => job.id === id),
    `${name}: it is found by what it was given`,
  )
  if (alias === undefined) return
  same((await stage.store.load([{ id: alias, tenant }])).items[0]?.job.id, id, `${name}: it is found by its alias`)
}

async function running(stage: Stage): Promise<Job> {
  const claim: Saying = { type: 'claim', workerId: 'w', nonce: '00000000000000aa' }
  const claimed = await stage.say(await stage.insertOne(), claim)
  return stage.say(claimed, { type: 'start', fence: fenceOf(claimed) })
}

type Move = Extract<Change, { kind: 'move' }>

interface Wish {
  readonly saying: Saying
  readonly rest: Partial<Move>
}

function withBody(body: Body): Wish {
  const ref = { name: 'signal/1', size: 1, digest: undefined }
  return { saying: { type: 'signal', name: 's', body: ref }, rest: { bodies: [body] } }
}

/** Undefined where core has refused it with a pointer of its own. */
function attempt(stage: Stage, job: Job, saying: Saying, rest: Partial<Move>): Move | undefined {
  const command = { actor: 'suite', requestId: stage.requestId(), ...saying } as Command
  return refusedByCore(job, command, stage.begin) ? undefined : stage.change(job, saying, stage.begin, rest)
}

/** What core refuses with a pointer of its own never reaches a store. */
function refusedByCore(job: Job, command: Command, now: Time): boolean {
  const decision = decide(job, command, now)
  return decision.kind === 'refused' && decision.refusal.violations.length > 0
}

async function inChanges(stage: Stage, texts: Texts, wish: (job: Job, text: string) => Wish): Promise<void> {
  const changes: { readonly name: string; readonly change: Move }[] = []
  for (const [name, text] of Object.entries(texts)) {
    const job = await running(stage)
    const { saying, rest } = wish(job, text)
    const change = attempt(stage, job, saying, rest)
    if (change !== undefined) changes.push({ name, change })
  }
  const neighbours = await stage.insert(...changes.map(() => ({ queue: 'neighbours' })))
  const ends = neighbours.map((job) => stage.change(job, { type: 'cancel', mode: 'hard' }, stage.begin))
  const verdicts = await stage.commit(...changes.flatMap(({ change }, i) => [change, ends[i] as Move]))
  for (const [i, { name, change }] of changes.entries()) {
    same(verdicts[2 * i + 1], { status: 'applied' }, `${name}: its neighbour is applied`)
    await expectKept(stage, change, verdicts[2 * i] as Verdict, name)
  }
}

async function expectKept(stage: Stage, change: Move, verdict: Verdict, name: string): Promise<void> {
  const { before, after, events, bodies } = change
  if (verdict.status === 'rejected') {
    holds(verdict.field !== '' && verdict.rule !== '', `${name}: a refusal names the place and the rule`)
    return stage.expectRecord(before, `${name}: what was refused has changed nothing`)
  }
  same(verdict, { status: 'applied' }, `${name}: it is applied, or refused with a pointer`)
  const names = bodies.map((body) => body.name)
  const requestId = events[0]?.requestId
  const { items } = await stage.store.load([{ id: after.id, bodies: names, requestId }])
  const texts = Object.fromEntries(bodies.map((body) => [body.name, body.text]))
  same(items[0], { job: after, bodies: texts, caused: events }, `${name}: it comes back as it was`)
  await stage.expectFolds(after.id)
}

async function inClaims(stage: Stage): Promise<void> {
  for (const [name, text] of Object.entries(HOSTILE_TEXTS)) {
    const job = await stage.insertOne()
    const grant = stage.grant({ workerId: text, actor: text, requestId: `${stage.tenant}${text}` })
    const { actor, requestId, workerId, nonce } = grant
    if (refusedByCore(job, { type: 'claim', actor, requestId, workerId, nonce }, stage.begin)) {
      await stage.say(job, { type: 'cancel', mode: 'hard' })
      continue
    }
    const { jobs } = await stage.store.claim(grant)
    same(
      jobs.map(({ before }) => before.id),
      [job.id],
      `${name}: it is claimed`,
    )
    const { owner } = await stage.record(job.id)
    same(owner?.workerId, text, `${name}: the worker’s name comes back`)
    const event = (await stage.events(job.id)).at(-1)
    same([event?.actor, event?.requestId], [text, grant.requestId], `${name}: so do actor and request`)
    same((await stage.store.claim(grant)).replayed, true, `${name}: a repetition is known`)
  }
}

async function inHeartbeats(stage: Stage): Promise<void> {
  const job = await stage.claimed()
  for (const [name, text] of Object.entries(HOSTILE_TEXTS)) {
    const mine = { id: job.id, fence: fenceOf(job), requestId: text }
    if (refusedByCore(job, { type: 'heartbeat', actor: 'w', fence: mine.fence, requestId: text }, stage.begin)) continue
    const { items } = await stage.store.heartbeat([mine, { ...mine, fence: text }, { ...mine, id: text }])
    same(
      items.map(({ status }) => status),
      ['renewed', 'lost', 'lost'],
      `${name}: the owner’s is renewed`,
    )
    same((await stage.record(job.id)).lease?.lastBeatId, text, `${name}: its request comes back`)
  }
  await stage.expectFolds(job.id)
}

async function inQueries(stage: Stage): Promise<void> {
  const page = { order: 'newest', limit: 5 } as const
  for (const [name, text] of Object.entries({ ...HOSTILE_TEXTS, mebibyte: MEBIBYTE })) {
    const { items } = await stage.store.load([{ id: text }, { id: text, tenant: stage.tenant, requestId: text }])
    same(items, [undefined, undefined], `${name}: no such job`)
    const { tenant } = stage
    const queries: readonly Partial<JobQuery>[] = [
      { tenant: `${tenant}${text}` },
      { tenant, queues: [text] },
      { tenant, types: [text] },
      { tenant, labels: entry(text, text) },
      { tenant, correlationId: text },
      { tenant, workflowId: text },
      { tenant, dedupeKey: text },
      { tenant, code: text },
    ]
    for (const query of queries) same((await stage.store.find({ ...query, ...page })).jobs, [], `${name}: none`)
    const lanes = [{ tenant, queue: text, priority: 5 }]
    same((await stage.claim({ lanes })).jobs, [], `${name}: nothing to claim`)
    const found = await stage.store.events({ by: 'correlation', tenant, correlationId: text, limit: 5 })
    same(found.events, [], `${name}: no event`)
  }
}

async function inSettings(stage: Stage): Promise<void> {
  for (const [name, text] of Object.entries({ ...HOSTILE_TEXTS, mebibyte: MEBIBYTE })) {
    const key = `${stage.tenant}${text}`
    const at = { collection: 'token', key } as const
    const put = { op: 'put', ...at, text, rev: 0 } as const
    // There is no verdict for a document that cannot be kept: the call itself says so.
    const written = await stage.store.settings([put]).catch(() => undefined)
    if (written === undefined) continue
    const [got] = await stage.store.settings([{ op: 'get', ...at }])
    same(
      got?.settings.map((each) => [each.key, each.text]),
      [[key, text]],
      `${name}: it comes back as it was`,
    )
  }
  const [list] = await stage.store.settings([{ op: 'list', collection: 'token', after: '', limit: 10_000 }])
  const mine = list?.settings.filter(({ key }) => key.startsWith(stage.tenant)) ?? []
  same(new Set(mine.map(({ key }) => key)).size, mine.length, 'each is listed once')
  holds(mine.length >= Object.keys(HOSTILE_TEXTS).length, 'all are listed')
}
