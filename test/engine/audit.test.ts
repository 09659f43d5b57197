/** The audit log: who did what, in an order nobody can change unseen. */
import { describe, expect, it } from 'vitest'
import { AUDIT_DAYS, type AuditEntry, AuditLog } from '../../src/engine/audit.ts'
import { EngineFixture } from './engine-fixture.ts'

const act = (about: string) => ({ act: 'queue.paused', by: 'operator:o', about }) as const
const DAY_MS = 86_400_000

async function all(log: AuditLog, tenant = 't', limit = 7): Promise<readonly AuditEntry[]> {
  const found: AuditEntry[] = []
  let cursor: number | undefined
  do {
    const page = await log.page(tenant, cursor, limit)
    expect(page.entries.length).toBeLessThanOrEqual(limit)
    found.push(...page.entries)
    cursor = page.cursor
  } while (cursor !== undefined)
  return found
}

describe('the audit log', () => {
  it('keeps every act once, newest first, each tenant’s apart', async () => {
    const { engine, clock } = new EngineFixture()
    const log = new AuditLog(engine)
    for (let n = 0; n < 20; n += 1) {
      clock.advance(1_000)
      await log.append('t', act(`q${n}`))
    }
    await log.append('other', act('theirs'))
    const entries = await all(log)
    expect(entries.map(({ about }) => about)).toEqual(Array.from({ length: 20 }, (_, i) => `q${19 - i}`))
    expect(entries.map(({ n }) => n)).toEqual(Array.from({ length: 20 }, (_, i) => 20 - i))
    expect(entries.map(({ at }) => at)).toEqual(entries.map(({ at }) => at).toSorted((a, b) => b - a))
    expect((await all(log, 'other')).map(({ about }) => about)).toEqual(['theirs'])
    expect(await all(log, 'nobody')).toEqual([])
  })

  it('loses nothing of what many write at once', async () => {
    const fixture = new EngineFixture()
    const logs = [fixture.engine, fixture.another(), fixture.another()].map((engine) => new AuditLog(engine))
    await Promise.all(logs.flatMap((log, i) => Array.from({ length: 15 }, (_, n) => log.append('t', act(`${i}/${n}`)))))
    const [log] = logs as [AuditLog]
    expect(new Set((await all(log)).map(({ about }) => about)).size).toBe(45)
    expect(await log.verify('t')).toEqual([])
  })

  it('has room for everything that one process does at once', async () => {
    const { engine } = new EngineFixture()
    const log = new AuditLog(engine, { address: 'here' })
    await Promise.all(Array.from({ length: 300 }, (_, n) => log.append('t', act(`${n}`))))
    const entries = await all(log)
    expect(entries.map(({ about }) => about)).toEqual(Array.from({ length: 300 }, (_, n) => `${299 - n}`))
    expect(entries.every(({ address }) => address === 'here')).toBe(true)
  })

  it('shows what was changed or taken out by hand', async () => {
    const { engine } = new EngineFixture()
    const log = new AuditLog(engine)
    for (let n = 1; n <= 9; n += 1) await log.append('t', act(`q${n}`))
    expect(await log.verify('t')).toEqual([])
    const at = (n: number) => ({ collection: 'audit', key: JSON.stringify(['t', n]) }) as const
    const [there] = await engine.settings([{ op: 'get', ...at(4) }])
    const text = there?.settings[0]?.text ?? ''
    await engine.settings([{ op: 'put', ...at(4), text: text.replace('operator:o', 'operator:x'), rev: undefined }])
    expect(await log.verify('t')).toEqual([{ n: 4, what: 'changed' }])
    await engine.settings([{ op: 'remove', ...at(7), rev: undefined }])
    expect(await log.verify('t')).toEqual([
      { n: 7, what: 'missing' },
      { n: 4, what: 'changed' },
    ])
    expect((await all(log)).map(({ n }) => n)).toEqual([9, 8, 6, 5, 4, 3, 2, 1])
  })

  it('forgets what is older than it says, and the chain goes on from there', async () => {
    const { engine, clock } = new EngineFixture()
    const log = new AuditLog(engine)
    for (let n = 0; n < 12; n += 1) await log.append('t', act(`old${n}`))
    clock.advance(AUDIT_DAYS * DAY_MS + 1)
    for (let n = 0; n < 4; n += 1) await log.append('t', act(`new${n}`))
    expect((await all(log)).map(({ about }) => about)).toEqual(['new3', 'new2', 'new1', 'new0'])
    expect(await log.verify('t')).toEqual([])
    const [left] = await engine.settings([{ op: 'list', collection: 'audit', after: '', limit: 100 }])
    expect(left?.settings).toHaveLength(5)
  })
})
