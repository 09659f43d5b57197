import { rmSync } from 'node:fs'
import { redisBinary } from './debian.ts'
import { eventually } from './eventually.ts'
import { answersWith, freePort, type ServerProcess, serverFolder, serverUser, startServer } from './server-process.ts'

/** A Redis of our own. */
export interface RedisServer extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** Where it keeps what it keeps. */
  readonly folder: string
  readonly pid: number
  kill(): Promise<void>
  restart(): Promise<void>
  freeze(): void
  stop(): Promise<void>
}

/** Keeps every acknowledged write on the disk. */
const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '']

/** `settings` are what is said to the server besides, as on its command line. */
export async function startRedis(settings: readonly string[] = []): Promise<RedisServer> {
  const user = serverUser()
  const folder = serverFolder('redis', user)
  for (let n = 0; ; n += 1) {
    const port = await freePort()
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, ...DURABLE, ...settings]
    const start = async (): Promise<ServerProcess> => {
      const server = startServer(redisBinary(), args, folder, user)
      await eventually('Redis answers, or is gone', async () => server.exited() || (await isUp(port)))
      return server
    }
    let server = await start()
    if (server.exited() && n < 5) continue
    const stop = async () => {
      await server.stop('SIGTERM')
      rmSync(folder, { recursive: true, force: true })
    }
    return {
      url: `redis://127.0.0.1:${port}`,
      port,
      folder,
      get pid() {
        return server.pid
      },
      kill: () => server.kill(),
      freeze: () => server.freeze(),
      async restart() {
        server = await start()
      },
      stop,
      [Symbol.asyncDispose]: stop,
    }
  }
}

/** A prefix of its own, on a server that all tests of a run share. */
export async function freshPrefix(): Promise<{ readonly url: string } & AsyncDisposable> {
  prefixes += 1
  const url = `${await sharedRedisUrl()}?prefix=t${process.pid}.${prefixes}`
  return { url, [Symbol.asyncDispose]: async () => {} }
}

let prefixes = 0

async function sharedRedisUrl(): Promise<string> {
  const servers = process.env['PAWL_TEST_SERVERS']
  if (servers === undefined) throw new Error('the shared Redis is the test run’s: start one of your own')
  const answer = await fetch(`${servers}/redis`)
  const text = await answer.text()
  if (!answer.ok) throw new Error(text)
  return text
}

/** It has read what it kept, and says so. */
const isUp = (port: number) => answersWith(port, '+PONG', 'PING\r\n')
