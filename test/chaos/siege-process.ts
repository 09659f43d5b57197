/**
 * One token doing its worst to a gateway: `node siege-process.ts <url> <share> <secrets>`. It goes on until it is asked
 * to stop (standard input ends). It tells what it is answered, a line for each attack and status or cap that it met.
 */
import { connect, type Socket } from 'node:net'

const [url = '', share = '1', told = '{}'] = process.argv.slice(2)
const secrets = JSON.parse(told) as Readonly<Record<'producer' | 'bomber' | 'worker' | 'viewer', string>>
const some = (n: number): number => Math.max(1, Math.ceil(n * Number(share)))

const stop = new AbortController()
process.stdin.on('end', () => stop.abort()).resume()

const met = new Set<string>()
const meet = (attack: string, what: string): void => {
  const line = `${attack} ${what}`
  if (!met.has(line)) process.stdout.write(`${line}\n`)
  met.add(line)
}

async function ask(
  attack: string,
  who: keyof typeof secrets,
  method: string,
  path: string,
  body?: string,
): Promise<void> {
  try {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${secrets[who]}`, 'content-type': 'application/json' },
      signal: stop.signal,
      ...(body === undefined ? {} : { body }),
    })
    const text = await response.text()
    meet(attack, String(response.status))
    const cap = /"cap":"(\w+)"/.exec(text)?.[1]
    if (cap !== undefined) meet(attack, cap)
  } catch (error) {
    if (!stop.signal.aborted) meet(attack, String((error as { cause?: { code?: string } }).cause?.code ?? error))
  }
}

/** Again and again, so many at a time. */
const again = (times: number, work: (n: number) => Promise<void>): Promise<unknown> =>
  Promise.all(
    Array.from({ length: times }, async (_, n) => {
      while (!stop.signal.aborted) {
        await work(n)
        // Whoever is refused at once comes back at once, but not without a breath.
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }),
  )

async function stream(): Promise<void> {
  try {
    const headers = { authorization: `Bearer ${secrets.viewer}`, accept: 'text/event-stream' }
    const response = await fetch(`${url}/v1/events`, { headers, signal: stop.signal })
    meet('streams', String(response.status))
    if (response.status !== 200) {
      const cap = /"cap":"(\w+)"/.exec(await response.text())?.[1]
      if (cap !== undefined) meet('streams', cap)
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      return
    }
    for await (const _ of response.body as ReadableStream<Uint8Array>) if (stop.signal.aborted) return
  } catch (error) {
    if (!stop.signal.aborted) meet('streams', String((error as { cause?: { code?: string } }).cause?.code ?? error))
  }
}

/** All of it but the last byte, and again when it is cut off. */
function halfSent(): Promise<void> {
  const { hostname, port } = new URL(url)
  const bytes = 8 * 1024 * 1024
  const head = `POST /v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secrets.producer}\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`
  return new Promise((resolve) => {
    const socket: Socket = connect(Number(port), hostname)
    const done = () => {
      socket.destroy()
      resolve()
    }
    stop.signal.addEventListener('abort', done, { once: true })
    socket.on('error', () => {}).on('close', done)
    socket.on('data', (chunk: Buffer) => {
      const text = chunk.toString('latin1')
      meet('half-sent', text.slice(9, 12))
      const cap = /"cap":"(\w+)"/.exec(text)?.[1]
      if (cap !== undefined) meet('half-sent', cap)
    })
    socket.write(head)
    socket.write(`{"type":"x","input":"${'y'.repeat(bytes - 23)}`)
  })
}

const table = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, 'v']))
const bomb = JSON.stringify({ type: 'x', labels: table(100_000) })
const lanes = (n: number) =>
  Array.from({ length: 1_000 }, (_, i) => ({ queue: `poll${n % 7}-${i >> 3}`, priority: i & 7 }))
const polls = Array.from({ length: 7 }, (_, n) =>
  JSON.stringify({ workerId: `w${n}`, queues: ['q'], lanes: lanes(n), limit: 1, waitMs: 30_000 }),
)
const READS = [
  '/v1/events?correlationId=siege&limit=1000',
  '/v1/events?type=progressed&limit=500',
  '/v1/jobs?limit=500',
  '/v1/queues?limit=500',
  '/v1/events?after=&limit=1000',
  '/v1/workers?limit=500',
  '/v1/jobs?label=a%3Db&limit=500',
  '/v1/dead-letters?limit=500',
]
let names = 0
const madeUp = () => {
  const jobs = Array.from({ length: some(1_000) }, () => {
    names += 1
    return { type: `t${names % 5_000}`, queue: `q${names % 5_000}`, correlationId: 'siege' }
  })
  return JSON.stringify({ jobs })
}

process.stdout.write('begun\n')
await Promise.all([
  again(some(1_000), stream),
  again(some(300), (n) => ask('polls', 'worker', 'POST', '/v1/claims', polls[n % 7])),
  again(8, (n) => ask('readers', 'viewer', 'GET', READS[n] as string)),
  again(2, () => ask('bombs', 'bomber', 'POST', '/v1/jobs', bomb)),
  again(some(80), halfSent),
  again(1, () => ask('names', 'producer', 'POST', '/v1/jobs:batch', madeUp())),
  again(some(20), () => ask('ghosts', 'worker', 'PUT', `/v1/workers/ghost${Math.floor(Math.random() * 3_000)}`, '{}')),
  again(2, (n) => ask('malformed', 'viewer', 'GET', `/v1/jobs?limit=${n}&x`)),
])
process.exit(0)
