import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { MACHINE } from '../../src/core/transitions.ts'
import { ended, folder, json, pawl, spawned, started } from './pawl.ts'

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
    [
      at('enqueue', 'mail', '--queue', 'q', '--input', '@missing.json'),
      '--input missing.json cannot be read: there is no such file',
    ],
    [at('enqueue', 'mail', '--queue', 'q', '--input', '@.'), '--input . cannot be read: EISDIR'],
    [at('enqueue', 'mail', '--queue', 'q', '-p', 'n:=x'), 'n:= wants JSON; x is none.'],
    [at('enqueue', 'mail'), 'No worker has announced mail here'],
    [at('enqueue', 'mail', '--queue', 'q', '--delay', 'soon'), '--delay wants a duration'],
    [at('enqueue', 'mail', '--queue', 'q', '--priority', 'urgent'), 'priority: must be 0 to 9'],
    [['verify', '--url', 'http://127.0.0.1:9'], 'is a gateway'],
    [['jobs', 'ls', '--url', 'mysql://localhost'], 'no store is known for mysql:'],
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
    expect((await ended(['jobs', 'ls'], { cwd: home.path, env: { PAWL_URL: '' } })).stderr).toContain('.pawl/jobs.db')
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
    const words = ['jobs', 'events', 'x', '--dialect', '003', '--url', file]
    const { events, rev } = await json<{ events: object[]; rev: number }>(words)
    // Nobody ever leased it, and the log says so.
    expect(events).toMatchObject([
      { Event: 'job_created' },
      { Event: 'job_leased', implied: true },
      { Event: 'job_cancelled' },
    ])
    const text = events.map((event) => JSON.stringify(event)).join('\n')
    writeFileSync(home.at('x.jsonl'), text)
    const told = await json(['derive', '--dialect', '003', home.at('x.jsonl')])
    expect(told).toMatchObject({ dialect: '003', violations: [], lines: events.length })
    const piped = await ended(['derive', '--dialect', '003', '--json'], { input: text })
    expect(JSON.parse(piped.stdout)).toEqual(told)
    writeFileSync(home.at('x.json'), JSON.stringify({ events, rev }))
    expect(await json(['derive', '--dialect', '003', home.at('x.json')]), 'as it was told').toEqual(told)
    writeFileSync(home.at('x.json'), JSON.stringify({ events: events.slice(0, 1), rev }))
    const cut = await pawl(['derive', '--dialect', '003', home.at('x.json')])
    expect([cut.code, cut.stdout]).toEqual([1, expect.stringContaining(`was told up to ${rev}`)])
  })

  it('are faulted line by line', async () => {
    const { code, stdout } = await ended(['derive', '--dialect', '001', '--json'], {
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

describe('what is shown on a terminal', () => {
  const onTerminal = (columns: number, ...words: readonly string[]) => sized(columns, 24, ...words)
  const sized = async (columns: number, rows: number, ...words: readonly string[]) => {
    const line = `stty cols ${columns} rows ${rows}; ${process.execPath} src/cli/main.ts ${words.join(' ')}`
    await using script = spawned('script', ['-qec', line, '/dev/null'], { env: { TERM: 'xterm' } })
    script.child.stdin?.end()
    return (await script.ended).stdout
  }
  const seen = (text: string) => text.replaceAll(/\u001b\[[0-9;]*[A-Za-z]/g, '')

  it('fits: top has no line longer than 80, whatever the queue is called, and says all there is', async () => {
    const store = home.at('wide.db')
    await pawl(['enqueue', 'x', '--queue', 'a-queue-with-a-name-as-long-as-they-come-in-real-life', '--url', store])
    const shown = seen(await onTerminal(80, 'top', '-n', '2', '-i', '100ms', '--url', store)).split(/\r?\n/)
    expect(shown.filter((line) => [...line].length > 80 && !line.includes(store))).toEqual([])
    expect(shown.join('\n')).toMatch(/^QUEUE .* OLDEST$/m)
    expect(shown.join('\n')).toMatch(/^a-queue-.*… +1 +0 /m)
    expect((await pawl(['top', '-n', '1', '--url', store])).stdout).toContain('as-long-as-they-come-in-real-life')
  })

  it('is whole where the terminal does not know its size', async () => {
    const store = home.at('unsized.db')
    for (const queue of ['a', 'b', 'c']) await pawl(['enqueue', 'x', '--queue', queue, '--url', store])
    const shown = seen(await sized(0, 0, 'top', '-n', '1', '--url', store))
    for (const queue of ['a', 'b', 'c']) expect(shown).toMatch(new RegExp(`^${queue} +1 `, 'm'))
  })

  it('has colours for states, the same everywhere', async () => {
    const store = home.at('colours.db')
    const shown = async (...words: readonly string[]) =>
      (await pawl([...words, '--url', store], { columns: 120 })).stdout
    await pawl(['enqueue', 'x', '--queue', 'q', '--id', 'x', '--url', store])
    await pawl(['jobs', 'cancel', 'x', '--url', store])
    const cancelled = /\u001b\[2mcancelled *\u001b\[22m/
    expect(await shown('jobs', 'ls')).toMatch(cancelled)
    expect(await shown('jobs', 'show', 'x')).toMatch(cancelled)
    expect(await shown('jobs', 'events', 'x')).toMatch(cancelled)
  })
})

describe('what cannot be reached', () => {
  // Nobody listens on port 1, and nobody may tell a password.
  it.each([
    [['jobs', 'ls', '--url', 'postgres://me:hush@127.0.0.1:1/app'], 'Nothing listens at 127.0.0.1:1 (ECONNREFUSED).'],
    [['migrate', '--status', '--url', 'postgres://me:hush@127.0.0.1:1/app'], 'Nothing listens at 127.0.0.1:1'],
    [['jobs', 'ls', '--url', 'postgres://me:hush@no-such-host.invalid/app'], 'There is no host no-such-host.invalid.'],
    [['jobs', 'ls', '--url', 'http://127.0.0.1:10'], 'http://127.0.0.1:10 could not be asked: connect ECONNREFUSED'],
  ])('pawl %j: 1, where it was tried and what to do', async (words, hint) => {
    const { code, stderr } = await pawl(words)
    expect(stderr).toContain(hint)
    expect(stderr).toMatch(/\n {2}next {3}.*--url \(or PAWL_URL\)/)
    expect(stderr).not.toContain('hush')
    expect(code).toBe(1)
  })
})

describe('a module whose jobs cannot be had', () => {
  it.each([
    [
      'what npm init leaves behind',
      '{ "type": "commonjs" }',
      `import "pawl"`,
      'Say that its package has modules: npm pkg set type=module',
    ],
    ['a mistake in it', '{ "type": "module" }', `throw new Error('no settings')`, 'See where, by itself: node '],
  ])('is named with why and what to do: %s', async (_, manifest, text, next) => {
    mkdirSync(home.at('shop'), { recursive: true })
    writeFileSync(home.at('shop/package.json'), manifest)
    writeFileSync(home.at('shop/jobs.ts'), text)
    const { code, stderr } = await ended(['work', home.at('shop/jobs.ts'), '--url', 'memory:'])
    expect(stderr).toMatch(/pawl: USAGE: .*jobs\.ts cannot be imported: .*(?:outside a module|no settings)\.\n/)
    expect(stderr).toContain(`  next   ${next}`)
    expect(code).toBe(2)
  })
})

describe('explaining a word', () => {
  it('that is none: says what it could have been, whether there is a store or not', async () => {
    for (const url of [file, home.at('nowhere.db')]) {
      const { code, stderr } = await pawl(['explain', 'blah', '--url', url])
      expect(stderr).toMatch(/blah is no job.*, and no code, reason or state\./)
      expect(stderr).toContain('pawl jobs ls shows the ids of jobs; pawl explain alone lists every other word')
      expect(code).toBe(3)
    }
    const { stderr } = await pawl(['explain', 'STALE_FENSE', '--url', file])
    expect(stderr).toContain('Did you mean STALE_FENCE?')
  })

  it('that is an error: says what becomes of the job, and of the limit key it ran under', async () => {
    const why = async (word: string) => (await json<{ why: string }>(['explain', word])).why
    expect(await why('rate_limited')).toMatch(
      /^Retried while the budget lasts\. .*slowed down; with Retry-After, it is held/,
    )
    expect(await why('E_5XX_ORIGIN')).toMatch(/5 in a row break the limit key/)
    expect(await why('browser_crash')).toBe('Retried while the budget lasts.')
    const { meanings } = await json<{ meanings: { kind: string }[] }>(['explain', 'policy_violation'])
    expect(meanings.map(({ kind }) => kind)).toEqual(['error', 'reason'])
  })

  it('alone: lists every word there is something to say about', async () => {
    const { meanings } = await json<{ meanings: { word: string; kind: string }[] }>(['explain'])
    const kinds = new Set(meanings.map(({ kind }) => kind))
    expect([...kinds].sort()).toEqual(['class', 'error', 'objection', 'reason', 'refusal', 'state'])
    expect((await pawl(['explain'])).stdout).toMatch(/^STALE_FENCE +refusal +Another attempt owns the job$/m)
  })
})

describe('completions', () => {
  const store = home.at('completed.db')
  const command = `${process.execPath} ${resolve('src/cli/main.ts')}`

  /** What bash would offer for the last word of each line, with words between blanks. */
  const inBash = async (...lines: readonly string[]) => {
    const each = lines.map((line) => {
      const words = ['pawl', ...line.split(' ')]
      return `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _pawl; echo "\${COMPREPLY[*]}"`
    })
    const script = [`pawl() { ${command} "$@"; }`, 'source <(pawl completion bash)', ...each].join('\n')
    await using bash = spawned('bash', ['-c', script])
    bash.child.stdin?.end()
    const { stdout, stderr } = await bash.ended
    expect(stderr).toBe('')
    return stdout.split('\n').slice(0, -1)
  }

  it('know every verb and option, and values of closed lists, in bash', async () => {
    const offered = {
      de: 'demo dead-letters dead derive',
      comp: 'completion',
      'jobs can': 'cancel',
      '--json jobs ls --st': '--state',
      'dlq redrive --dry': '--dry-run',
      'jobs ls --state failed,d': 'failed,denied failed,dead_lettered',
      'jobs ls --state = par': 'parked',
      'dlq ls --reason exh': 'exhausted_retries',
      'token create --scope w': 'worker',
      'jobs ls sta': 'state:',
      'jobs ls state:failed,d': 'state:failed,denied state:failed,dead_lettered',
      // As bash cuts a word at its colons.
      'jobs ls state : fa': 'failed',
      'jobs ls is :': 'held paused compensating cancelling schedule',
    }
    expect(await inBash(...Object.keys(offered))).toEqual(Object.values(offered))
  })

  it('know the queues, types and jobs of the store that is named', async () => {
    const { id } = await json<{ id: string }>(['enqueue', 'crawl.page', '--queue', 'crawl', '--url', store])
    const at = `--url ${store}`
    const lines = [
      `${at} jobs ls --queue cr`,
      `jobs ls ${at} --type `,
      `${at} jobs show `,
      `${at} jobs show none`,
      `${at} jobs ls queue:c`,
    ]
    expect(await inBash(...lines)).toEqual(['crawl', 'crawl.page', id, '', 'queue:crawl'])
  })

  it('put nothing on a line that a shell would run', async () => {
    const hostile = home.at('hostile.db')
    for (const queue of ['x;reboot', 'x$(id)', 'x`id`', 'x y', 'x|*', 'x.fine'])
      await json(['enqueue', 'x', '--queue', queue, '--url', hostile])
    expect(await inBash(`--url ${hostile} queues pause x`)).toEqual(['x.fine'])
  })

  it('say nothing where nobody answers', async () => {
    const nowhere = [`--url http://127.0.0.1:10 jobs ls --queue `, `--url ${home.at('nowhere.db')} jobs show `]
    expect(await inBash(...nowhere)).toEqual(['', ''])
  })

  it.each(['zsh', 'fish'])('ask the same in %s', async (shell) => {
    const { stdout } = await pawl(['completion', shell])
    expect(stdout).toContain('pawl complete -- ')
    if (!existsSync(`/usr/bin/${shell}`)) return
    writeFileSync(home.at(shell), stdout)
    await using checked = spawned(shell, ['-n', home.at(shell)])
    expect((await checked.ended).stderr).toBe('')
  })
})
