/** Secrets come in by other ways than the command line, and go out by none. */
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { inspect } from 'node:util'
import type { Command } from 'commander'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { program } from '../../src/cli/program.ts'
import { run } from '../../src/cli/run.ts'
import { open } from '../../src/open.ts'
import { eventually } from '../support/eventually.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { ended, endedJson, folder, json, pawl, type Running, started, WHOLE_FILE_MS } from './pawl.ts'

const CANARY = 'c4n4ry-4711-secret'
const home = folder()
afterAll(() => home[Symbol.dispose]())
const written = (name: string, text: string): string => {
  writeFileSync(home.at(name), text, { mode: 0o600 })
  return home.at(name)
}

/** In this process: what it says, whatever becomes of it. */
async function said(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const stop = new AbortController()
  let text = ''
  const hear = (more: string) => {
    text += more
    // What would go on until it is stopped has said what it has to say.
    if (SERVES.has(words[0] ?? '')) stop.abort()
  }
  const streams = { out: hear, err: hear, isTTY: false, errIsTTY: false, columns: 80, rows: 24 }
  const { exit } = await run(words, { env, signal: stop.signal, streams })
  return `${words.join(' ')}: ${exit}\n${text}`
}

const SERVES: ReadonlySet<string> = new Set(['demo', 'work', 'tail', 'top'])
const tree = program({
  session: () => {
    throw new Error('nothing is run here')
  },
})

/** Every command there is, with something in the place of what it must be told. */
function everyCommand(parent: Command = tree, path: readonly string[] = []): readonly (readonly string[])[] {
  return parent.commands.flatMap((command) => {
    const words = [...path, command.name()]
    const told = command.registeredArguments.map((each) => argumentFor(each.name()))
    return command.commands.length > 0 ? everyCommand(command, words) : [[...words, ...told]]
  })
}

const module = written('jobs.mjs', `export const job = { type: 'x', queue: 'q', tenant: 't', policy: {}, run() {} }`)
const argumentFor = (name: string): string => ({ module, shell: 'bash', file: home.at('nothing') })[name] ?? 'x'

describe('a secret that stands on the command line or in the environment', () => {
  const commands = everyCommand()

  it('there are commands to try', () => {
    expect(commands.length).toBeGreaterThan(30)
  })

  it.each([
    ['a database that does not answer', `postgres://ann:${CANARY}@127.0.0.1:9/none`],
    ['a gateway that cannot be asked', `http://ann:${CANARY}@127.0.0.1:9`],
    ['a gateway that does not answer', 'http://127.0.0.1:9'],
  ])(
    'is in nothing that any command says: %s',
    async (_, url) => {
      const all = await Promise.all(
        commands.flatMap((words) => [
          said([...words, '--url', url, '--token', CANARY, '--yes']),
          said([...words, '--json', '--yes'], { PAWL_URL: url, PAWL_TOKEN: CANARY, PAWL_DIRECT_URL: url }),
        ]),
      )
      for (const text of all) expect(text.split('\n').slice(1).join('\n'), text.split('\n')[0]).not.toContain(CANARY)
    },
    120_000,
  )

  it.each([
    `postgres://ann:${CANARY}@[nowhere/none`,
    `postgres://ann:${CANARY}%zz@127.0.0.1:9/none`,
    `postgrez://ann:${CANARY}@127.0.0.1/none`,
    `ann:${CANARY}@127.0.0.1/none`,
    `http://ann:${CANARY}@[nowhere`,
    `postgres://127.0.0.1:9/none?password=${CANARY}`,
  ])('is in nothing that a command says of a URL that makes no sense: %s', async (url) => {
    for (const words of [['jobs', 'ls'], ['migrate'], ['doctor'], ['verify'], ['serve', '--port', '0']]) {
      const text = await said([...words, '--url', url])
      expect(text.split('\n').slice(1).join('\n'), words.join(' ')).not.toContain(CANARY)
    }
  })

  it('is in nothing that the library throws', async () => {
    for (const url of [`postgres://ann:${CANARY}@127.0.0.1:9/none`, `http://ann:${CANARY}@127.0.0.1:9`]) {
      const opening = open(url, { token: CANARY, directUrl: url }).then((pawl) => pawl.find())
      const error: unknown = await opening.catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(Error)
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(CANARY)
    }
  })

  it('is warned of, once for each kind, unless told to be quiet', async () => {
    const words = [
      'machine',
      '--token',
      CANARY,
      '--url',
      `http://a:${CANARY}@b`,
      '--direct-url',
      `http://a:${CANARY}@b`,
    ]
    const { stderr } = await pawl(words)
    expect(stderr.match(/Everybody on this machine can read/g)).toHaveLength(2)
    expect(stderr).toMatch(/--token-file[\s\S]*--url-file/)
    expect((await pawl([...words, '--quiet'])).stderr).toBe('')
  })

  it.skipIf(process.platform !== 'linux')('is not in the list of processes', async () => {
    const file = home.at('listed.db')
    await json(['enqueue', 'x', '--queue', 'q', '--url', file])
    await using tail = started(['tail', '--token', CANARY, '--direct-url', `postgres://a:${CANARY}@b/c`, '--url', file])
    const listed = () => readFileSync(`/proc/${tail.child.pid}/cmdline`, 'utf8')
    await eventually('its name', () => listed().startsWith('pawl tail'), { withinMs: 60_000 })
    expect(listed()).toContain(file)
    expect(listed()).not.toContain(CANARY)
  })
})

