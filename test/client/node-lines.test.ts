/** Connections of Node's own: what is said on them, where they lead, and which of them are given up. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { GatewayUnavailable, Http } from '../../src/client/http.ts'
import { nodeLines } from '../../src/client/node-lines.ts'
import { realClock } from '../../src/system/clock.ts'
import { realTimers } from '../../src/system/timers.ts'
import { versionOfPawl } from '../../src/system/version.ts'
import { eventually } from '../support/eventually.ts'

async function serverThat(answers: (request: IncomingMessage, response: ServerResponse) => void) {
  const asked: IncomingMessage[] = []
  let connections = 0
  const server = createServer((request, response) => {
    asked.push(request)
    answers(request, response)
  })
  server.on('connection', (socket) => {
    connections += 1
    socket.on('close', () => {
      connections -= 1
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port')
  return { url: `http://127.0.0.1:${address.port}`, asked, connections: () => connections }
}

function client(url: string, fetch?: typeof globalThis.fetch): Http {
  const http = new Http({ url, token: 'secret', timers: realTimers, clock: realClock, fetch })
  onTestFinished(() => http.close())
  return http
}

describe.each([
  ['by Node', undefined],
  ['by fetch', globalThis.fetch],
])('a request %s', (_, fetch) => {
  it.each([
    ['an empty answer', ''],
    ['a page', '<html>moved</html>'],
  ])('that is led elsewhere by %s is told at once where to, and does not go there', async (_, body) => {
    const { url, asked } = await serverThat((request, response) =>
      response.writeHead(308, { location: `https://pawl.example/deep${request.url}` }).end(body),
    )
    const told = client(url, fetch).request('GET', '/v1/jobs/a?policy=true')
    await expect(told).rejects.toThrow(GatewayUnavailable)
    await expect(told).rejects.toThrow(/\(308\): it leads to https:\/\/pawl\.example\/deep: open that\.$/)
    expect(asked).toHaveLength(1)
  })

  it('says who asks', async () => {
    const { url, asked } = await serverThat((_, response) => response.end('{}'))
    await client(url, fetch).request('GET', '/v1/jobs')
    expect(versionOfPawl()).toMatch(/^\d+\.\d+\.\d+/)
    expect(asked.map(({ headers }) => headers['user-agent'])).toEqual([`pawl/${versionOfPawl()}`])
  })
})

it('connections that nobody uses are given up alone: one in use goes on, and so does the next request', async () => {
  let answer: (() => void) | undefined
  const { url, asked, connections } = await serverThat((request, response) => {
    if (request.url === '/long') answer = () => response.end('{}')
    else response.end('{}')
  })
  const lines = nodeLines(url)
  onTestFinished(() => lines.drop('all'))
  const ask = (path: string) =>
    lines.ask(url + path, { method: 'GET', headers: {}, signal: new AbortController().signal, isFresh: false })
  const read = async (path: string) => {
    const { status, body } = await ask(path)
    for await (const _ of body);
    return status
  }
  const long = read('/long')
  await eventually('the long one to be asked', () => asked.length === 1)
  expect(await read('/short')).toBe(200)
  expect(connections()).toBe(2)
  lines.drop('idle')
  await eventually('the idle one to be closed', () => connections() === 1)
  expect(await read('/next')).toBe(200)
  answer?.()
  expect(await long).toBe(200)
})

it.each([
  ['a flag', ['--use-env-proxy'], {}],
  ['NODE_OPTIONS', [], { NODE_OPTIONS: '--use-env-proxy' }],
  ['NODE_USE_ENV_PROXY', [], { NODE_USE_ENV_PROXY: '1' }],
])('the proxy of the environment is minded where Node was told so by %s', async (_, flags, env) => {
  const proxy = await serverThat((_, response) => response.end('{}'))
  const lines = new URL('../../src/client/node-lines.ts', import.meta.url)
  const script = `
    import { nodeLines } from ${JSON.stringify(lines)}
    const url = 'http://gateway.invalid'
    const lines = nodeLines(url)
    const { signal } = new AbortController()
    await lines.ask(url + '/v1/jobs', { method: 'GET', headers: {}, signal, isFresh: false })
    lines.drop('all')`
  const child = spawn(process.execPath, [...flags, '--input-type=module', '-e', script], {
    env: { HTTP_PROXY: proxy.url, http_proxy: proxy.url, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  await once(child, 'exit')
  expect(proxy.asked.map(({ url }) => url)).toEqual(['http://gateway.invalid/v1/jobs'])
})
