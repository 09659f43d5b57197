/**
 * A worker of one tenant keeps its lease while a token of another does its worst: streams, polls, long lists, label
 * bombs, bodies that never end, made-up names, ghosts. How fast it is answered is a soak's to say; that it is, always.
 * Heartbeats come as a worker sends them, by pawl's own client and its kept connection; now and then one comes by a
 * connection of its own, as from a worker that has just begun, and must be answered too.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { HttpEngine } from '../../src/client/client.ts'
import type { Scope } from '../../src/gateway/contract/route.ts'
import { Tokens } from '../../src/gateway/token.ts'
import { open } from '../../src/open.ts'
import { realClock } from '../../src/system/clock.ts'
import { realRandom } from '../../src/system/random.ts'
import { started } from '../cli/pawl.ts'
import { eventually } from '../support/eventually.ts'
import { migratedDatabase } from '../support/migrated-postgres.ts'
import { byTheClock, soaking } from '../support/scale.ts'

const PROGRAM = fileURLToPath(new URL('./siege-process.ts', import.meta.url))
const SHARE = soaking ? 1 : 0.15
const BEATS = soaking ? 240 : 25
const EVERY_MS = soaking ? 250 : 100
const P99_MS = 250
/** So many heartbeats by the kept connection, and then one by a connection of its own. */
const FRESH_EVERY = 8

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
  // A connection of its own each time.
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json', connection: 'close' }
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, text: await response.text() }
}

const stores = soaking ? (['sqlite', 'postgres'] as const) : (['sqlite'] as const)

describe.each(stores)('a gateway on %s under siege', (store) => {
  it('keeps the lease of whoever is not at fault', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-siege-'))
    await using database = store === 'postgres' ? await migratedDatabase() : undefined
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
      const engine = new HttpEngine({ url, token: worker })
      const refused: unknown[] = []
      const took: number[] = []
      const isWhole = () => OF_A_SIEGE.every((each) => besieger.met.includes(each))
      for (let n = 0; n < BEATS || !isWhole(); n += 1) {
        const began = performance.now()
        const [beat] = await engine.heartbeat([{ id: job.id, fence, requestId: `beat-${n}` }])
        took.push(performance.now() - began)
        if (beat?.ok !== true) refused.push(beat)
        if (n % FRESH_EVERY === 0) {
          const fresh = await ask(url, worker, `/v1/jobs/${job.id}/heartbeat`, { fence })
          if (fresh.status !== 200) refused.push(fresh)
        }
        await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
      }
      await besieger.stop()
      expect(refused).toEqual([])
      expect((await ask(url, worker, `/v1/jobs/${job.id}/complete`, { fence })).status).toBe(200)
      took.sort((a, b) => a - b)
      const p99 = took[Math.floor(took.length * 0.99)] ?? 0
      if (byTheClock) expect(p99, `p50 ${took[took.length >> 1]}, max ${took.at(-1)}`).toBeLessThan(P99_MS)
    } finally {
      await gateway[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    }
  }, 600_000)
})
