/**
 * Where the documents are played: the public library over a real store, with everything it tells written down. One
 * store per document and kind of store; each test brings a job type in a queue of its own.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import type { Event } from '../../src/core/event.ts'
import type { MetricLabels, MetricName } from '../../src/engine/metrics.ts'
import type { Pawl } from '../../src/library/pawl.ts'
import { type OpenOptions, open } from '../../src/open.ts'
import type { LogFields } from '../../src/system/log.ts'
import { migratedDatabase } from '../support/migrated-postgres.ts'

export const STORES = ['SQLite', 'Postgres'] as const
export type StoreName = (typeof STORES)[number]

export interface Measured {
  readonly name: MetricName
  readonly value: number
  readonly labels: MetricLabels
}

export interface Stage {
  readonly store: StoreName
  readonly pawl: Pawl
  /** The structured lines, the metrics and the spans it was told, in order. */
  readonly lines: LogFields[]
  readonly measured: Measured[]
  readonly traced: Event[]
  /** Another process's view of the same store, closed with the stage. */
  another(options?: OpenOptions): Promise<Pawl>
}

/**
 * The same tests on each store. `title` begins with the number of the document: that is what the tally counts by.
 * Without a ticker nobody but the test lets time do anything to a job.
 */
export function onStores(title: string, options: OpenOptions, tests: (stage: () => Stage) => void): void {
  describe.each(STORES)(`${title} on %s`, (store) => {
    let opened: Opened | undefined
    beforeAll(async () => {
      opened = await openStage(store, options)
    })
    afterAll(() => opened?.[Symbol.asyncDispose]())
    tests(() => {
      if (opened === undefined) throw new Error('the stage is opened before the first test')
      return opened
    })
  })
}

type Opened = Stage & AsyncDisposable

const EVERY_MS = 50

async function openStage(store: StoreName, options: OpenOptions): Promise<Opened> {
  await using rising = new AsyncDisposableStack()
  const url = await place(store, rising)
  const lines: LogFields[] = []
  const measured: Measured[] = []
  const traced: Event[] = []
  const measure = (name: MetricName, value: number, labels: MetricLabels) => void measured.push({ name, value, labels })
  const told: OpenOptions = {
    migrate: true,
    retention: false,
    ticker: { everyMs: EVERY_MS },
    log: { info: (message, fields) => void lines.push({ ...fields, message }), warn: () => {}, error: () => {} },
    metrics: { add: measure, observe: measure },
    tracing: { transition: (event) => void traced.push(event) },
    ...options,
  }
  const pawl = rising.use(await open(url, told))
  const later = new AsyncDisposableStack()
  rising.use(later)
  const another = async (more: OpenOptions = {}) =>
    later.use(await open(url, { ticker: false, retention: false, log: 'silent', ...more }))
  const standing = rising.move()
  return {
    store,
    pawl,
    lines,
    measured,
    traced,
    another,
    [Symbol.asyncDispose]: () => standing.disposeAsync(),
  }
}

async function place(store: StoreName, rising: AsyncDisposableStack): Promise<string> {
  if (store === 'Postgres') return rising.use(await migratedDatabase()).url
  const folder = mkdtempSync(join(tmpdir(), 'pawl-compliance-'))
  rising.defer(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'jobs.db')
}
