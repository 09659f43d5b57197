/** Limits among processes that are killed, and while they are changed: judged by the log, and by the store's own clock. */
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import type { Event } from '../../src/core/event.ts'
import { isOwnedState } from '../../src/core/job.ts'
import type { Pawl } from '../../src/library/pawl.ts'
import { eventually } from '../support/eventually.ts'
import { scaled, soaking } from '../support/scale.ts'
import { AT_ONCE, BUDGET, frugal, narrow, PER_SECOND, paced } from './limits-jobs.ts'
import { AND_REDIS, openProcessesFixture, type ProcessesFixture, type WorkerProcess } from './processes.ts'

const WITHIN_MS = scaled(120_000, 1_800_000)
vi.setConfig({ testTimeout: WITHIN_MS })

const PROGRAM = new URL('./limits-process.ts', import.meta.url)
const WORKERS = 2
const KILL_EVERY_MS = scaled(1_000, 3_000)

const worker = (fixture: ProcessesFixture): WorkerProcess =>
  fixture.launch({ concurrency: 50, poll: 50 }, { program: PROGRAM })

/** All that happened, job by job. */
async function history(pawl: Pawl, ids: readonly string[]): Promise<readonly (readonly Event[])[]> {
  const logs: (readonly Event[])[] = []
  for (const id of ids) logs.push(await pawl.events(id))
  return logs
}

const allDone = (pawl: Pawl, count: number) =>
  eventually(
    `${count} to be done`,
    async () => {
      const { jobs } = await pawl.find({ states: ['queued', 'claimed', 'running', 'retrying', 'stalled'], limit: 1 })
      return jobs.length === 0
    },
    { withinMs: WITHIN_MS, everyMs: 100 },
  )

/** Workers that are killed one after the other, each replaced at once, until it is over. Answers how many. */
async function killing(fixture: ProcessesFixture, over: Promise<true>): Promise<number> {
  const workers = Array.from({ length: WORKERS }, () => worker(fixture))
  let kills = 0
  for (let isOver = false; !isOver; isOver = await Promise.race([over, pause(KILL_EVERY_MS, false)])) {
    if (kills >= scaled(2, Number.POSITIVE_INFINITY)) continue
    const victim = workers.shift()
    await victim?.said({ what: 'ready' }, WITHIN_MS)
    victim?.kill('SIGKILL')
    kills += 1
    workers.push(worker(fixture))
  }
  return kills
}

/** Nothing is taken any more, and the books say so as well. */
async function atRest(pawl: Pawl, key: string): Promise<void> {
  expect(await pawl.limits.get(key)).toMatchObject({ taken: 0, held: 0 })
  expect((await pawl.verify()).discrepancies).toEqual([])
}

/** The most claims in any window of a second, `(t - 1 s, t]`. */
function mostWithinASecond(events: readonly Event[]): number {
  const claims = events.filter(({ type }) => type === 'claimed').map(({ at }) => at)
  return Math.max(...claims.map((t) => claims.filter((at) => at > t - 1_000 && at <= t).length))
}

