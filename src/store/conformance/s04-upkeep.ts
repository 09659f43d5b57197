/** S4, continued: what happens to a job besides its life: compaction, notes about late words, removal. */
import { compact } from '../../core/compact.ts'
import { decide } from '../../core/decide.ts'
import type { Annotation } from '../../core/event.ts'
import type { Job } from '../../core/job.ts'
import type { Change } from '../store.ts'
import type { Check } from './conformance.ts'
import { holds, same } from './holds.ts'
import type { JobOptions, StoreFixture } from './store-fixture.ts'

export const upkeep: readonly Check[] = [
  {
    name: 'compaction replaces observations by one, and the fold stays equal',
    async run(fixture) {
      let job = await running(fixture)
      const fence = fenceOf(job)
      const words = [{ documents: 1 }, { documents: 2, pages: 5 }, { pages: 1 }]
      for (const counters of words) job = await fixture.say(job, { type: 'progress', fence, counters })
      job = await fixture.say(job, { type: 'complete', fence })
      const compaction = compact(await fixture.events(job.id))
      holds(compaction !== undefined, 'there is something to compact')
      const { event, replaces } = compaction
      const stale: Change = { kind: 'compact', before: { ...job, rev: job.rev - 1 }, event, replaces }
      same(await fixture.commit(stale), [{ status: 'conflict' }], 'not from an old revision')
      same(await fixture.commit({ kind: 'compact', before: job, event, replaces }), [{ status: 'applied' }], 'applied')
      await fixture.expectRecord(job, 'the record is as it was')
      const types = (await fixture.events(job.id)).map(({ type }) => type)
      same(types, ['enqueued', 'claimed', 'started', 'compacted', 'succeeded'], 'one stands for three')
      await fixture.expectFolds(job.id)
    },
  },
  {
    name: 'what was reopened meanwhile is neither compacted nor purged',
    async run(fixture) {
      let job = await running(fixture)
      const fence = fenceOf(job)
      for (const documents of [1, 2, 3])
        job = await fixture.say(job, { type: 'progress', fence, counters: { documents } })
      const ended = await fixture.say(job, { type: 'deadLetter', fence, reason: 'policy_violation', stage: 'exec' })
      const compaction = compact(await fixture.events(job.id))
      holds(compaction !== undefined, 'there is something to compact')
      const reopened = await fixture.say(ended, { type: 'reopen' })
      const late: readonly Change[] = [
        { kind: 'compact', before: ended, ...compaction },
        { kind: 'purge', before: ended },
      ]
      for (const change of late)
        same(await fixture.commit(change), [{ status: 'conflict' }], `${change.kind} comes too late`)
      await fixture.expectRecord(reopened, 'it goes on')
      await fixture.expectFolds(job.id)
    },
  },
  {
    name: 'a stripped job keeps its record and its log, and nothing beside them',
    async run(fixture) {
      const kept = await fixture.insertOne({ input: '"kept"', queue: 'elsewhere' })
      const ended = await lived(fixture)
      const stale = fixture.change({ ...ended, rev: ended.rev - 1 }, { type: 'strip' }, ended.updatedAt)
      same(await fixture.commit(stale), [{ status: 'conflict' }], 'not from an old revision')
      const bare = await fixture.say(ended, { type: 'strip' }, ended.updatedAt)
      await fixture.expectRecord(bare, 'the record says so')
      await fixture.expectFolds(bare.id)
      const wanted = { bodies: ['input', 'output', 'checkpoint', 'step/', 'signal/'], check: true }
      const [found] = (await fixture.store.load([{ id: 'bare', tenant: fixture.tenant, ...wanted }])).items
      same([found?.bodies, found?.altered ?? []], [{}, []], 'and nothing is missing that should be there')
      const [other] = (await fixture.store.load([{ id: kept.id, ...wanted }])).items
      same(other?.bodies, { input: '"kept"' }, 'others have theirs')
      const { jobs } = await fixture.store.find({ tenant: fixture.tenant, states: ['succeeded'], ...FIRST })
      same(
        jobs.map(({ id }) => id),
        [bare.id],
        'it is found once',
      )
    },
  },
  {
    name: 'what was reopened meanwhile keeps its bodies, and what was stripped meanwhile is not reopened',
    async run(fixture) {
      for (const first of ['reopen', 'strip'] as const) {
        const job = await fixture.insertOne({ input: '1' })
        const ended = await fixture.say(job, { type: 'cancel', mode: 'hard' }, job.updatedAt)
        const words = { reopen: { type: 'reopen' }, strip: { type: 'strip', evenOf: 'cancelled' } } as const
        const late = fixture.change(ended, words[first === 'reopen' ? 'strip' : 'reopen'], ended.updatedAt)
        const next = await fixture.say(ended, words[first], ended.updatedAt)
        same(await fixture.commit(late), [{ status: 'conflict' }], `after ${first} the other comes too late`)
        await fixture.expectRecord(next, 'it is as the first has left it')
        const [found] = (await fixture.store.load([{ id: job.id, bodies: ['input'] }])).items
        same(found?.bodies, first === 'reopen' ? { input: '1' } : {}, `its input after ${first}`)
      }
    },
  },
  {
    name: 'a late word is written down once per job, attempt and command',
    async run(fixture) {
      const job = await running(fixture)
      const note: Annotation = annotation(fixture, job, 'complete')
      const changes: Change[] = [
        { kind: 'annotate', annotation: note },
        { kind: 'annotate', annotation: { ...note, requestId: 'again', at: note.at + 1 } },
        { kind: 'annotate', annotation: { ...note, command: 'fail' } },
        { kind: 'annotate', annotation: { ...note, attempt: note.attempt + 1 } },
      ]
      for (const change of changes) same(await fixture.commit(change), [{ status: 'applied' }], 'noted, or known')
      const { annotations } = await fixture.store.events({ by: 'annotation', id: job.id })
      const seen = annotations.map(({ attempt, command }) => `${attempt} ${command}`).toSorted()
      same(seen, ['1 complete', '1 fail', '2 complete'], 'each once')
      same(
        annotations.find(({ command, attempt }) => command === 'complete' && attempt === 1),
        note,
        'the first stands',
      )
      await fixture.expectRecord(job, 'the record is as it was')
      await fixture.expectFolds(job.id)
      const nobody = { ...note, jobId: fixture.id() }
      same(await fixture.commit({ kind: 'annotate', annotation: nobody }), [{ status: 'conflict' }], 'about no job')
    },
  },
  {
    name: 'a purged job is gone with all that was its own, and counted once',
    async run(fixture) {
      const job = await fixture.insertOne({ alias: 'gone', input: '1', keys: [DEDUPE] })
      const bodies = [{ name: 'output', text: '2' }]
      const ended = await fixture.apply(
        fixture.change(job, { type: 'cancel', mode: 'hard' }, fixture.begin, { bodies }),
      )
      await fixture.commit({ kind: 'annotate', annotation: { ...annotation(fixture, ended, 'start'), attempt: 1 } })
      const { purged } = await fixture.store.events({ by: 'tally' })
      same(await fixture.commit({ kind: 'purge', before: job }), [{ status: 'conflict' }], 'not from an old revision')
      const other = await fixture.another()
      const answers = await Promise.all([
        fixture.store.commit([{ kind: 'purge', before: ended }]),
        other.commit([{ kind: 'purge', before: ended }]),
      ])
      const verdicts = answers.flatMap((answer) => answer.verdicts.map(({ status }) => status))
      same(verdicts.toSorted(), ['applied', 'conflict'], 'once')
      await fixture.expectGone(job.id, 'the record is gone')
      same(await fixture.events(job.id), [], 'so is its log')
      same((await fixture.store.events({ by: 'annotation', id: job.id })).annotations, [], 'and its annotations')
      await fixture.eventually('the purge is counted once', async () => {
        const page = await fixture.store.events({ by: 'tally' })
        return (
          page.purged === purged + 1 &&
          page.tally.every(({ tenant, count }) => tenant !== fixture.tenant || count === 0)
        )
      })
      const next = fixture.draft({ alias: 'gone', keys: [DEDUPE] })
      same((await fixture.store.insert([next])).items, [{ status: 'inserted' }], 'its alias and keys are free')
    },
  },
]

