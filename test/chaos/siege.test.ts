/**
 * A worker of one tenant keeps its lease while a token of another does its worst: streams, polls, long lists, label
 * bombs, bodies that never end, made-up names, ghosts. How fast it is answered is a soak's to say; that it is, always.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { Scope } from '../../src/gateway/contract/routes.ts'
import { Tokens } from '../../src/gateway/token.ts'
import { open } from '../../src/open.ts'
import { realClock } from '../../src/system/clock.ts'
import { realRandom } from '../../src/system/random.ts'
import { started } from '../cli/pawl.ts'
import { eventually } from '../support/eventually.ts'
import { freshDatabase } from '../support/postgres.ts'
import { soaking } from '../support/scale.ts'

const PROGRAM = fileURLToPath(new URL('./siege-process.ts', import.meta.url))
const SHARE = soaking ? 1 : 0.15
const BEATS = soaking ? 240 : 25
const EVERY_MS = soaking ? 250 : 100
const P99_MS = 250

/** It was a siege where each of them was let in as far as it may, and turned away by name beyond that. */
const OF_A_SIEGE = [
  'streams 200',
  'streams streamsPerToken',
  'polls lanesPerToken',
  'readers 200',
  'bombs 413',
  'half-sent bytesPerToken',
  'names 200',
  'ghosts 200',
]

interface Besieger extends Disposable {
  /** What it was answered so far. */
  readonly met: readonly string[]
  stop(): Promise<void>
}

async function besiege(url: string, secrets: Readonly<Record<string, string>>): Promise<Besieger> {
  const child = spawn(process.execPath, [PROGRAM, url, String(SHARE), JSON.stringify(secrets)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let told = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    told += text
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  await eventually('it has begun', () => told.startsWith('begun\n'))
  return {
    get met() {
      return told.split('\n')
    },
    async stop() {
      child.stdin.end()
      await ended
    },
    // A siege that nobody has lifted would be laid to the next gateway as well.
    [Symbol.dispose]: () => child.kill('SIGKILL'),
  }
}

async function ask(url: string, secret: string, path: string, body: object) {
  // A connection of its own each time, as a worker that comes and goes would have.
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json', connection: 'close' }
  const began = performance.now()
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await response.text()
  return { status: response.status, text, tookMs: performance.now() - began }
}

const stores = soaking ? (['sqlite', 'postgres'] as const) : (['sqlite'] as const)

describe.each(stores)('a gateway on %s under siege', (store) => {
  it('keeps the lease of whoever is not at fault', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-siege-'))
    await using database = store === 'postgres' ? await freshDatabase() : undefined
    const at = database?.url ?? join(folder, 'jobs.db')
    await using pawl = await open(at, { migrate: true, ticker: false, retention: false })
    const tokens = new Tokens(pawl.engine, realClock, realRandom)
    const token = async (scope: Scope, tenant: string) =>
      (await tokens.create({ name: scope, scope, tenant, queues: undefined })).secret
    const hostile = {
      producer: await token('producer', 'hostile'),
      // Of the bytes of the other producer those who never end may have taken all.
      bomber: await token('producer', 'hostile'),
      worker: await token('worker', 'hostile'),
      viewer: await token('viewer', 'hostile'),
    }
    const producer = await token('producer', 'calm')
    const worker = await token('worker', 'calm')
    const gateway = started(['serve', '--port', '0', '--json', '--url', at], { longestMs: 600_000 })
    try {
      const { url } = JSON.parse(await gateway.line(/url/)) as { url: string }
      await ask(url, producer, '/v1/jobs', { type: 'long', queue: 'calm' })
      const { text } = await ask(url, worker, '/v1/claims', { workerId: 'victim', queues: ['calm'] })
      const [{ job, fence }] = (JSON.parse(text) as { jobs: [{ job: { id: string }; fence: string }] }).jobs
      using besieger = await besiege(url, hostile)
      const beats: { readonly status: number; readonly tookMs: number; readonly text: string }[] = []
      const isWhole = () => OF_A_SIEGE.every((each) => besieger.met.includes(each))
      for (let n = 0; n < BEATS || !isWhole(); n += 1) {
        beats.push(await ask(url, worker, `/v1/jobs/${job.id}/heartbeat`, { fence }))
        await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
      }
      await besieger.stop()
      expect(beats.filter(({ status }) => status !== 200)).toEqual([])
      expect((await ask(url, worker, `/v1/jobs/${job.id}/complete`, { fence })).status).toBe(200)
      const took = beats.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b)
      const p99 = took[Math.floor(took.length * 0.99)] ?? 0
      if (soaking) expect(p99, `p50 ${took[took.length >> 1]}, max ${took.at(-1)}`).toBeLessThan(P99_MS)
    } finally {
      await gateway[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    }
  }, 600_000)
})
