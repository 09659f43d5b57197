import { chownSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe } from 'vitest'
import { natsBinary, natsMissing } from './debian.ts'
import { eventually } from './eventually.ts'
import { answersWith, freePort, type ServerProcess, serverFolder, serverUser, startServer } from './server-process.ts'

/** A NATS of our own, with JetStream. */
export interface NatsServer extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** The URL for one of its users. */
  as(user: string, password: string): string
  kill(): Promise<void>
  freeze(): void
  restart(): Promise<void>
}

export interface NatsPlace {
  /** Where JetStream keeps what it has; a folder of its own unless given. */
  readonly folder?: string
  /** How much it takes itself to have there; what is free, unless given. */
  readonly mostBytes?: number
}

const missing = natsMissing()
if (missing !== undefined) console.warn(missing)

/** Tests that need the bus; skipped aloud where there is none to be had. */
export const describeOnNats = describe.skipIf(missing !== undefined)

/** `settings` are in its configuration besides: accounts, and who may do what. */
export async function startNats(settings = '', { folder: kept, mostBytes }: NatsPlace = {}): Promise<NatsServer> {
  const user = serverUser()
  const folder = serverFolder('nats', user)
  const file = join(folder, 'conf')
  const place = kept ?? join(folder, 'kept')
  if (kept !== undefined && user !== undefined) chownSync(kept, user.uid, user.gid)
  const room = mostBytes === undefined ? '' : `, max_file_store: ${mostBytes}`
  writeFileSync(file, `jetstream { store_dir: ${JSON.stringify(place)}${room} }\n${settings}`, { mode: 0o644 })
  for (let n = 0; ; n += 1) {
    const port = await freePort()
    const start = async (): Promise<ServerProcess> => {
      const server = startServer(natsBinary(), ['-c', file, '-a', '127.0.0.1', '-p', String(port)], folder, user)
      await eventually('NATS answers, or is gone', async () => server.exited() || (await isUp(port)))
      return server
    }
    let server = await start()
    if (server.exited() && n < 5) continue
    return {
      url: `nats://127.0.0.1:${port}`,
      port,
      as: (name, password) => `nats://${name}:${password}@127.0.0.1:${port}`,
      kill: () => server.kill(),
      freeze: () => server.freeze(),
      async restart() {
        server = await start()
      },
      async [Symbol.asyncDispose]() {
        await server.stop('SIGTERM')
        rmSync(folder, { recursive: true, force: true })
      },
    }
  }
}

/** It says who it is to everybody who connects. */
const isUp = (port: number) => answersWith(port, 'INFO')
