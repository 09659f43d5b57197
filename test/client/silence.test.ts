/** A gateway that takes every request and answers none, as a firewall does: closing does not wait for it. */
import { createServer, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { defineJob } from '../../src/library/define-job.ts'
import { open } from '../../src/open.ts'
import { eventually } from '../support/eventually.ts'

async function silentServer(): Promise<{ readonly url: string; readonly taken: () => number }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.resume()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port')
  return { url: `http://127.0.0.1:${address.port}`, taken: () => sockets.size }
}

const echo = defineJob({ type: 'echo', run: (text: string) => text })

it('is closed with a worker and calls under way, which are told so', { timeout: 30_000 }, async () => {
  const server = await silentServer()
  const pawl = await open(server.url, { log: 'silent' })
  pawl.work([echo], { drain: '1s' })
  const asked = pawl.enqueue(echo, 'hello')
  const told = asked.then(
    () => 'enqueued',
    (error: unknown) => String(error),
  )
  await eventually('the gateway to have requests', () => server.taken() > 1)
  await pawl.close()
  expect(await told).toMatch(/GatewayUnavailable: pawl was closed before the gateway had answered/)
})