describe('a token', () => {
  let gateway: Running
  let url: string
  let token: string

  beforeAll(async () => {
    gateway = started(['serve', '--port', '0', '--json', '--url', home.at('served.db')], { longestMs: WHOLE_FILE_MS })
    const served = JSON.parse(await gateway.line(/url/)) as { url: string; token: string }
    url = served.url
    token = served.token
  })
  afterAll(() => gateway[Symbol.asyncDispose]())

  it('comes from a file, from standard input, from the environment, or from a file that it names', async () => {
    const file = written('token', `${token}\n`)
    const list = ['queues', 'ls', '--url', url]
    expect(await json([...list, '--token-file', file])).toEqual({ queues: [] })
    expect(await endedJson([...list, '--token-file', '-'], { input: `${token}\n` })).toEqual({ queues: [] })
    expect(await json(list, { env: { PAWL_TOKEN: token } })).toEqual({ queues: [] })
    expect(await json(list, { env: { PAWL_TOKEN_FILE: file } })).toEqual({ queues: [] })
    const urlFile = written('url', `${url}\n`)
    expect(await json(['queues', 'ls', '--url-file', urlFile, '--token-file', file])).toEqual({ queues: [] })
    expect(await json(['queues', 'ls'], { env: { PAWL_URL_FILE: urlFile, PAWL_TOKEN: token } })).toEqual({ queues: [] })
  })

  it('is asked for plainly where it cannot be read', async () => {
    const list = ['queues', 'ls', '--url', url]
    for (const [words, why] of [
      [['--token-file', home.at('nothing')], 'there is no such file'],
      [['--token-file', written('empty', '\n')], 'is empty'],
      [['--token-file', home.path], 'EISDIR'],
      [['--token-file', 'x', '--token', 'y'], 'not both'],
    ] as const) {
      const { code, stderr } = await pawl([...list, ...words])
      expect([code, stderr]).toEqual([2, expect.stringContaining(why)])
    }
  })
})