const DEDUPE = { purpose: 'dedupe', key: 'k', until: undefined } as const

const fenceOf = (job: Job): string => job.lease?.fence ?? ''

async function running(fixture: StoreFixture, options: JobOptions = {}): Promise<Job> {
  const claimed = await fixture.claimed(options)
  return fixture.say(claimed, { type: 'start', fence: fenceOf(claimed) }, claimed.updatedAt)
}

const FIRST = { order: 'oldest', limit: 10 } as const

/** A job that has ended with a body of every kind. */
async function lived(fixture: StoreFixture): Promise<Job> {
  let at = await running(fixture, { input: '"i"', alias: 'bare' })
  const fence = fenceOf(at)
  const long = JSON.stringify('o'.repeat(10_000))
  const word = async (name: string, saying: Parameters<StoreFixture['change']>[1], text = '"x"') => {
    at = await fixture.apply(fixture.change(at, saying, at.updatedAt, { bodies: [{ name, text }] }))
  }
  const ref = (name: string, size = 3) => ({ name, size, digest: undefined })
  await word('checkpoint', { type: 'checkpoint', fence, body: ref('checkpoint') })
  await word('step/a', { type: 'record', fence, step: { name: 'a', body: ref('step/a'), compensate: false } })
  await word('signal/1', { type: 'signal', name: 's', body: ref('signal/1') })
  await word('output', { type: 'complete', fence, result: ref('output', long.length) }, long)
  return at
}

function annotation(fixture: StoreFixture, job: Job, command: 'complete' | 'start'): Annotation {
  const late = {
    type: command,
    fence: '0.1.00000000000000ff',
    actor: 'worker:old',
    requestId: fixture.requestId(),
    ...(command === 'complete' && { resultPtr: 'mem://late', executionMs: 7 }),
  } as const
  const decision = decide(job, late, fixture.begin)
  holds(decision.kind === 'refused', 'a word from a dead fence is refused')
  const { id: jobId, spec } = job
  const { actor, requestId } = late
  const made: Annotation = {
    jobId,
    generation: 0,
    attempt: 1,
    command,
    at: fixture.begin,
    actor,
    requestId,
    correlationId: spec.correlationId,
    outcome: undefined,
  }
  return decision.annotation ?? made
}
