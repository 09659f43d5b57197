import { existsSync } from 'node:fs'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { startPgbouncer } from '../support/pgbouncer.ts'
import { itPooled } from '../support/pooled.ts'
import { freshDatabase, startPostgres } from '../support/postgres.ts'

/** The tests of every store stand on these. */
describe('the servers of the tests', () => {
  const clients: pg.Client[] = []
  const connect = async (url: string) => {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    clients.push(client)
    await client.connect()
    return client
  }
  afterAll(() => Promise.all(clients.map((client) => client.end().catch(() => {}))))

  it('gives each caller a database of its own, and takes it away again', async () => {
    const one = await freshDatabase()
    const two = await freshDatabase()
    expect(one.url).not.toBe(two.url)
    const client = await connect(one.url)
    await client.query('create table mine ()')
    const other = await connect(two.url)
    expect((await other.query(`select to_regclass('mine') as mine`)).rows).toEqual([{ mine: null }])
    await one.drop()
    await two.drop()
    await expect(connect(one.url)).rejects.toThrow(/does not exist/)
  })

  it('kills a cluster, which is durable unless told otherwise, and brings it back with everything committed', async () => {
    await using server = await startPostgres()
    const before = await connect(server.url)
    const { rows } = await before.query(
      `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as synchronous`,
    )
    expect(rows).toEqual([{ fsync: 'on', synchronous: 'on' }])
    await before.query('create table kept (n int)')
    await before.query('insert into kept values (1)')
    await server.kill()
    await expect(connect(server.url)).rejects.toThrow()
    await server.restart()
    const after = await connect(server.url)
    expect((await after.query('select n from kept')).rows).toEqual([{ n: 1 }])
  })

  itPooled('pools by transaction in front of a database', async () => {
    await using database = await freshDatabase()
    await using pooler = await startPgbouncer(database.url)
    const client = await connect(pooler.url)
    const name = new URL(database.url).pathname.slice(1)
    expect((await client.query('select current_database() as name')).rows).toEqual([{ name }])
    const admin = await connect(pooler.url.replace(name, 'pgbouncer'))
    const { rows } = await admin.query('show config')
    expect(rows).toContainEqual(expect.objectContaining({ key: 'pool_mode', value: 'transaction' }))
  })

  it('leaves no folder behind', async () => {
    const server = await startPostgres()
    const client = await connect(server.url)
    const { rows } = await client.query<{ folder: string }>(`select current_setting('data_directory') as folder`)
    const folder = rows[0]?.folder ?? ''
    expect(existsSync(folder)).toBe(true)
    await client.end()
    await server.stop()
    expect(existsSync(folder)).toBe(false)
  })
})