describe('a database’s password', () => {
  let server: PostgresServer
  let url: string

  beforeAll(async () => {
    server = await startPostgres()
    const admin = new pg.Client({ connectionString: server.url })
    await admin.connect()
    await admin.query(`create role guarded login createrole password '${CANARY}'`)
    await admin.query('create database guarded owner guarded')
    const { rows } = await admin.query('show hba_file')
    writeFileSync(String(rows[0]?.hba_file), 'host all pawl all trust\nhost all all all scram-sha-256\n')
    await admin.query('select pg_reload_conf()')
    await admin.end()
    const guarded = new URL(server.url)
    guarded.username = 'guarded'
    guarded.pathname = '/guarded'
    url = guarded.href
  })
  afterAll(() => server.stop())

  it('comes from where Postgres looks for it, and is asked for where it does not', async () => {
    const { port } = new URL(url)
    const refused = await pawl(['migrate', '--url', url])
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/password/i)])
    const env = { PGPASSWORD: CANARY }
    const { applied } = await endedJson<{ applied: string[] }>(['migrate', '--url', url], { env })
    expect(applied).not.toEqual([])
    const file = written('pgpass', `127.0.0.1:${port}:guarded:guarded:${CANARY}\n`)
    const { id } = await endedJson<{ id: string }>(['enqueue', 'x', '--queue', 'q', '--url', url], {
      env: { PGPASSFILE: file },
    })
    const whole = url.replace('guarded@', `guarded:${CANARY}@`)
    expect(await json(['jobs', 'show', id, '--url-file', written('pgurl', whole)])).toMatchObject({
      id,
      state: 'queued',
    })
    const wrong = await pawl(['doctor', '--json', '--url', whole.replace(CANARY, `${CANARY}x`)])
    expect(wrong.stdout + wrong.stderr).not.toContain(CANARY)
    expect(wrong.code).toBe(1)
  })
})

describe('keys', () => {
  const file = home.at('sealed.db')
  const keys = written('keys.json', JSON.stringify({ current: 'k1', keys: { k1: randomBytes(32).toString('base64') } }))

  it('let the command line write and read; without them it shows a mark, and carries what it cannot read', async () => {
    const env = { PAWL_KEYS_FILE: keys }
    const words = ['enqueue', 'x', '--queue', 'q', '-p', `pin=${CANARY}`, '--url', file]
    const { id } = await json<{ id: string }>(words, { env })
    await json(['jobs', 'signal', id, 'read', '-p', `by=${CANARY}`, '--url', file], { env })
    await json(['jobs', 'cancel', id, '--reason', `because ${CANARY}`, '--url', file], { env })
    const read = await json(['jobs', 'show', id, '--url', file, '--keys-file', keys])
    expect(read).toMatchObject({ input: { pin: CANARY }, cancel: { reason: `because ${CANARY}` } })
    const blind = await pawl(['jobs', 'show', id, '--url', file])
    expect(blind.stdout).toContain('(encrypted, key k1)')
    expect(blind.stdout).not.toMatch(/pawl:1|4n4ry/)
    expect((await pawl(['jobs', 'events', id, '--url', file])).stdout).not.toMatch(/pawl:1:k1:/)
    expect(await json(['verify', '--url', file], { env })).toMatchObject({ jobs: 1, discrepancies: [] })
    const exported = await ended(['export', '--url', file], { env })
    expect(exported.stdout).toMatch(/pawl:1:k1:/)
    expect(exported.stdout).not.toContain(CANARY)
    const elsewhere = home.at('elsewhere.db')
    const importing = ['import', '--all', '--yes', '--url', elsewhere]
    const keyless = await ended(importing, { input: exported.stdout })
    expect([keyless.code, keyless.stderr]).toEqual([2, expect.stringMatching(/Line 1 is encrypted[\s\S]*--keys-file/)])
    expect(await endedJson(importing, { input: exported.stdout, env })).toMatchObject({ imported: 1 })
    const { jobs } = await json<{ jobs: { id: string }[] }>(['jobs', 'ls', '--url', elsewhere])
    expect(await json(['jobs', 'show', String(jobs[0]?.id), '--url', elsewhere], { env })).toMatchObject({
      input: { pin: CANARY },
    })
  })

  it('that are none are named, not shown', async () => {
    for (const [text, why] of [
      ['nonsense', 'is not JSON'],
      ['{"keys":{}}', 'does not hold keys'],
      [`{"current":"a","keys":{"a":"${Buffer.from(CANARY).toString('base64')}"}}`, 'AES-256 needs 32'],
      ['{"current":"b","keys":{}}', 'no key b'],
    ] as const) {
      const { code, stderr } = await pawl(['jobs', 'ls', '--url', file, '--keys-file', written('bad.json', text)])
      expect([code, stderr]).toEqual([2, expect.stringContaining(why)])
      expect(stderr).not.toContain(Buffer.from(CANARY).toString('base64'))
    }
  })
})
