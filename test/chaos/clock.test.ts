import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { defineJob } from '../../src/library/define-job.ts'
import type { Pawl } from '../../src/library/pawl.ts'
import { type OpenOptions, open, openOn } from '../../src/open.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite.ts'
import { linesTo } from '../../src/system/log.ts'
import { eventually } from '../support/eventually.ts'
import { freshDatabase } from '../support/postgres.ts'
import { scaled } from '../support/scale.ts'
import { settableClock } from '../support/settable-clock.ts'

/** Forward and back, by more than any lease and by less. */
const SETS = [-600_000, 600_000, 4_000, -3_000, 3_600_000, -1_000, -7_200_000, 600_000]

const LONG = 6
const DELAY = '1s'
/** Ten minutes late is what must not be; on a machine that has other things to do a few seconds are nothing. */
const WITHIN_MS = 60_000

/** A store that several processes open, and whose clock can be set. */
interface Place extends AsyncDisposable {
  open(options: OpenOptions): Promise<Pawl>
  set(byMs: number): Promise<void>
}

const PLACES: Readonly<Record<string, () => Promise<Place>>> = {
  async postgres() {
    const database = await freshDatabase()
    const clock = await settableClock(database.url)
    return {
      open: (options) => open(database.url, options),
      set: (byMs) => clock.set(byMs),
      async [Symbol.asyncDispose]() {
        await clock[Symbol.asyncDispose]()
        await database.drop()
      },
    }
  },
  async sqlite() {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-clock-'))
    const clockSetBy = new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT))
    return {
      open: async (options) => openOn(await openSqliteStore({ path: join(folder, 'jobs.db'), clockSetBy }), options),
      async set(byMs) {
        Atomics.add(clockSetBy, 0, BigInt(byMs))
      },
      [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }),
    }
  },
}

it.each(Object.keys(PLACES))(
  'a clock that is set again and again costs no lease, and makes nobody wait, on %s',
  async (name) => {
    await using place = await (PLACES[name] as () => Promise<Place>)()
    const lines: Record<string, unknown>[] = []
    const log = linesTo(
      (line) => lines.push(JSON.parse(line)),
      () => 0,
    )
    const ran: string[] = []
    let finish = () => {}
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    const long = defineJob({
      type: 'long',
      lease: '8s',
      heartbeat: '2s',
      timeout: '10m',
      async run(_: number, ctx) {
        ran.push(ctx.job.id)
        await finished
        return ctx.attempt
      },
    })
    const short = defineJob({ type: 'short', retry: { attempts: 2, base: 500, jitter: 'none' }, run: retriedOnce })
    await using one = await place.open({ log })
    await using two = await place.open({ log })
    await using _first = one.work([long, short], { concurrency: LONG })
    await using _second = two.work([long, short], { concurrency: LONG })
    const longs = await one.enqueueMany(
      long,
      Array.from({ length: LONG }, (_, n) => n),
    )
    await eventually('all to run', () => ran.length === LONG)

    for (let n = 0; n < scaled(5, 50); n += 1) {
      const delayed = await one.enqueue(short, 'before', { delay: DELAY })
      await place.set(SETS[n % SETS.length] as number)
      const after = [await two.enqueue(short, 'after', { delay: DELAY }), await one.enqueue(short, 'after')]
      const beats = await beatsOf(one, longs)
      for (const job of [delayed, ...after]) expect(await job.result({ timeout: WITHIN_MS })).toBe(2)
      await eventually('every lease to be renewed since', async () =>
        (await beatsOf(one, longs)).every((count, i) => count > (beats[i] ?? 0)),
      )
    }

    finish()
    for (const job of longs) expect(await job.result({ timeout: WITHIN_MS })).toBe(1)
    expect(ran).toHaveLength(LONG)
    const { tally } = await one.engine.events({ by: 'tally' })
    expect(tally.map(({ state }) => state)).toEqual(['succeeded', 'succeeded'])
    for (const { id } of longs) expect(await one.get(id)).toMatchObject({ stalls: 0, failures: 0, attempt: 1 })
    expect(lines.filter(({ message }) => message === 'lease lost')).toEqual([])
    expect(lines.some(({ message }) => String(message).includes('set forward'))).toBe(true)
    expect(lines.some(({ message }) => String(message).includes('set back'))).toBe(true)
    expect((await two.verify()).discrepancies).toEqual([])
  },
  scaled(180_000, 3_600_000),
)

/** Once more after its backoff: that is a delay too. */
function retriedOnce(_: string, ctx: { readonly attempt: number }): number {
  if (ctx.attempt === 1) throw new Error('not yet')
  return ctx.attempt
}

const beatsOf = async (pawl: Pawl, jobs: readonly { readonly id: string }[]): Promise<readonly number[]> =>
  (await pawl.engine.load(jobs.map(({ id }) => ({ id })))).items.map((item) => item?.job.lease?.beats ?? 0)
