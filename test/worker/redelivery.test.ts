/** An engine that will not have some words, and what becomes of those, and of all others. */
import { describe, expect, it } from 'vitest'
import { refuse } from '../../src/core/refuse.ts'
import type { Answer, Engine, Word } from '../../src/engine/engine.ts'
import { definition, openWorkerFixture, type WorkerFixture } from './worker-fixture.ts'

const type = ({ command }: Word): Word['command']['type'] => command.type

/** The same engine, whose `settle` fails for every batch that has a bad word in it. */
function sabotaged(engine: Engine, isBad: (word: Word) => boolean) {
  const calls: number[] = []
  const settle = async (words: readonly Word[]): Promise<readonly Answer[]> => {
    calls.push(words.length)
    if (words.some(isBad)) throw new Error('ON CONFLICT DO UPDATE command cannot affect row a second time')
    return engine.settle(words)
  }
  const view = new Proxy(engine, {
    get(target, name) {
      if (name === 'settle') return settle
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { engine: view, calls }
}

/** How many handlers of a worker with this engine end well beside one whose words are bad. */
async function outcomes(fixture: WorkerFixture, isBad: (word: Word, bad: string) => boolean, patienceMs = 200_000) {
  let bad = ''
  const job = definition(async () => 'done', { lease: '10s' })
  const many = Array.from({ length: 60 })
  const ids: string[] = []
  for (const _ of many) ids.push(await fixture.enqueue(job))
  bad = ids[30] as string
  const { engine, calls } = sabotaged(fixture.engine, (word) => isBad(word, bad))
  const { worker } = fixture.work([job], { concurrency: 100 }, engine)
  await fixture.time.advance(3_000)
  const others = await Promise.all(ids.filter((id) => id !== bad).map((id) => fixture.load(id)))
  const soon = others.filter(({ state }) => state === 'succeeded').length
  await fixture.time.advance(patienceMs)
  return { soon, bad: await fixture.load(bad), calls, worker }
}

describe('a word that the store will not have', () => {
  it('is looked for, fails its own job within a bound, and lets all others end', async () => {
    await using fixture = openWorkerFixture()
    const { soon, bad, worker } = await outcomes(fixture, (word, id) => word.id === id && type(word) === 'complete')
    expect(soon).toBe(59)
    expect(bad).toMatchObject({ state: 'failed', stalls: 0, attempt: 1 })
    expect(bad.error).toMatchObject({ code: 'INVALID', stage: 'commit', message: expect.stringMatching(/ON CONFLICT/) })
    expect(worker).toMatchObject({ running: 0, held: 0 })
  })

  it('may be the failure too: then as little of it is said as can be', async () => {
    await using fixture = openWorkerFixture()
    const hasBody = ({ bodies }: Word) => bodies !== undefined && bodies.length > 0
    const isBad = (word: Word, id: string) => word.id === id && (type(word) === 'complete' || hasBody(word))
    const { soon, bad } = await outcomes(fixture, isBad)
    expect(soon).toBe(59)
    expect(bad).toMatchObject({ state: 'failed', stalls: 0, attempt: 1, error: { code: 'unwritable' } })
  })

  it('may be any word about the job: it is left to its lease, said aloud, and nobody else is held up', async () => {
    await using fixture = openWorkerFixture()
    const { soon, worker } = await outcomes(fixture, (word, id) => word.id === id, 120_000)
    expect(soon).toBe(59)
    expect(fixture.lines.filter(({ message }) => message === 'a job is left to its lease')).toHaveLength(1)
    expect(worker.running).toBe(0)
  })

  it('is a word said while the handler runs: the handler hears of it', async () => {
    await using fixture = openWorkerFixture()
    const keeping = definition(async (_, ctx) => ctx.checkpoint('x'), { lease: '10s' })
    const good = definition(async () => 'done', {}, { type: 'good' })
    const id = await fixture.enqueue(keeping)
    const { engine } = sabotaged(fixture.engine, (word) => type(word) === 'checkpoint')
    fixture.work([keeping, good], {}, engine)
    await fixture.time.advance(1_000)
    const neighbour = await fixture.enqueue(good)
    await fixture.time.advance(2_000)
    expect((await fixture.load(neighbour)).state).toBe('succeeded')
    await fixture.time.advance(60_000)
    expect(await fixture.load(id)).toMatchObject({ state: 'failed', attempt: 1, error: { stage: 'commit' } })
  })

  it('takes no more calls than halving takes', async () => {
    await using fixture = openWorkerFixture()
    const { calls } = await outcomes(fixture, (word, id) => word.id === id && type(word) === 'complete', 0)
    expect(calls.filter((words) => words > 1).length).toBeLessThan(20)
  })
})

describe('a store that is away', () => {
  it('is waited for, however long: nothing is taken for unwritable, and nothing is halved', async () => {
    await using fixture = openWorkerFixture()
    let away = true
    const job = definition(async () => 'done', { lease: '10m', heartbeat: false, timeout: '5m' })
    const ids = [await fixture.enqueue(job), await fixture.enqueue(job), await fixture.enqueue(job)]
    const { engine, calls } = sabotaged(fixture.engine, () => away)
    const beats = new Proxy(engine, {
      get: (target, name) =>
        name === 'heartbeat' && away ? () => Promise.reject(new Error('away')) : Reflect.get(target, name),
    })
    fixture.work([job], { poll: '1h' }, beats)
    await fixture.time.advance(120_000)
    expect(new Set(calls)).toEqual(new Set([3]))
    away = false
    await fixture.time.advance(2_000)
    for (const id of ids) expect((await fixture.load(id)).state).toBe('succeeded')
  })

  it('is told from a word to blame by whether it writes: a store that only reads is away', async () => {
    await using fixture = openWorkerFixture()
    let readOnly = true
    const job = definition(async () => 'done', { lease: '10m', heartbeat: false, timeout: '5m' })
    const id = await fixture.enqueue(job)
    const refuseWrites = () => Promise.reject(new Error('cannot execute UPDATE in a read-only transaction'))
    const standby = new Proxy(fixture.engine as Engine, {
      get(target, name) {
        if (readOnly && (name === 'settle' || name === 'heartbeat')) return refuseWrites
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    fixture.work([job], { poll: '1h' }, standby)
    await fixture.time.advance(90_000)
    readOnly = false
    await fixture.time.advance(2_000)
    expect((await fixture.load(id)).state).toBe('succeeded')
  })
})

describe('a refusal that passes', () => {
  it.each(['OVERLOADED', 'REV_CONFLICT'] as const)(
    '%s is no reason to fail: the same word is said again',
    async (code) => {
      await using fixture = openWorkerFixture()
      let refusals = 3
      const job = definition(async () => 'done')
      const id = await fixture.enqueue(job)
      const busy = new Proxy(fixture.engine as Engine, {
        get(target, name) {
          if (name === 'settle' && refusals > 0) {
            return async (words: readonly Word[]): Promise<readonly Answer[]> => {
              refusals -= 1
              return words.map(({ command }) => ({ ok: false, refusal: refuse(code, { command: command.type }) }))
            }
          }
          const value: unknown = Reflect.get(target, name, target)
          return typeof value === 'function' ? value.bind(target) : value
        },
      })
      fixture.work([job], {}, busy)
      await fixture.time.advance(1_500)
      expect(await fixture.load(id)).toMatchObject({ state: 'succeeded', attempt: 1, failures: 0 })
    },
  )
})

it('words about one job keep their order, also those posted while it is set aside', async () => {
  await using fixture = openWorkerFixture()
  const said: string[] = []
  let failing = true
  const job = definition(
    async (_, ctx) => {
      await Promise.all([ctx.step('a', () => 1), ctx.step('b', () => 2), ctx.step('c', () => 3)])
      return 'done'
    },
    { lease: '10s' },
  )
  const id = await fixture.enqueue(job)
  const { engine } = sabotaged(fixture.engine, (word) => {
    const { command } = word
    if (command.type === 'record' && command.step?.name === 'b#1' && failing) return true
    said.push(command.type === 'record' ? `record ${command.step?.name}` : command.type)
    return false
  })
  fixture.work([job], {}, engine)
  await fixture.time.advance(5_000)
  failing = false
  await fixture.time.advance(5_000)
  expect((await fixture.load(id)).state).toBe('succeeded')
  const first = [...new Set(said.filter((word) => word !== 'progress'))]
  expect(first).toEqual(['start', 'record a#1', 'record b#1', 'record c#1', 'complete'])
})
