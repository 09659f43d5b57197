/**
 * A job that crashes its process, among innocent ones that happen to run there. A supervisor starts another process for
 * each that dies, as it would. The innocent ones end well, and the crash is the poison's own failure.
 */
import { describe, expect, it } from 'vitest'
import { startGateway } from '../../src/gateway/serve.ts'
import type { JobHandle } from '../../src/library/job-handle.ts'
import { eventually } from '../support/eventually.ts'
import { soaking } from '../support/scale.ts'
import { type How, importedInnocent, importedPoison, innocent, poison } from './poison-jobs.ts'
import { openProcessesFixture, type ProcessesFixture, STORES, type WorkerProcess } from './processes.ts'

const PROGRAM = new URL('./poison-process.ts', import.meta.url)
/** A heap that is soon full. */
const SMALL = ['--max-old-space-size=96']
const INNOCENTS = 5

/** Starts a process whenever there is none, until told to stop. */
function supervise(fixture: ProcessesFixture, url = fixture.url) {
  const processes: WorkerProcess[] = []
  let stopped = false
  const supervised = (async () => {
    while (!stopped) {
      const child = fixture.launch({ concurrency: 10, processes: 2 }, { program: PROGRAM, url, execArgv: SMALL })
      processes.push(child)
      await child.exit
    }
  })()
  return {
    processes,
    async [Symbol.asyncDispose]() {
      stopped = true
      for (const { kill } of processes) kill('SIGKILL')
      await supervised
    },
  }
}

async function ended(jobs: readonly JobHandle[]): Promise<void> {
  for (const job of jobs) await job.result({ timeout: '100s' }).catch(() => {})
}

async function poisoned(
  fixture: ProcessesFixture,
  how: How,
  types: { poison: typeof poison; innocent: typeof innocent },
  mortal: number,
  url?: string,
) {
  await using supervisor = supervise(fixture, url)
  const innocents = await fixture.pawl.enqueueMany(
    types.innocent,
    Array.from({ length: INNOCENTS }, () => undefined),
  )
  const [first] = supervisor.processes
  for (const { id } of innocents) await first?.said({ what: 'run', id, attempt: 1 })
  const guilty = await fixture.pawl.enqueue(types.poison, how)
  await ended([...innocents, guilty])
  // One that runs out of memory may lose its lease some time before it dies.
  await eventually('all that are to die to be dead', () => supervisor.processes.length > mortal, { withinMs: 60_000 })
  const records = await Promise.all(innocents.map((job) => job.job()))
  const deaths = await Promise.all(supervisor.processes.slice(0, -1).map(({ exit }) => exit))
  const last = supervisor.processes.at(-1)
  return {
    records,
    guilty: await guilty.job(),
    deaths: deaths.length,
    last,
    lines: supervisor.processes.map(({ lines }) => lines),
  }
}

/** Each takes its seconds: the gate has a share of them. */
const IMPORTED: Readonly<Record<(typeof STORES)[number], readonly How[]>> = soaking
  ? { sqlite: ['abort', 'exit', 'memory', 'kill'], postgres: ['abort', 'exit', 'memory', 'kill'] }
  : { sqlite: ['memory'], postgres: ['abort'] }
const ALONE: readonly How[] = soaking ? ['abort', 'exit', 'memory', 'kill'] : ['exit']

describe.each(STORES)('on %s', (store) => {
  it.each(IMPORTED[store])(
    'a job that can be imported crashes its worker once, and from then on itself: %s',
    async (how) => {
      await using fixture = await openProcessesFixture(store)
      const types = { poison: importedPoison, innocent: importedInnocent } as never
      const { records, guilty, deaths } = await poisoned(fixture, how, types, 1)
      for (const record of records) expect(record).toMatchObject({ state: 'succeeded', stalls: 1, failures: 0 })
      expect(guilty).toMatchObject({ state: 'dead_lettered', stalls: 1, failures: 3, error: { code: 'E_CRASH' } })
      expect(guilty?.deadLetter?.reason).toBe('exhausted_retries')
      expect(deaths).toBe(1)
      expect((await fixture.pawl.verify()).discrepancies).toEqual([])
    },
  )

  it.each(ALONE)('a job that cannot be imported runs alone from then on, and takes nobody along: %s', async (how) => {
    await using fixture = await openProcessesFixture(store)
    const { records, guilty, deaths, lines } = await poisoned(fixture, how, { poison, innocent }, 4)
    for (const record of records) expect(record).toMatchObject({ state: 'succeeded', stalls: 1, failures: 0 })
    expect(guilty).toMatchObject({ state: 'dead_lettered', stalls: 4, failures: 0, error: { code: 'E_CRASH' } })
    expect(deaths).toBe(4)
    // Whatever ran when it died, was the poison and nothing else.
    for (const said of lines.slice(1, -1)) expect(said.at(-1)).toMatchObject({ what: 'run', id: guilty?.id })
    expect((await fixture.pawl.verify()).discrepancies).toEqual([])
  })
})

it.each(soaking ? STORES : (['sqlite'] as const))('behind HTTP it is the same: %s', async (store) => {
  await using fixture = await openProcessesFixture(store)
  await using gateway = await startGateway({ engine: fixture.pawl.engine, auth: false, port: 0 })
  const types = { poison: importedPoison, innocent: importedInnocent } as never
  const { records, guilty, deaths } = await poisoned(fixture, 'abort', types, 1, gateway.url)
  for (const record of records) expect(record).toMatchObject({ state: 'succeeded', stalls: 1, failures: 0 })
  expect(guilty).toMatchObject({ state: 'dead_lettered', failures: 3, error: { code: 'E_CRASH' } })
  expect(deaths).toBe(1)
})
