/** What a policy makes of jobs, on every store: sent elsewhere, put under keys, labelled. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { defineJob } from '../../src/library/define-job.ts'
import type { Pawl } from '../../src/library/pawl.ts'
import { eventually } from '../support/eventually.ts'
import { openAt, PLACES, STORES } from './opened.ts'

const RULES = [
  { id: 'all', decision: 'allow' },
  { id: 'cheaper', topics: ['dear'], decision: 'redirect', topic: 'cheap' },
  { id: 'gpu', topics: ['cheap'], decision: 'throttle', key: 'gpu', limit: { concurrency: 1 } },
  { id: 'free', topics: ['cheap'], decision: 'constrain', constrain: { labels: { tier: 'free' }, attempts: 2 } },
]

const ran: string[] = []
/** Handlers stay at it until they are told: a job that waits for a signal would give its slot back. */
const finish = new Map<string, () => void>()

const job = (type: string, queue: string, attempts: number) =>
  defineJob({
    type,
    queue,
    admission: true,
    retry: { attempts },
    async run(input) {
      const name = String(input)
      ran.push(name)
      await new Promise<void>((resolve) => finish.set(name, resolve))
      return type
    },
  })

async function judged(
  store: (typeof STORES)[number],
  work: (pawl: Pawl) => Promise<void>,
  rules: readonly object[] = RULES,
): Promise<void> {
  await using place = await PLACES[store]()
  const folder = mkdtempSync(join(tmpdir(), 'pawl-recast-'))
  try {
    writeFileSync(join(folder, 'rules.yaml'), JSON.stringify({ rules }))
    await using pawl = await openAt(place, { policy: folder, ticker: {} })
    await work(pawl)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe.each(STORES)('a policy on %s', (store) => {
  it('sends jobs to where the workers of another topic are, under a key that lets in one at a time', () =>
    judged(store, async (pawl) => {
      const dear = job('dear', 'dear-queue', 7)
      const cheap = job('cheap', 'cheap-queue', 5)
      ran.length = 0
      finish.clear()
      await using _ = pawl.work([cheap], { concurrency: 4 })
      await eventually('the topic is announced', async () => {
        const asked = await pawl.engine.settings([{ op: 'get', collection: 'type', key: '["default","cheap"]' }])
        return asked[0]?.settings.length === 1
      })
      const first = await pawl.enqueue(dear, 'a', { labels: { tier: 'paid' } })
      const second = await pawl.enqueue(dear, 'b')
      await eventually('one of them runs', async () => ran.length === 1)
      const admitted = async (id: string) => {
        await eventually(`${id} is let in`, async () => (await pawl.get(id))?.recast !== undefined)
        return pawl.get(id)
      }
      for (const handle of [first, second]) {
        const found = await admitted(handle.id)
        expect(found?.spec).toMatchObject({
          kind: { queue: 'cheap-queue', type: 'cheap', tenant: 'default' },
          topic: 'cheap',
          labels: { tier: 'free' },
          flow: { keys: ['gpu'] },
        })
        expect(found?.terms?.maxAttempts).toBe(2)
        expect(found?.recast).toMatchObject({
          asked: { kind: { queue: 'dear-queue', type: 'dear' } },
          redirect: { from: 'dear', to: 'cheap', rule: 'cheaper' },
        })
      }
      expect(ran).toHaveLength(1)
      const [name = ''] = ran
      const running = name === 'a' ? first : second
      const held = name === 'a' ? second : first
      expect((await pawl.explain(held.id)).because).toMatch(/gpu/)
      expect((await pawl.find({ labels: { tier: 'free' }, limit: 9, order: 'oldest' })).jobs).toHaveLength(2)
      finish.get(name)?.()
      expect(await running.result({ timeout: '20s' })).toBe('cheap')
      const other = name === 'a' ? 'b' : 'a'
      await eventually('the other one runs', async () => finish.has(other))
      finish.get(other)?.()
      expect(await held.result({ timeout: '20s' })).toBe('cheap')
      const report = await pawl.verify()
      expect(report).toMatchObject({ discrepancies: [] })
    }))

  it('runs so many at once as a rule says, in each tenant, of one more than that', () =>
    judged(
      store,
      async (pawl) => {
        const few = job('few', 'few', 5)
        ran.length = 0
        finish.clear()
        const handles = [await pawl.enqueue(few, 'a'), await pawl.enqueue(few, 'b'), await pawl.enqueue(few, 'c')]
        const theirs = await pawl.enqueue(few, 'theirs', { tenant: 'other' })
        for (const { id } of [...handles, theirs])
          await eventually(`${id} is let in`, async () => (await pawl.get(id))?.state !== 'pending')
        await using _ = pawl.work([few], { concurrency: 8 })
        await eventually('two of ours run', async () => ran.length >= 2)
        // Of another tenant, one is let in besides, and waits for nothing but a worker.
        expect((await pawl.explain(theirs.id)).because).not.toContain('rule,few-at-once')
        const waits = handles[['a', 'b', 'c'].findIndex((name) => !ran.includes(name))]
        expect((await pawl.explain(waits?.id ?? '')).because).toContain('rule,few-at-once')
        expect(ran).toHaveLength(2)
        for (const name of [...ran]) finish.get(name)?.()
        await eventually('the third runs', async () => ran.length === 3)
        for (const end of finish.values()) end()
        for (const handle of handles) expect(await handle.result({ timeout: '20s' })).toBe('few')
      },
      [
        { id: 'all', decision: 'allow' },
        { id: 'few-at-once', decision: 'constrain', constrain: { concurrency: 2 } },
      ],
    ))
})
