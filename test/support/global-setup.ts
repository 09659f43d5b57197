import { createServer } from 'node:http'
import { resolve } from 'node:path'
import { startTemplate } from './migrated-postgres.ts'
import { startPostgres } from './postgres.ts'
import { startRedis } from './redis.ts'
import { soaking } from './scale.ts'

/**
 * What Node compiled of the sources, for every process and thread that tests start: without it each of them takes the
 * types out of some 300 files again, half a second of a processor where a tenth will do.
 */
const COMPILED = resolve('node_modules/.cache/pawl')

/**
 * What is shared is never killed, and nobody asks it for what it kept: in the gate it does not wait for the disk, on which a commit
 * took 5 ms in place of 0.7. Whoever proves that something is kept starts a server of their own, which does; and in soak all do.
 */
const FLEETING = soaking ? {} : { fsync: 'off', full_page_writes: 'off' }

interface Shared {
  readonly url: string
  stop(): Promise<void>
}

/** By the path that a test file asks for it under; stopped in this order, as what is in a server goes before the server. */
const STARTS: Readonly<Record<string, () => Promise<Shared>>> = {
  '/migrated': () => startTemplate(),
  '/postgres': () => startPostgres({ settings: FLEETING }),
  '/redis': () => startRedis(['--appendfsync', 'everysec']),
}

/**
 * Runs in vitest's main process. The servers that test files share are started here when the first of them asks, so
 * that a run which needs none starts none; and they live exactly as long as the run.
 */
export default async function setup(): Promise<() => Promise<void>> {
  process.env['NODE_COMPILE_CACHE'] ??= COMPILED
  const started = new Map<string, Promise<Shared>>()
  const server = createServer((request, response) => {
    const start = STARTS[request.url ?? '']
    if (start === undefined) {
      response.writeHead(404).end()
      return
    }
    const shared = started.get(request.url ?? '') ?? start()
    started.set(request.url ?? '', shared)
    shared.then(
      ({ url }) => response.end(url),
      (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.message : String(error)),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  process.env['PAWL_TEST_SERVERS'] = `http://127.0.0.1:${address.port}`
  return async () => {
    server.closeAllConnections()
    server.close()
    for (const path of Object.keys(STARTS)) await (await started.get(path)?.catch(() => undefined))?.stop()
  }
}
