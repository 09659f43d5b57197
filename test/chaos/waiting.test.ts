import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import type { JobHandle } from '../../src/library/job-handle.ts'
import { eventually } from '../support/eventually.ts'
import { brief, LONG_LEASE_MS, short } from './jobs.ts'
import { openProcessesFixture } from './processes.ts'

/** Far below the lease: whatever waits for one fails. */
const WITHIN_MS = LONG_LEASE_MS / 3

/** A look behind the store: which claims are parked, and whose process is there. */
async function look(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const count = async (text: string) => Number((await client.query<{ n: string }>(text)).rows[0]?.n)
  return {
    /** For a while yet. */
    parked: () => count('select count(*) as n from pawl.parked where until > pawl.clock() + 300'),
    listening: () =>
      count(`select count(*) as n from pawl.parked p join pg_locks l on l.locktype = 'advisory'
        and l.mode = 'ExclusiveLock' and (l.classid::bigint << 32) + l.objid::bigint = hashtextextended(p.channel, 0)`),
    leased: () => count('select count(*) as n from pawl.lease'),
    [Symbol.asyncDispose]: () => client.end(),
  }
}

describe('a worker whose claim is parked', () => {
  it('killed with -9: what is enqueued then is not given to the dead, and waits for no lease', async () => {
    await using fixture = await openProcessesFixture('postgres')
    await using behind = await look(fixture.url)
    const first = await fixture.start()
    // Known to the store beforehand, so that nothing but the job itself is left to do.
    const known = await fixture.pawl.enqueue(brief)
    await known.result({ timeout: WITHIN_MS })
    await eventually('it to wait', async () => (await behind.parked()) > 0 && (await behind.listening()) > 0)
    first.kill('SIGKILL')
    await first.exit
    await eventually('the server to miss it', async () => (await behind.listening()) === 0, { everyMs: 1 })
    const job = await fixture.pawl.enqueue(brief)
    expect(await job.job()).toMatchObject({ state: 'queued', attempt: 0 })
    const second = await fixture.start()
    await second.said({ what: 'run', id: job.id, attempt: 1 }, WITHIN_MS)
    await job.result({ timeout: WITHIN_MS })
    expect(await job.job()).toMatchObject({ state: 'succeeded', attempt: 1, stalls: 0 })
  })

  it('told to go while jobs keep coming: nothing is left with it, and the next one does the rest', async () => {
    await using fixture = await openProcessesFixture('postgres')
    await using behind = await look(fixture.url)
    const leaver = await fixture.start({ signals: true })
    const handles: JobHandle[] = []
    let over = false
    const coming = (async () => {
      while (!over) {
        handles.push(await fixture.pawl.enqueue(brief))
        // So slow that it asks again in between, and is parked.
        await pause(10)
      }
    })()
    // It takes a while to go: long enough to be given something, if it were still parked.
    const busy = await fixture.pawl.enqueue(short, { ms: 300 })
    await leaver.said({ what: 'run', id: busy.id })
    await eventually('it to wait', async () => (await behind.listening()) > 0, { everyMs: 1 })
    const before = handles.length
    leaver.kill('SIGTERM')
    expect(await leaver.exit).toEqual({ code: 0, signal: null })
    const after = handles.length
    over = true
    await coming
    expect(await behind.leased(), 'nothing is left with it').toBe(0)
    const next = await fixture.start()
    await Promise.all(handles.map((handle) => handle.result({ timeout: WITHIN_MS })))
    expect(after, 'they came while it went').toBeGreaterThan(before)
    for (const handle of handles) {
      const record = await handle.job()
      expect(record).toMatchObject({ state: 'succeeded', stalls: 0, failures: 0 })
      // What was given to it at the last moment it has handed back.
      const released = (await handle.events()).filter(({ type }) => type === 'released').length
      expect(record?.attempt).toBe(1 + released)
    }
    expect(next.lines.filter(({ what }) => what === 'run').length).toBeGreaterThan(0)
  })
})