/** The gate looks at the one store whose processes meet in a server. */
describe.each(soaking ? AND_REDIS : (['postgres'] as const))('on %s', (store) => {
  const jobs = scaled(30, 1_000)

  it(`of ${jobs} jobs no more than ${PER_SECOND} start within any second, though workers are killed all the time`, async () => {
    await using fixture = await openProcessesFixture(store)
    const { pawl } = fixture
    const handles = await pawl.enqueueMany(paced, new Array<undefined>(jobs).fill(undefined))
    const over = allDone(pawl, jobs).then(() => true as const)
    const kills = await killing(fixture, over)
    const logs = await history(
      pawl,
      handles.map(({ id }) => id),
    )
    const events = logs.flat()
    expect(events.filter(({ type }) => type === 'succeeded')).toHaveLength(jobs)
    expect(mostWithinASecond(events)).toBeLessThanOrEqual(PER_SECOND)
    expect(kills).toBeGreaterThanOrEqual(scaled(1, 20))
    await atRest(pawl, 'api')
  })

  it(`of a budget of ${BUDGET} no more is spent than by those that ran when it was, and all of it is counted, though workers are killed`, async () => {
    await using fixture = await openProcessesFixture(store)
    const { pawl } = fixture
    const handles = await pawl.enqueueMany(frugal, new Array<undefined>(BUDGET * 2).fill(undefined))
    const isSpent = async () => {
      const { spent = 0, taken } = (await pawl.limits.get('tokens')) ?? {}
      return spent >= BUDGET && taken === 0
    }
    const over = eventually('all of it to be spent', isSpent, { withinMs: WITHIN_MS, everyMs: 100 }).then(
      () => true as const,
    )
    const kills = await killing(fixture, over)
    const logs = await history(
      pawl,
      handles.map(({ id }) => id),
    )
    const spent = logs
      .flat()
      .reduce((sum, event) => sum + (event.type === 'recorded' ? (event.payload.spend?.amount ?? 0) : 0), 0)
    expect(spent).toBeGreaterThanOrEqual(BUDGET)
    expect(spent).toBeLessThan(BUDGET + AT_ONCE)
    expect(await pawl.limits.get('tokens')).toMatchObject({ spent, taken: 0 })
    expect(kills).toBeGreaterThanOrEqual(1)
    expect((await pawl.verify()).discrepancies).toEqual([])
  })

  const changed = scaled(100, 10_000)

  it(`of ${changed} jobs never more run than the larger of both limits, while it is changed, removed and set again`, async () => {
    await using fixture = await openProcessesFixture(store)
    const { pawl } = fixture
    await pawl.limits.set('host', { concurrency: 3 })
    const handles = await pawl.enqueueMany(narrow, new Array<undefined>(changed).fill(undefined))
    for (let n = 0; n < WORKERS; n += 1) worker(fixture)
    let isOver = false
    const over = allDone(pawl, changed).then(() => {
      isOver = true
    })
    const set: Change[] = [{ asked: 0, done: 0, most: 3 }]
    for (let n = 0; !isOver; n += 1) {
      const to = [1, 5, undefined, 2, 8, 1, undefined, 3][n % 8]
      const asked = pawl.engine.now()
      await (to === undefined ? pawl.limits.rm('host') : pawl.limits.set('host', { concurrency: to }))
      set.push({ asked, done: pawl.engine.now(), most: to ?? Number.POSITIVE_INFINITY })
      await pause(150)
    }
    await over
    const logs = await history(
      pawl,
      handles.map(({ id }) => id),
    )
    const events = logs.flat()
    expect(events.filter(({ type }) => type === 'succeeded')).toHaveLength(changed)
    expect(set.length).toBeGreaterThan(5)
    expect(overfull(logs, set)).toEqual([])
    await atRest(pawl, 'host')
  })
})

interface Change {
  /** By the store's clock, as far as this process knows it. */
  readonly asked: number
  readonly done: number
  readonly most: number
}

/** How far what this process knows of the store's clock may be from it. */
const ABOUT_MS = 20

/** Claims by which more were owned at once than under any limit that may have been in force: until another was set, at the latest. */
function overfull(logs: readonly (readonly Event[])[], set: readonly Change[]) {
  // Of one millisecond first what was given back, but by the job itself: what nobody had for a millisecond is not counted.
  const points = logs.flatMap(ownings).flatMap(([from, to]) =>
    from === to
      ? []
      : [
          { at: from, by: 1 },
          { at: to, by: -1 },
        ],
  )
  points.sort((a, b) => a.at - b.at || a.by - b.by)
  let owned = 0
  const found: object[] = []
  for (const { at, by } of points) {
    owned += by
    if (by < 0) continue
    const inForce = set.filter((each, i) => each.asked - ABOUT_MS <= at && at <= (set[i + 1]?.done ?? at) + ABOUT_MS)
    const most = Math.max(...inForce.map((each) => each.most))
    if (owned > most) found.push({ at, owned, most })
  }
  return found
}

/** From when to when somebody owned the job. */
function ownings(log: readonly Event[]): readonly (readonly [from: number, to: number])[] {
  const found: [number, number][] = []
  let from: number | undefined
  for (const { to, at } of log) {
    if (to === undefined) continue
    if (isOwnedState(to)) from ??= at
    else if (from !== undefined) {
      found.push([from, at])
      from = undefined
    }
  }
  return found
}
