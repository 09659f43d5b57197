/** S18: slots are taken by standing and being owned; what frees one lets in, in the same commit. */
import type { Job, State } from '../../core/job.ts'
import type { Check } from './conformance.ts'
import { claims, ends, idsOf, isHeld, limit, limited, lobbyOf, look, many, takenOf } from './flows.ts'
import { holds, same } from './holds.ts'
import { SPECIMENS, type Specimen } from './specimens.ts'
import type { StoreFixture } from './store-fixture.ts'

const ONE = { host: { concurrency: 1 } }

export const slots: readonly Check[] = [
  ...(Object.keys(SPECIMENS) as State[]).map(freedOnTheWayTo),
  {
    name: 'of a limit of one, one is given, whoever claims and however many they want',
    async run(fixture) {
      await limited(fixture, ONE, ...many(20))
      const other = await fixture.another()
      for (let round = 0; round < 5; round += 1) {
        await look(fixture)
        const grants = [fixture.grant({ limit: 10 }), fixture.grant({ limit: 10 })] as const
        const answers = await Promise.all([fixture.store.claim(grants[0]), other.claim(grants[1])])
        const given = answers.flatMap(({ jobs }) => idsOf(jobs))
        same(given.length, 1, 'one job for two claims of ten')
        same(await takenOf(fixture, 'host'), 1, 'and one slot')
        await ends(fixture, given[0] ?? '')
      }
    },
  },
  {
    name: 'a job has a slot of all its keys or of none, and waits at the first without room',
    async run(fixture) {
      const both = { a: { concurrency: 2 }, b: { concurrency: 1 } }
      const [first, second] = await limited(fixture, both, ...many(2))
      same(idsOf(await claims(fixture)), [first?.id], 'the second finds no room at b')
      same(await takenOf(fixture, 'a'), 1, 'and takes nothing of a meanwhile')
      const [other] = await limited(fixture, { a: both.a }, {})
      same(idsOf(await claims(fixture)), [other?.id], 'so others have it')
      await ends(fixture, first?.id ?? '')
      same(await isHeld(fixture, second?.id ?? ''), false, 'once b is free it is let in')
      same([await takenOf(fixture, 'a'), await takenOf(fixture, 'b')], [2, 1], 'with a slot of both')
    },
  },
  {
    name: 'keys that are declared the other way round are no trap',
    async run(fixture) {
      const a = { concurrency: 1 }
      const jobs = [
        ...(await limited(fixture, { a, b: a }, ...many(6))),
        ...(await limited(fixture, { b: a, a }, ...many(6))),
      ]
      const done = new Set<string>()
      for (let round = 0; done.size < jobs.length && round < 40; round += 1) {
        for (const id of idsOf(await claims(fixture))) {
          done.add(id)
          await ends(fixture, id)
        }
      }
      same(done.size, jobs.length, 'all are done')
      same([await takenOf(fixture, 'a'), await takenOf(fixture, 'b')], [0, 0], 'slots are back to zero')
    },
  },
  {
    name: 'other keys pass a full one, in the same lane',
    async run(fixture) {
      const full = await limited(fixture, ONE, ...many(300))
      const [other] = await limited(fixture, { other: { concurrency: 1 } }, {})
      same(idsOf(await claims(fixture)).toSorted(), [full[0]?.id, other?.id].toSorted(), 'one of each')
    },
  },
  {
    name: 'keys are the tenant’s own',
    async run(fixture) {
      const tenant = `${fixture.tenant}x`
      const [job] = await limited(fixture, ONE, {})
      const [stranger] = await limited(fixture, ONE, { tenant })
      const lanes = [fixture.tenant, tenant].map((each) => ({ tenant: each, queue: 'main', priority: 5 }))
      same(idsOf(await claims(fixture, { lanes })).toSorted(), [job?.id, stranger?.id].toSorted(), 'one of each')
      same(await takenOf(fixture, 'host'), 1, 'each in its own books')
    },
  },
  {
    name: 'a limit that is lowered takes back what stands and lets owners end; raised, removed and set again it holds at once',
    async run(fixture) {
      const jobs = await limited(fixture, { host: { concurrency: 4 } }, ...many(12))
      const running = idsOf(await claims(fixture, { limit: 2 }))
      same(await takenOf(fixture, 'host'), 4, 'two run and two stand')
      same((await limit(fixture, 'host', { concurrency: 2 }))?.status, 'applied', 'two at most')
      same(await takenOf(fixture, 'host'), 2, 'what stood went back')
      same(await claims(fixture), [], 'and nobody is given any')
      await limit(fixture, 'host', { concurrency: 1 })
      await ends(fixture, running[0] ?? '')
      same(await claims(fixture), [], 'still one too many')
      await limit(fixture, 'host', { concurrency: 3 })
      const more = idsOf(await claims(fixture))
      same(
        more,
        jobs.slice(2, 4).map(({ id }) => id),
        'raised: the oldest first, those that went back too',
      )
      await limit(fixture, 'host', {})
      const rest = idsOf(await claims(fixture))
      same(rest.length, 8, 'removed: everybody')
      await limit(fixture, 'host', { concurrency: 2 })
      const [late] = await limited(fixture, ONE, {})
      for (const id of [running[1] ?? '', ...more, ...rest.slice(0, 6)]) await ends(fixture, id)
      same(await takenOf(fixture, 'host'), 2, 'set again: exact, with all that ran meanwhile')
      same(await isHeld(fixture, late?.id ?? ''), true, 'nobody more')
      await ends(fixture, rest[6] ?? '')
      same(idsOf(await claims(fixture)), [late?.id], 'until there is room')
    },
  },
  {
    name: 'a store that is opened again counts as before, and goes on letting in',
    needs: 'reopen',
    fresh: true,
    async run(fixture) {
      const jobs = await limited(fixture, ONE, ...many(3))
      const [first] = idsOf(await claims(fixture))
      const reopened = await fixture.reopened()
      same(await takenOf(reopened, 'host'), 1, 'one slot')
      same(await claims(reopened), [], 'and nobody is let in')
      await ends(reopened, first ?? '')
      same(idsOf(await claims(reopened)), [jobs[1]?.id], 'the next, once')
      same(await takenOf(reopened, 'host'), 1, 'one slot')
    },
  },
  {
    name: 'a job that is rescheduled to another priority waits there, and what it stood for is given on',
    async run(fixture) {
      const [first, second] = await limited(fixture, ONE, ...many(2))
      await look(fixture)
      const record = await fixture.record(first?.id ?? '')
      await fixture.say(record, { type: 'reschedule', runAt: fixture.begin + 3_600_000 })
      same(idsOf(await claims(fixture)), [second?.id], 'the other has its slot')
      const { held, keys } = await lobbyOf(fixture, first?.id ?? '')
      same([held, keys[0]?.count.taken], [true, 1], 'and the first waits')
    },
  },
]

