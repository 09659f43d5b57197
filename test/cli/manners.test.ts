import { writeFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { MACHINE } from '../../src/core/transitions.ts'
import { folder, json, pawl, spawned, started } from './pawl.ts'

const home = folder()
const file = home.at('jobs.db')
const at = (...words: readonly string[]) => [...words, '--url', file]
afterAll(() => home[Symbol.dispose]())

describe('what was typed wrong', () => {
  it.each([
    [['jbos'], 'Did you mean jobs?'],
    [['jobs', 'shwo'], 'Did you mean show?'],
    [['jobs', 'ls', '--stat', 'x'], 'Did you mean --state?'],
    [at('jobs', 'ls', '--state', 'suceeded'), 'Did you mean succeeded?'],
    [at('tail', '--event', 'failled'), 'Did you mean failed?'],
    [['machine', '--dialect', '005'], 'There is no dialect 005. Did you mean'],
    [at('dlq', 'ls', '--reason', 'timeot'), 'Did you mean timeout?'],
    [at('token', 'create', '--scope', 'amdin'), 'Did you mean admin?'],
    [['completion', 'fisch'], 'Did you mean fish?'],
    [at('jobs', 'ls', '--limit', 'many'), '--limit is a whole number from 1 to 500, not many.'],
    [at('enqueue', 'mail', '-p', 'to'), 'A parameter is name=text or name:=json, not to.'],
    [at('enqueue', 'mail', '--queue', 'q', '-p', 'n:=x'), 'n:= wants JSON; x is none.'],
    [at('enqueue', 'mail'), 'No worker has announced mail here'],
    [at('enqueue', 'mail', '--queue', 'q', '--delay', 'soon'), 'delay: must be milliseconds or a duration'],
    [at('enqueue', 'mail', '--queue', 'q', '--priority', 'urgent'), 'priority: must be 0 to 9'],
    [['verify', '--url', 'http://127.0.0.1:9'], 'is a gateway'],
    [['jobs', 'ls', '--url', 'redis://localhost'], 'no store is known for redis:'],
    [at('queues', 'pause', ''), 'A queue has a name'],
    [at('jobs', 'ls', '--cursor', 'nonsense'), 'not a cursor of this store: nonsense'],
    [at('tail', '--after', 'nonsense'), 'not a position of this feed: nonsense'],
    [at('migrate'), 'pawl migrate is for Postgres'],
  ])('pawl %j: 2, and what was meant', async (words, hint) => {
    const { code, stdout, stderr } = await pawl(words)
    expect(stderr).toContain(hint)
    expect(code).toBe(2)
    expect(stdout).toBe('')
  })

  it('a store that is not there is not made', async () => {
    const { code, stderr } = await pawl(['jobs', 'ls', '--url', home.at('nowhere.db')])
    expect(code).toBe(3)
    expect(stderr).toContain('There is no store at')
    expect((await pawl(['jobs', 'ls'], { cwd: home.path, env: { PAWL_URL: '' } })).stderr).toContain('.pawl/jobs.db')
  })
})

describe('colours', () => {
  const machine = async (env: Record<string, string>, ...words: readonly string[]) =>
    (await pawl(['machine', ...words], { env })).stdout.includes('\u001b[')

  it('are not for pipes, unless forced', async () => {
    expect(await machine({})).toBe(false)
    expect(await machine({ FORCE_COLOR: '1' })).toBe(true)
    expect(await machine({ FORCE_COLOR: '1' }, '--no-color')).toBe(false)
    expect(await machine({ FORCE_COLOR: '1' }, '--json')).toBe(false)
  })

  it('are for terminals, unless NO_COLOR is set', async () => {
    const onTerminal = async (env: string) => {
      await using script = spawned(
        'script',
        ['-qec', `${env} ${process.execPath} src/cli/main.ts machine`, '/dev/null'],
        { env: { TERM: 'xterm' } },
      )
      script.child.stdin?.end()
      return (await script.ended).stdout.includes('\u001b[')
    }
    expect(await onTerminal('')).toBe(true)
    expect(await onTerminal('NO_COLOR=1')).toBe(false)
  })
})

describe('help', () => {
  it('has every verb, examples and the exit codes', async () => {
    const { stdout, code } = await pawl(['--help'])
    expect(code).toBe(0)
    for (const verb of [
      'demo',
      'serve',
      'work',
      'enqueue',
      'jobs',
      'tail',
      'top',
      'queues',
      'workers',
      'dlq',
      'machine',
      'derive',
      'verify',
      'explain',
      'migrate',
      'doctor',
      'token',
      'export',
      'import',
      'bench',
      'completion',
    ])
      expect(stdout).toMatch(new RegExp(`^  ${verb}\\b`, 'm'))
    expect(stdout).toContain('130  interrupted')
    expect((await pawl(['enqueue', '--help'])).stdout).toContain(
      '$ pawl enqueue crawl.page -p url=https://example.org -p depth:=2',
    )
    expect((await pawl(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})

describe('the machine', () => {
  it('is the table itself', async () => {
    const told = await json<{ moves: unknown; edges: unknown[]; states: string[] }>(['machine'])
    expect(told.moves).toEqual(JSON.parse(JSON.stringify(MACHINE)))
    expect(told.states).toHaveLength(14)
    expect((await pawl(['machine', '--mermaid'])).stdout).toMatch(/^stateDiagram-v2\n {2}\[\*\] --> queued: enqueued/)
    expect((await pawl(['machine', '--dialect', '003'])).stdout).toMatch(/FROM +WORD +TO/)
  })

  it('keeps its own rules', async () => {
    const { ok, checks } = await json<{ ok: boolean; checks: { ok: boolean }[] }>(['machine', '--check'])
    expect(ok).toBe(true)
    expect(checks).toHaveLength(6)
  })
})

describe('foreign logs', () => {
  const log = (...statuses: readonly string[]) => statuses.map((event) => JSON.stringify({ event })).join('\n')

  it('come to a status, from a file or from standard input', async () => {
    await pawl(['enqueue', 'x', '--queue', 'q', '--id', 'x', '--url', file])
    await pawl(['jobs', 'cancel', 'x', '--url', file])
    const { events } = await json<{ events: object[] }>(['jobs', 'events', 'x', '--dialect', '003', '--url', file])
    const text = events.map((event) => JSON.stringify(event)).join('\n')
    writeFileSync(home.at('x.jsonl'), text)
    const told = await json(['derive', '--dialect', '003', home.at('x.jsonl')])
    expect(told).toMatchObject({ dialect: '003', violations: [], lines: events.length })
    const piped = await pawl(['derive', '--dialect', '003', '--json'], { input: text })
    expect(JSON.parse(piped.stdout)).toEqual(told)
  })

  it('are faulted line by line', async () => {
    const { code, stdout } = await pawl(['derive', '--dialect', '001', '--json'], {
      input: `${log('nothing of the kind')}\n{{{\n`,
    })
    expect(code).toBe(1)
    expect(JSON.parse(stdout).violations).toMatchObject([{ line: 1 }, { line: 2 }])
    expect((await pawl(['derive', '--dialect', '001', home.at('none.jsonl')])).code).toBe(3)
    expect((await pawl(['derive', home.at('none.jsonl')])).code).toBe(2)
  })
})

describe('being interrupted', () => {
  it('ends what waits with 130', async () => {
    await pawl(['enqueue', 'y', '--queue', 'q', '--id', 'y', '--url', file])
    await using waiting = started(['jobs', 'result', 'y', '--url', file])
    await using top = started(['top', '--url', file])
    await top.line(/QUEUE/)
    top.child.kill('SIGINT')
    expect((await top.ended).code).toBe(130)
    waiting.child.kill('SIGINT')
    const { code } = await waiting.ended
    expect([130, null]).toContain(code)
  })

  it('is not bothered by a reader who has seen enough', async () => {
    await using piped = spawned('bash', [
      '-c',
      `set -o pipefail; ${process.execPath} src/cli/main.ts machine --json | head -c 10`,
    ])
    piped.child.stdin?.end()
    expect((await piped.ended).code).toBe(0)
  })
})

describe('completions', () => {
  it('know every verb and option in bash', async () => {
    const complete = async (...words: readonly string[]) => {
      const typed = words.map((word) => `'${word}'`).join(' ')
      const script = `source <(${process.execPath} src/cli/main.ts completion bash); COMP_WORDS=(${typed}); COMP_CWORD=${words.length - 1}; _pawl; printf '%s\\n' "\${COMPREPLY[@]}"`
      await using bash = spawned('bash', ['-c', script])
      bash.child.stdin?.end()
      const { stdout, stderr } = await bash.ended
      expect(stderr).toBe('')
      return stdout.trimEnd().split('\n')
    }
    expect(await complete('pawl', 'de')).toEqual(['demo', 'dead-letters', 'derive'])
    expect(await complete('pawl', 'jobs', 'can')).toEqual(['cancel'])
    expect(await complete('pawl', '--json', 'jobs', 'ls', '--st')).toEqual(['--state'])
    expect(await complete('pawl', 'dlq', 'redrive', '--dry')).toEqual(['--dry-run'])
  })

  it.each(['zsh', 'fish'])('are written for %s', async (shell) => {
    const { stdout } = await pawl(['completion', shell])
    for (const word of ['redrive', 'enqueue', 'dry-run', 'reschedule']) expect(stdout).toContain(word)
  })
})
