/** An engine that will not have some words, and what becomes of those, and of all others. */
import { describe, expect, it } from 'vitest'
import { refuse } from '../../src/core/refuse.ts'
import type { Answer, Engine, Word } from '../../src/engine/engine.ts'
import { definition, openStage, type Stage } from './stage.ts'

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
async function outcomes(stage: Stage, isBad: (word: Word, bad: string) => boolean, patienceMs = 200_000) {
  let bad = ''
  const job = definition(async () => 'done', { lease: '10s' })
  const many = Array.from({ length: 60 })
  const ids: string[] = []
  for (const _ of many) ids.push(await stage.enqueue(job))
  bad = ids[30] as string
  const { engine, calls } = sabotaged(stage.engine, (word) => isBad(word, bad))
  const { worker } = stage.work([job], { concurrency: 100 }, engine)
  await stage.time.advance(3_000)
  const others = await Promise.all(ids.filter((id) => id !== bad).map((id) => stage.load(id)))
  const soon = others.filter(({ state }) => state === 'succeeded').length
  await stage.time.advance(patienceMs)
  return { soon, bad: await stage.load(bad), calls, worker }
}

describe('a word that the store will not have', () => {
  it('is looked for, fails its own job within a bound, and lets all others end', async () => {
    await using stage = openStage()
    const { soon, bad, worker } = await outcomes(stage, (word, id) => word.id === id && type(word) === 'complete')
    expect(soon).toBe(59)
    expect(bad).toMatchObject({ state: 'failed', stalls: 0, attempt: 1 })
    expect(bad.error).toMatchObject({ code: 'INVALID', stage: 'commit', message: expect.stringMatching(/ON CONFLICT/) })
    expect(worker).toMatchObject({ running: 0, held: 0 })
  })

  it('may be the failure too: then as little of it is said as can be', async () => {
    await using stage = openStage()
    const hasBody = ({ bodies }: Word) => bodies !== undefined && bodies.length > 0
    const isBad = (word: Word, id: string) => word.id === id && (type(word) === 'complete' || hasBody(word))
    const { soon, bad } = await outcomes(stage, isBad)
    expect(soon).toBe(59)
    expect(bad).toMatchObject({ state: 'failed', stalls: 0, attempt: 1, error: { code: 'unwritable' } })
  })

  it('may be any word about the job: it is left to its lease, said aloud, and nobody else is held up', async () => {
    await using stage = openStage()
    const { soon, worker } = await outcomes(stage, (word, id) => word.id === id, 120_000)
    expect(soon).toBe(59)
    expect(stage.lines.filter(({ message }) => message === 'a job is left to its lease')).toHaveLength(1)
    expect(worker.running).toBe(0)
  })

  it('is a word said while the handler runs: the handler hears of it', async () => {
    await using stage = openStage()
    const keeping = definition(async (_, ctx) => ctx.checkpoint('x'), { lease: '10s' })
    const good = definition(async () => 'done', {}, { type: 'good' })
    const id = await stage.enqueue(keeping)
    const { engine } = sabotaged(stage.engine, (word) => type(word) === 'checkpoint')
    stage.work([keeping, good], {}, engine)
    await stage.time.advance(1_000)
    const neighbour = await stage.enqueue(good)
    await stage.time.advance(2_000)
    expect((await stage.load(neighbour)).state).toBe('succeeded')
    await stage.time.advance(60_000)
    expect(await stage.load(id)).toMatchObject({ state: 'failed', attempt: 1, error: { stage: 'commit' } })
  })

  it('takes no more calls than halving takes', async () => {
    await using stage = openStage()
    const { calls } = await outcomes(stage, (word, id) => word.id === id && type(word) === 'complete', 0)
    expect(calls.filter((words) => words > 1).length).toBeLessThan(20)
  })
})

describe('a store that is away', () => {
  it('is waited for, however long: nothing is taken for unwritable, and nothing is halved', async () => {
    await using stage = openStage()
    let away = true
    const job = definition(async () => 'done', { lease: '10m', heartbeat: false, timeout: '5m' })
    const ids = [await stage.enqueue(job), await stage.enqueue(job), await stage.enqueue(job)]
    const { engine, calls } = sabotaged(stage.engine, () => away)
    const beats = new Proxy(engine, {
      get: (target, name) =>
        name === 'heartbeat' && away ? () => Promise.reject(new Error('away')) : Reflect.get(target, name),
    })
    stage.work([job], { poll: '1h' }, beats)
    await stage.time.advance(120_000)
    expect(new Set(calls)).toEqual(new Set([3]))
    away = false
    await stage.time.advance(2_000)
    for (const id of ids) expect((await stage.load(id)).state).toBe('succeeded')
  })

  it('is told from a word to blame by whether it writes: a store that only reads is away', async () => {
    await using stage = openStage()
    let readOnly = true
    const job = definition(async () => 'done', { lease: '10m', heartbeat: false, timeout: '5m' })
    const id = await stage.enqueue(job)
    const refuseWrites = () => Promise.reject(new Error('cannot execute UPDATE in a read-only transaction'))
    const standby = new Proxy(stage.engine as Engine, {
      get(target, name) {
        if (readOnly && (name === 'settle' || name === 'heartbeat')) return refuseWrites
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    stage.work([job], { poll: '1h' }, standby)
    await stage.time.advance(90_000)
    readOnly = false
    await stage.time.advance(2_000)
    expect((await stage.load(id)).state).toBe('succeeded')
  })
})

describe('a refusal that passes', () => {
  it.each(['OVERLOADED', 'REV_CONFLICT'] as const)(
    '%s is no reason to fail: the same word is said again',
    async (code) => {
      await using stage = openStage()
      let refusals = 3
      const job = definition(async () => 'done')
      const id = await stage.enqueue(job)
      const busy = new Proxy(stage.engine as Engine, {
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
      stage.work([job], {}, busy)
      await stage.time.advance(1_500)
      expect(await stage.load(id)).toMatchObject({ state: 'succeeded', attempt: 1, failures: 0 })
    },
  )
})

it('words about one job keep their order, also those posted while it is set aside', async () => {
  await using stage = openStage()
  const said: string[] = []
  let failing = true
  const job = definition(
    async (_, ctx) => {
      await Promise.all([ctx.step('a', () => 1), ctx.step('b', () => 2), ctx.step('c', () => 3)])
      return 'done'
    },
    { lease: '10s' },
  )
  const id = await stage.enqueue(job)
  const { engine } = sabotaged(stage.engine, (word) => {
    const { command } = word
    if (command.type === 'record' && command.step?.name === 'b#1' && failing) return true
    said.push(command.type === 'record' ? `record ${command.step?.name}` : command.type)
    return false
  })
  stage.work([job], {}, engine)
  await stage.time.advance(5_000)
  failing = false
  await stage.time.advance(5_000)
  expect((await stage.load(id)).state).toBe('succeeded')
  const first = [...new Set(said.filter((word) => word !== 'progress'))]
  expect(first).toEqual(['start', 'record a#1', 'record b#1', 'record c#1', 'complete'])
})
