/** S15: reads never load bodies unless asked, and page by key. */
import type { Job } from '../../core/job.ts'
import type { JobQuery } from '../store.ts'
import type { Scene } from './conformance.ts'
import { holds, same } from './holds.ts'
import type { JobOptions, Stage } from './stage.ts'

export const reads: readonly Scene[] = [
  {
    name: 'load answers in the order asked, undefined for what is not there, and by alias',
    async play(stage) {
      const [a, b] = await stage.insert({ alias: 'a', input: '1' }, {})
      const { tenant } = stage
      const { items } = await stage.store.load([
        { id: b?.id ?? '' },
        { id: stage.id() },
        { id: 'a', tenant },
        { id: 'a' },
        { id: 'b', tenant },
        { id: a?.id ?? '', tenant },
        { id: a?.id ?? '', tenant: 'another' },
        { id: b?.id ?? '' },
      ])
      const ids = [b?.id, undefined, a?.id, undefined, undefined, a?.id, undefined, b?.id]
      same(
        items.map((item) => item?.job.id),
        ids,
        'each in its place',
      )
      for (const item of items) if (item !== undefined) same(item.bodies, {}, 'no body unless asked for')
      same((await stage.store.load([])).items, [], 'nothing in, nothing out')
    },
  },
  {
    name: 'find filters by each head',
    async play(stage) {
      const t = stage.begin - 50_000
      const all: readonly JobOptions[] = [
        { at: t, queue: 'a', type: 'x', labels: { team: 'red', site: 'one' }, workflowId: 'wf' },
        { at: t + 10, queue: 'b', type: 'x', labels: { team: 'red' }, dedupeKey: 'd' },
        { at: t + 20, queue: 'b', type: 'y', correlationId: `${stage.tenant}/c` },
        { at: t + 30, queue: 'c', type: 'z', policy: { maxAttempts: 1 } },
      ]
      const [a, b, c, d] = (await stage.insert(...all)) as readonly [Job, Job, Job, Job]
      await stage.insertOne({ tenant: `${stage.tenant}-other`, queue: 'a', type: 'x', at: t })
      const child = await stage.insertOne({ parentId: a.id, at: t + 40 })
      await stage.say(b, { type: 'cancel', mode: 'hard' }, t + 100)
      const claimed = await stage.say(d, { type: 'claim', workerId: 'w', nonce: '00000000000000aa' }, t + 100)
      const fence = claimed.lease?.fence ?? ''
      await stage.say(claimed, { type: 'fail', fence, fault: { code: 'E_FIND', message: 'm' } }, t + 200)
      const cases: readonly [string, Partial<JobQuery>, readonly Job[]][] = [
        ['all of a tenant', {}, [a, b, c, d, child]],
        ['states', { states: ['cancelled', 'dead_lettered'] }, [b, d]],
        ['queues', { queues: ['a', 'c'] }, [a, d]],
        ['types', { types: ['x'] }, [a, b]],
        ['a label', { labels: { team: 'red' } }, [a, b]],
        ['two labels', { labels: { team: 'red', site: 'one' } }, [a]],
        ['a label nobody has', { labels: { toString: 'x' } }, []],
        ['correlation', { correlationId: `${stage.tenant}/c` }, [c]],
        ['workflow', { workflowId: 'wf' }, [a]],
        ['parent', { parentId: a.id }, [child]],
        ['dedupe key', { dedupeKey: 'd' }, [b]],
        ['code of the last error', { code: 'E_FIND' }, [d]],
        ['time of creation, half open', { createdFrom: t + 10, createdTo: t + 30 }, [b, c]],
        ['time of the end', { endedBefore: t + 200 }, [b]],
        ['several at once', { queues: ['b'], types: ['y'], states: ['queued'] }, [c]],
        ['nothing', { queues: ['b'], types: ['z'] }, []],
      ]
      for (const [what, query, jobs] of cases) {
        const oldest = await found(stage, { ...query, order: 'oldest', limit: 2 })
        same(
          oldest,
          jobs.map(({ id }) => id),
          `by ${what}, oldest first`,
        )
        const newest = await found(stage, { ...query, order: 'newest', limit: 2 })
        same(newest, oldest.toReversed(), `by ${what}, newest first`)
      }
    },
  },
  {
    name: 'find gives the records as they are',
    async play(stage) {
      const job = await stage.claimed({ input: '1', alias: 'a' })
      const { jobs, now } = await stage.store.find({ tenant: stage.tenant, order: 'newest', limit: 10 })
      same(jobs, [job], 'the whole record')
      holds(now >= stage.begin, 'with the clock')
    },
  },
  {
    name: 'pages go on by key, whatever comes and goes meanwhile',
    async play(stage) {
      const jobs = await stage.insert(...Array.from({ length: 30 }, () => ({})))
      const seen: string[] = []
      let cursor: string | undefined
      for (let page = 0; page < 100; page += 1) {
        const answer = await stage.store.find({ tenant: stage.tenant, order: 'newest', limit: 4, cursor })
        holds(answer.jobs.length <= 4, 'no page is longer than asked for')
        seen.push(...answer.jobs.map(({ id }) => id))
        cursor = answer.cursor
        if (cursor === undefined) break
        await stage.insertOne()
        const last = answer.jobs.at(-1)
        if (page !== 2 || last === undefined) continue
        const ended = await stage.say(last, { type: 'cancel', mode: 'hard' })
        same(
          await stage.commit({ kind: 'purge', before: ended }),
          [{ status: 'applied' }],
          'the last one shown is purged',
        )
      }
      const ids = jobs.map(({ id }) => id).toReversed()
      same(seen.slice(0, ids.length), ids, 'each that was there is shown once, newest first')
      same(seen.length, ids.length, 'and what came later is not among them')
    },
  },
]

async function found(stage: Stage, query: Omit<JobQuery, 'tenant'>): Promise<readonly string[]> {
  const ids: string[] = []
  let cursor: string | undefined
  for (let pages = 0; pages < 100; pages += 1) {
    const page = await stage.store.find({ ...query, tenant: stage.tenant, cursor })
    ids.push(...page.jobs.map(({ id }) => id))
    if (page.cursor === undefined) return ids
    cursor = page.cursor
  }
  throw new Error('a cursor that never ends')
}
