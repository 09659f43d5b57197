/**
 * A crawler that takes no for an answer. The site lets a visitor read ten pages, then puts a wall up, another one each time:
 * a captcha, a firewall, a shield, and at last the hour at which it may be asked again. The crawler comes back slower, later
 * and as somebody else, is at its old pace once the site is content, and has every page in the end.
 *
 *   node examples/polite-crawler.ts
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { defineJob, ThrottledError } from '../src/index.ts'
import { openTesting } from '../src/testing/testing.ts'

const crawl = defineJob({
  type: 'crawl.page',
  retry: { attempts: 20 },
  limit: { key: (url: string) => new URL(url).hostname, concurrency: 4, rate: '2/s' },
  async run(url: string, ctx) {
    // A visitor for each session: pawl counts one up when the site has seen through the last.
    const visitor = `${ctx.flow?.key}/${ctx.flow?.session}`
    const response = await fetch(url, { headers: { ...ctx.headers, cookie: `visitor=${visitor}` }, signal: ctx.signal })
    const page = await response.text()
    const wall = wallIn(response.status, page)
    // With the response as its cause, pawl reads Retry-After by itself.
    if (wall !== undefined) throw new ThrottledError(`a wall at ${url}`, { code: wall, cause: response })
    return page
  },
})

function wallIn(status: number, page: string): string | undefined {
  if (status === 403) return '403_waf'
  if (status === 503) return '503_shield'
  if (status === 429) return 'E_429_RATE'
  return page.includes('Are you human?') ? 'captcha' : undefined
}

/** The site. It knows its visitors by their cookie, and has patience for ten pages each, until it has tried all it can. */
const WALLS = [
  (response: ServerResponse) => response.end('Are you human?'),
  (response: ServerResponse) => response.writeHead(403).end(),
  (response: ServerResponse) => response.writeHead(503).end(),
  (response: ServerResponse) => response.writeHead(429, { 'retry-after': '600' }).end(),
]
const seen = new Map<string, number>()
function site({ url, headers }: IncomingMessage, response: ServerResponse): void {
  const visitor = headers.cookie ?? 'nobody'
  const pages = (seen.get(visitor) ?? 0) + 1
  seen.set(visitor, pages)
  const wall = WALLS[[...seen.keys()].indexOf(visitor)]
  if (pages > 10 && wall !== undefined) wall(response)
  else response.end(`This is ${url}.`)
}

const server = createServer(site).listen(0, '127.0.0.1')
await new Promise((resolve) => server.once('listening', resolve))
const home = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

// The same engine, in time that passes when we say so. An application writes `await using pawl = await open()`.
await using testing = await openTesting([crawl])
const { pawl } = testing
const began = testing.now.getTime()
const seconds = (at: number) => `${Math.floor((at - began) / 1_000)} s`
const pages = Array.from({ length: 600 }, (_, n) => `${home}/page/${n + 1}`)
const jobs = await pawl.enqueueMany(crawl, pages)
do {
  await testing.advance('1s')
  await testing.drain()
} while ((await pawl.find({ states: ['queued', 'retrying'], limit: 1 })).jobs.length > 0)

const key = await pawl.limits.get('127.0.0.1')
for (const { at, type, cause, payload } of key?.log ?? []) {
  const after = 'session' in payload ? ` after ${cause.code}, session ${payload.session}` : ''
  const most = 'allowed' in payload ? `, ${payload.allowed} at once` : ''
  const until = 'until' in payload ? `, until ${seconds(payload.until)}` : ''
  console.log(`${seconds(at)}: ${type}${after}${most}${until}`)
}
const read = await Promise.all(jobs.map((job) => job.result()))
console.log(`${new Set(read).size} pages, as ${seen.size} visitors; the key is ${key?.state}`)
server.close()
