/** What refused requests had still to send is read along, so much of it in all; the rest is left in the network. */
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { type HttpBindings, serve } from '@hono/node-server'
import { describe, expect, it } from 'vitest'
import { Leftovers } from '../../src/gateway/leftovers.ts'
import { VirtualTime } from '../../src/testing/virtual-time.ts'

const MB = 1024 * 1024
const BODY = 8 * MB

/** A server that refuses everything unread, and what it has read of each connection when that is over. */
async function refusing() {
  const time = new VirtualTime(1_000_000)
  const leftovers = new Leftovers(time)
  const read: number[] = []
  const server = serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(_request, env) {
      const { incoming, outgoing } = env as HttpBindings
      leftovers.watch(incoming, outgoing)
      incoming.socket.once('close', () => read.push(incoming.socket.bytesRead))
      return Promise.resolve(new Response('no', { status: 413 }))
    },
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    time,
    read,
    /** The status a client is told that sends this much, whether it is all taken or not. */
    async send(bytes: number): Promise<string> {
      const socket = connect(port, '127.0.0.1')
      let answer = ''
      socket.on('data', (chunk: Buffer) => {
        answer += chunk.toString('latin1')
        // Whoever is not closed by the server has been read to the end.
        if (socket.writableLength === 0) socket.end()
      })
      socket.on('drain', () => socket.end())
      socket.on('error', () => {})
      socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n\r\n`)
      socket.write(Buffer.alloc(bytes, 'y'))
      await new Promise((resolve) => socket.once('close', resolve))
      return answer.slice(9, 12)
    },
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
      })
    },
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0)

describe('leftovers', () => {
  it('of a request that is refused now and then are read to their end', async () => {
    await using server = await refusing()
    expect(await server.send(BODY)).toBe('413')
    expect(sum(server.read)).toBeGreaterThanOrEqual(BODY)
  })

  it('of a flood are read up to a budget, and every one of the flood is told its answer', async () => {
    await using server = await refusing()
    const told: string[] = []
    for (let n = 0; n < 8; n += 1) told.push(await server.send(BODY))
    expect(told).toEqual(Array.from({ length: 8 }, () => '413'))
    expect(sum(server.read)).toBeLessThan(36 * MB)
    expect(sum(server.read)).toBeGreaterThan(32 * MB)
  })

  it('are read again when some time has passed', async () => {
    await using server = await refusing()
    for (let n = 0; n < 5; n += 1) await server.send(BODY)
    const before = sum(server.read)
    await server.time.advance(1_500)
    await server.send(BODY)
    expect(sum(server.read) - before).toBeGreaterThanOrEqual(BODY)
  })
})