/** Every way a specimen goes is gone with a key of its own and somebody who waits for it. */
function freedOnTheWayTo(state: State): Check {
  return {
    name: `on the way to ${state} a slot is kept while it is owned, and given on in the commit that ends that`,
    async run(fixture) {
      for (const specimen of SPECIMENS[state]) await alongTheWay(fixture, specimen)
    },
  }
}

async function alongTheWay(fixture: StoreFixture, { name, options, steps }: Specimen): Promise<void> {
  const key = `way ${fixture.id()}`
  const flow = { keys: { [key]: { concurrency: 1 } } }
  let at = fixture.begin - 3_600_000
  let job = await fixture.insertOne({ ...options, flow, at })
  await look(fixture)
  let waiting: Job | undefined
  for (const { afterMs, say } of steps) {
    at += afterMs
    const before = job
    job = await fixture.say(job, say(job), at)
    if (job.lease !== undefined && waiting === undefined) {
      // Before it in turn, wherever it goes.
      waiting = await fixture.insertOne({ flow, at: fixture.begin - 7_200_000 })
      await look(fixture)
      same(await isHeld(fixture, waiting.id), true, `${name}: somebody waits while it is ${job.state}`)
    }
    if (waiting !== undefined && before.lease !== undefined && job.lease === undefined) {
      same(await isHeld(fixture, waiting.id), false, `${name}: ${job.state} frees its slot, and the other has it`)
      await fixture.say(await fixture.record(waiting.id), { type: 'cancel', mode: 'hard' })
      waiting = undefined
    }
    await takenOf(fixture, key)
  }
  if (waiting !== undefined) await fixture.say(waiting, { type: 'cancel', mode: 'hard' })
  const isBusy = job.lease !== undefined || (await lobbyOf(fixture, job.id)).held === false
  if (job.endedAt !== undefined) same(await takenOf(fixture, key), 0, `${name}: an ended job has none`)
  else if (job.lease !== undefined) same(await takenOf(fixture, key), 1, `${name}: an owned job has one`)
  else holds(isBusy || job.readyAt === undefined || (await takenOf(fixture, key)) === 0, `${name}: a held job has none`)
}
