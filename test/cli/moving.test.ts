import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineJob } from '../../src/library/define-job.ts'
import { open } from '../../src/open.ts'
import { ended, folder, json, pawl } from './pawl.ts'

interface Charge {
  readonly shop: string
  readonly n: number
}

const charge = defineJob({
  type: 'charge',
  queue: 'payments',
  limit: { key: (input: Charge) => input.shop, concurrency: 2 },
  dedupe: { key: (input: Charge) => String(input.n) },
  run: (input: Charge) => {
    if (input.n === 1) throw new Error('declined')
    return { charged: input.n }
  },
  retry: { attempts: 1 },
})

const home = folder()
const [from, file] = [home.at('from.db'), home.at('all.jsonl')]

beforeAll(async () => {
  await lived(from)
  await json(['export', '--settings', '-o', file, '--url', from])
})

afterAll(() => home[Symbol.dispose]())

/** A store with jobs that have ended and one that has not, a limit set by hand, a schedule, a token and a paused queue. */
async function lived(url: string): Promise<void> {
  await using here = await open(url, { log: 'silent' })
  const worker = await here.work([charge])
  for (const n of [1, 2]) {
    const handle = await here.enqueue(charge, { shop: 'a', n })
    await handle.result().catch(() => {})
  }
  await worker.stop()
  await here.enqueue(charge, { shop: 'b', n: 3 }, { id: 'third', delay: '1h' })
  await here.limits.set('a', { concurrency: 1 })
  await here.schedule('nightly', { cron: '0 3 * * *' }, charge, { shop: 'a', n: 9 })
  await json(['token', 'create', '--name', 'ci', '--scope', 'producer', '--url', url])
  await json(['queues', 'pause', 'payments', '--url', url])
}

const linesIn = (path: string): readonly unknown[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('an export with settings', () => {
  it('is moved to another store with histories, keys, limits, schedules, tokens and pauses', async () => {
    const to = home.at('to.db')
    const importing = (...more: readonly string[]) => json(['import', file, '--history', '--url', to, ...more])
    expect(await importing('--dry-run')).toMatchObject({ jobs: 3, brought: 0 })
    expect(await importing('--yes')).toMatchObject({ jobs: 3, brought: 3, there: 0, refused: [] })
    expect(await importing('--yes')).toMatchObject({ brought: 0, there: 3, refused: [] })
    for (const words of [
      ['jobs', 'ls'],
      ['jobs', 'show', 'third'],
      ['limits', 'show', 'a'],
      ['schedules', 'ls'],
      ['token', 'ls'],
      ['queues', 'ls'],
      ['dlq', 'ls'],
    ]) {
      expect([words, await json([...words, '--url', to])]).toEqual([words, await json([...words, '--url', from])])
    }
    const back = home.at('back.jsonl')
    await json(['export', '--settings', '-o', back, '--url', to])
    expect(linesIn(back)).toEqual(linesIn(file))
    expect(await json(['verify', '--url', to])).toMatchObject({ jobs: 3, discrepancies: [] })
    await using there = await open(to, { log: 'silent', ticker: false })
    const again = await there.enqueue(charge, { shop: 'b', n: 3 })
    expect([again.deduped, (await there.get(again.id))?.spec.alias]).toEqual([true, 'third'])
    const next = await there.enqueue(charge, { shop: 'b', n: 4 })
    expect(await there.get(next.id)).toMatchObject({ rev: 1 })
  })

  it('is finished by another, and a line that was cut off is written again', async () => {
    const whole = readFileSync(file, 'utf8')
    const cut = home.at('cut.jsonl')
    writeFileSync(cut, whole)
    truncateSync(cut, Buffer.byteLength(whole) - 100)
    expect(await json(['export', '--settings', '--resume', '-o', cut, '--url', from])).toMatchObject({ exported: 3 })
    expect(readFileSync(cut, 'utf8')).toBe(whole)
    const unnamed = await pawl(['export', '--resume', '--url', from])
    expect([unnamed.code, unnamed.stderr]).toEqual([2, expect.stringContaining('--resume goes on with a file')])
  })

  it('changes nothing where a line is wrong, a worker is at work, or a gateway is in between', async () => {
    const to = home.at('other.db')
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    const spoilt = lines.map((line, i) => (i === lines.length - 1 ? line.replace('"rev":1', '"rev":7') : line))
    writeFileSync(home.at('spoilt.jsonl'), `${spoilt.join('\n')}\n`)
    const wrong = await pawl(['import', home.at('spoilt.jsonl'), '--history', '--yes', '--url', to])
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      expect.stringMatching(/Line \d+: the log (?:and the record )?of job/),
    ])
    const remote = await pawl(['import', file, '--history', '--yes', '--url', 'http://127.0.0.1:9'])
    expect([remote.code, remote.stderr]).toEqual([2, expect.stringContaining('is a gateway')])
    await using there = await open(to, { log: 'silent', ticker: false })
    await using _ = await there.work([charge])
    const beside = await ended(['import', file, '--history', '--yes', '--url', to])
    expect([beside.code, beside.stderr]).toEqual([2, expect.stringMatching(/Worker .* is at work in this store/)])
    expect((await there.find({ limit: 10, order: 'oldest' })).jobs).toEqual([])
  })
})
