/** Opening ends: by itself where nobody answers, by a time or a signal where somebody else is waited for. */
import { createServer, type Socket } from 'node:net'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CallTimedOut, open } from '../../src/index.ts'
import { migrate } from '../../src/store/postgres/schema/migrate.ts'
import { type Log, silentLog } from '../../src/system/log.ts'
import { eventually } from '../support/eventually.ts'
import { freshDatabase } from '../support/postgres.ts'

/** Takes connections and says nothing. */
async function silentServer(): Promise<string> {
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
  return `127.0.0.1:${address.port}`
}

/** A database whose schema somebody else has nearly migrated, who commits when told to. */
async function migrating() {
  const database = await freshDatabase()
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const [nearly, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const migrated = migrate(async (text, values) => {
    if (text === 'commit') {
      nearly.resolve()
      await commit.promise
    }
    return (await client.query<unknown[]>({ text, values: values ?? [], rowMode: 'array' })).rows ?? []
  }, 'pawl')
  await Promise.race([nearly.promise, migrated])
  onTestFinished(async () => {
    await client.end()
    await database.drop()
  })
  const commits = async () => {
    commit.resolve()
    await migrated
  }
  return { url: database.url, client, commits }
}

/** What is said while somebody waits. */
function listening(): { readonly log: Log; readonly warned: string[] } {
  const warned: string[] = []
  return { warned, log: { ...silentLog, warn: (message) => warned.push(message) } }
}

const WAITING = 'somebody else is migrating the schema: it is waited for'

describe('a schema that another process migrates', () => {
  it('is waited for, aloud, as long as that takes', async () => {
    const { url, commits } = await migrating()
    const { log, warned } = listening()
    const opening = open(url, { migrate: true, log })
    await eventually('it to be said', () => warned.includes(WAITING))
    await commits()
    await using pawl = await opening
    expect(await pawl.get('pj_1')).toBeUndefined()
  })

  it('is waited for no longer than the time that was given, or until a signal; nothing is left that waits', async () => {
    const { url, client, commits } = await migrating()
    const { log, warned } = listening()
    await expect(open(url, { migrate: true, log, timeout: '1s' })).rejects.toBeInstanceOf(CallTimedOut)
    const gone = new AbortController()
    const opening = open(url, { migrate: true, log, signal: gone.signal })
    const told = expect(opening).rejects.toThrow('called off')
    await eventually('both to have waited', () => warned.filter((each) => each === WAITING).length === 2)
    gone.abort(new Error('called off'))
    await told
    await commits()
    await eventually('no other to be connected', async () => {
      const { rows } = await client.query('select from pg_stat_activity where datname = current_database()')
      return rows.length === 1
    })
  })
})

describe('a server that takes connections and says nothing', () => {
  const URLS: Readonly<Record<string, (at: string) => string>> = {
    Postgres: (at) => `postgres://pawl@${at}/x`,
    'Postgres of three hosts': (at) => `postgres://pawl@${at},${at},${at}/x`,
    Redis: (at) => `redis://${at}`,
  }
  it.each(Object.entries(URLS))('is given up by itself: %s', { timeout: 40_000 }, async (_, urlOf) => {
    await expect(open(urlOf(await silentServer()), { log: 'silent' })).rejects.toThrow()
  })

  it.each(Object.entries(URLS))('is given up when the time is over, or by a signal: %s', async (_, urlOf) => {
    const url = urlOf(await silentServer())
    const late = await open(url, { log: 'silent', timeout: 50 }).catch((error: unknown) => error)
    expect(late).toBeInstanceOf(CallTimedOut)
    expect(late).toMatchObject({ waitedMs: 50, message: expect.stringContaining('it was not open after 50 ms') })
    const gone = new Error('the deployment was called off')
    await expect(open(url, { log: 'silent', signal: AbortSignal.abort(gone) })).rejects.toBe(gone)
    const later = new AbortController()
    const under = open(url, { log: 'silent', signal: later.signal })
    later.abort(gone)
    await expect(under).rejects.toBe(gone)
  })
})
