/** S18: a key's document, gate and revision change together, with the job that caused it or not at all. */
import { gateOf } from '../../core/flow/gate.ts'
import { atRest, type KeyRecord } from '../../core/flow/key.ts'
import type { Job } from '../../core/job.ts'
import type { KeyMove, MoveChange } from '../store.ts'
import type { Check } from './conformance.ts'
import { claims, ends, idsOf, limit, limited, look, many, move, takenOf, viewOf } from './flows.ts'
import { holds, same } from './holds.ts'
import { HOSTILE_TEXTS } from './hostile.ts'
import type { StoreFixture } from './store-fixture.ts'

const TWO = { host: { concurrency: 2 } }
const gate = gateOf(atRest('host'), TWO.host)

export const flowKeys: readonly Check[] = [
  {
    name: 'a claim tells the document of the key that hears how it ends, as it is then; repeated, again',
    async run(fixture) {
      const [job] = await limited(fixture, { ...TWO, all: {} }, {})
      await look(fixture)
      await move(fixture, { key: 'host', rev: 1, next: { gate, text: 'second' } })
      const grant = fixture.grant()
      const { jobs } = await fixture.store.claim(grant)
      same(jobs[0]?.flow, { key: 'host', text: 'second', rev: 2 }, 'the first of its keys')
      const again = await fixture.store.claim(grant)
      same([again.replayed, again.jobs[0]?.flow?.rev], [true, 2], 'and once more')
      const policy = { limits: [{}, { adaptive: true }] }
      await limited(fixture, { ...TWO, all: {} }, { policy })
      const [other] = await claims(fixture)
      same(other?.flow?.key, 'all', 'or the one that its type marks')
      await fixture.insert({}, { flow: { fair: 'somebody' } })
      for (const { flow } of await claims(fixture)) same(flow, undefined, 'and none where there is none')
      holds(job !== undefined, 'a job was made')
    },
  },
  {
    name: 'a key moves with the job that caused it, or neither does',
    async run(fixture) {
      await limited(fixture, TWO, ...many(2))
      const [first, second] = await claims(fixture)
      const ending = async (id: string, rev: number, text: string) =>
        completes(fixture, await fixture.record(id), { key: 'host', rev, next: { gate, text } })
      const a = await ending(first?.before.id ?? '', 1, 'a')
      same(await fixture.commit(a, a), [{ status: 'applied' }, { status: 'conflict' }], 'once')
      const late = await ending(second?.before.id ?? '', 1, 'late')
      same(await fixture.commit(late), [{ status: 'conflict' }], 'a key that has moved is a conflict of the job')
      await fixture.expectRecord(late.before, 'which stays as it was')
      same(await takenOf(fixture, 'host'), 1, 'with its slot')
      const stale = { ...(await ending(second?.before.id ?? '', 2, 'stale')), before: { ...late.before, rev: 1 } }
      same(await fixture.commit(stale), [{ status: 'conflict' }], 'and a job that has moved one of the key')
      same((await viewOf(fixture, 'host')).text, 'a', 'whose document stays')
      const same2 = {
        ...(await ending(second?.before.id ?? '', 2, '')),
        flow: { key: 'host', rev: 2, next: 'same' },
      } as const
      same(await fixture.commit(same2), [{ status: 'applied' }], 'a key that is only compared')
      const { rev, text, count } = await viewOf(fixture, 'host')
      same([rev, text, count.taken], [2, 'a', 0], 'is as it was')
    },
  },
  {
    name: 'ends of one call take their key further one after the other, and behind one that does not, none does',
    async run(fixture) {
      await limited(fixture, { host: { concurrency: 8 } }, ...many(6))
      const running = idsOf(await claims(fixture))
      const jobs = await Promise.all(running.map((id) => fixture.record(id)))
      const ending = (n: number, rev: number) =>
        completes(fixture, jobs[n] as Job, { key: 'host', rev, next: { gate, text: `${n}` } })
      const verdicts = await fixture.commit(...[0, 1, 2].map((n) => ending(n, n + 1)))
      same(verdicts, [APPLIED, APPLIED, APPLIED], 'each finds the key as the one before has left it')
      const moved = { ...ending(4, 5), before: { ...(jobs[4] as Job), rev: 1 } }
      same(await fixture.commit(ending(3, 4), moved, ending(5, 6)), [APPLIED, CONFLICT, CONFLICT], 'as far as they go')
      await move(fixture, { key: 'host', rev: 5, next: { gate, text: 'set' } })
      const behind = completes(fixture, jobs[5] as Job, { key: 'host', rev: 6, on: '4', next: { gate, text: '5' } })
      same(
        await fixture.commit(ending(4, 5), behind),
        [CONFLICT, CONFLICT],
        'nor on what somebody else has brought there',
      )
      same((await viewOf(fixture, 'host')).text, 'set', 'which stays')
      same(await fixture.commit(ending(4, 6)), [APPLIED], 'judged again')
      const last = completes(fixture, jobs[5] as Job, { key: 'host', rev: 7, on: '4', next: { gate, text: '5' } })
      same(await fixture.commit(last), [APPLIED], 'by what the one before has made of it')
      const { rev, text, count } = await viewOf(fixture, 'host')
      same([rev, text, count.taken], [8, '5', 0], 'the last that went')
    },
  },
  {
    name: 'numbers that are set among ends keep from their keys only those that were judged by others',
    async run(fixture) {
      await limited(fixture, { host: { concurrency: 8 } }, ...many(7))
      const jobs = await Promise.all(idsOf(await claims(fixture)).map((id) => fixture.record(id)))
      const set = (rev: number) =>
        ({
          kind: 'key',
          tenant: fixture.tenant,
          move: { key: 'host', rev, next: { gate, text: `set ${rev}` } },
        }) as const
      const compared = (n: number, rev: number) =>
        completes(fixture, jobs[n] as Job, { key: 'host', rev, next: 'same' })
      const before = [compared(0, 1), compared(1, 1)]
      const after = [compared(2, 1), compared(3, 2), completes(fixture, jobs[4] as Job)]
      const verdicts = await fixture.commit(...before, set(1), ...after, set(2), completes(fixture, jobs[5] as Job))
      const expected = [APPLIED, APPLIED, APPLIED, CONFLICT, APPLIED, APPLIED, APPLIED, APPLIED]
      same(verdicts, expected, 'each in its turn; who names no key is compared with none')
      const { rev, text, count } = await viewOf(fixture, 'host')
      same([rev, text, count.taken], [3, 'set 2', 2], 'and has freed its slot')
    },
  },
  {
    name: 'by two who change one key at once, one is told that it has changed',
    async run(fixture) {
      await limited(fixture, TWO, {})
      const other = await fixture.another()
      for (let rev = 1; rev <= 5; rev += 1) {
        const moves = ['x', 'y'].map((text) => ({ key: 'host', rev, next: { gate, text } }))
        const answers = await Promise.all(
          [fixture.store, other].map((store, i) =>
            store.commit([{ kind: 'key', tenant: fixture.tenant, move: moves[i] as (typeof moves)[number] }]),
          ),
        )
        const verdicts = answers.map(({ verdicts: [verdict] }) => verdict?.status)
        same(verdicts.toSorted(), ['applied', 'conflict'], 'one of two')
      }
    },
  },
  {
    name: 'documents and logs are kept to the letter, and a log stays until there is another',
    async run(fixture) {
      const name = `host ${HOSTILE_TEXTS['quotes']} ${HOSTILE_TEXTS['astral']}`
      const texts = Object.values(HOSTILE_TEXTS).map((text) => JSON.stringify({ text }))
      await limited(fixture, { [name]: {} }, {})
      let rev = 1
      for (const text of texts) {
        same((await move(fixture, { key: name, rev, next: { gate, text, log: text } }))?.status, 'applied', text)
        rev += 1
        const view = await viewOf(fixture, name)
        same([view.text, view.log, view.rev, view.gate], [text, text, rev, gate], 'as it was written')
      }
      await move(fixture, { key: name, rev, next: { gate, text: 'new' } })
      same((await viewOf(fixture, name)).log, texts.at(-1), 'the log stays')
      await move(fixture, { key: 'made', rev: 0, next: { gate, text: 'first', log: 'of its making' } })
      same((await viewOf(fixture, 'made')).log, 'of its making', 'a key that is made by a move has its log')
    },
  },
  {
    name: 'keys are told by name, in the order of their names, page by page, and to their tenant only',
    async run(fixture) {
      const { tenant, store } = fixture
      const names = ['b', 'a', 'B', 'ä', 'a/b', 'ab']
      await limited(fixture, Object.fromEntries(names.slice(0, 4).map((name) => [name, {}])), {})
      await limited(fixture, Object.fromEntries(names.slice(4).map((name) => [name, {}])), {})
      await limited(fixture, { stranger: {} }, { tenant: `${tenant}x` })
      const told: string[] = []
      for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
        const page = await store.events({ by: 'keys', tenant, limit: 2, cursor })
        told.push(...(page.keys ?? []).map(({ key }) => key))
        cursor = page.cursor
      }
      same(told, names.toSorted(), 'all of them, code unit by code unit')
      const { keys } = await store.events({ by: 'keys', tenant, names: ['b', 'nobody', 'a'], limit: 10 })
      same(keys?.map(({ key }) => key).toSorted(), ['a', 'b'], 'those named that there are')
    },
  },
  {
    name: 'a key that is broken lets nobody in until its time, then one, whoever still runs from before',
    async run(fixture) {
      await limited(fixture, TWO, ...many(5))
      const [old] = idsOf(await claims(fixture, { limit: 1 }))
      const until = (await fixture.now()) + 300
      const record: KeyRecord = { ...atRest('host'), state: 'broken', allowed: 1, until, freshFrom: until }
      await limit(fixture, 'host', TWO.host, record)
      same(await takenOf(fixture, 'host'), 1, 'what stood went back')
      let probe: string | undefined
      await fixture.eventually('one is let in', async () => {
        const [given, ...others] = await claims(fixture)
        holds(given === undefined || given.at >= until, 'not before its time')
        same(others, [], 'one')
        probe = given?.before.id
        return probe !== undefined
      })
      const { probes } = await viewOf(fixture, 'host')
      same(
        probes.map(({ job }) => job),
        [probe],
        'it is told who probes',
      )
      same(await claims(fixture), [], 'and no other while it does')
      await ends(fixture, old ?? '')
      same(await claims(fixture), [], 'also when the old one ends')
      await ends(fixture, probe ?? '')
      same((await claims(fixture)).length, 1, 'the next, when the probe has ended')
    },
  },
  {
    name: 'a key is forgotten when nobody is held, stands or is owned under it, and not before',
    async run(fixture) {
      const [job] = await limited(fixture, TWO, {})
      const forgetting = { key: 'host', rev: 1, next: 'forgotten' } as const
      same((await move(fixture, forgetting))?.status, 'conflict', 'somebody stands')
      await claims(fixture)
      same((await move(fixture, forgetting))?.status, 'conflict', 'somebody is owned')
      await ends(fixture, job?.id ?? '')
      const [delayed] = await limited(fixture, TWO, { runAt: fixture.begin + 3_600_000 })
      same((await move(fixture, forgetting))?.status, 'conflict', 'somebody is held')
      await fixture.say(await fixture.record(delayed?.id ?? ''), { type: 'cancel', mode: 'hard' })
      same((await move(fixture, { ...forgetting, rev: 2 }))?.status, 'conflict', 'it is another revision')
      same((await move(fixture, forgetting))?.status, 'applied', 'nobody')
      same(await known(fixture), [], 'it is gone')
      await limited(fixture, { host: { concurrency: 1 } }, ...many(2))
      same((await claims(fixture)).length, 1, 'and born again as the next job says')
    },
  },
]

const APPLIED = { status: 'applied' } as const
const CONFLICT = { status: 'conflict' } as const

const completes = (fixture: StoreFixture, job: Job, flow?: KeyMove): MoveChange =>
  fixture.change(job, { type: 'complete', fence: job.lease?.fence ?? '', stats: {}, executionMs: 0 }, job.updatedAt, {
    flow,
  })

async function known({ store, tenant }: StoreFixture): Promise<readonly string[]> {
  const { keys } = await store.events({ by: 'keys', tenant, limit: 10 })
  return (keys ?? []).map(({ key }) => key)
}
