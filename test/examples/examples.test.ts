import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { freshDatabase } from '../support/postgres.ts'

interface Ran {
  readonly code: number | null
  readonly lines: readonly string[]
  readonly stderr: string
}

/** As a reader would. */
async function run(example: string, ...args: readonly string[]): Promise<Ran> {
  const child = spawn(process.execPath, [`examples/${example}.ts`, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, lines: stdout.trimEnd().split('\n'), stderr }
}

describe('the examples', () => {
  const told = new Set<string>()
  const example = (name: string, check: (ran: Ran) => void, more?: () => Promise<{ url: string } & AsyncDisposable>) =>
    it(name, async () => {
      told.add(name)
      await using database = await more?.()
      const ran = await run(name, ...(database === undefined ? [] : [database.url]))
      expect(ran.stderr).toBe('')
      expect(ran.code).toBe(0)
      check(ran)
    })

  example('hello', ({ lines }) => {
    expect(lines).toEqual([
      'Hello, world!',
      '1. enqueued: nothing → queued, by producer',
      '2. claimed: queued → claimed, by worker',
      '3. started: claimed → running, by worker',
      '4. succeeded: running → succeeded, by worker',
    ])
  })

  example('retries-and-dead-letters', ({ lines }) => {
    expect(lines).toEqual([
      'run 1: ordering lamp',
      'run 2: ordering lamp',
      'run 3: ordering lamp',
      'dead letter: exhausted_retries after 3 runs, last E_5XX_ORIGIN',
      'run 1: ordering unicorn',
      'failed: invalid_item, no retry would help',
      'the shop is open; to be driven once more: 1',
      'run 4: ordering lamp',
      'one lamp, on its way',
    ])
  })

  example('human-approval', ({ lines }) => {
    expect(lines[0]).toBe('drafting a refund of 42 € for A-17')
    expect(lines[1]).toBe('parked; the worker holds 0 jobs')
    expect(lines[2]).toContain('It waits for the signal decision.')
    expect(lines.slice(3)).toEqual(['42 € to DE02 1203 0000 0000 2020 51, approved by ann'])
  })

  example('agent-survives-a-crash', ({ lines }) => {
    expect(lines).toEqual([
      'first process, run 1: What is asked?',
      'first process, run 1: What is known?',
      'first process, run 1: What is missing?',
      'the first process is dead',
      'second process, run 2: What is missing?',
      'second process, run 2: What follows?',
      '4 thoughts, 2 runs, 1 lost lease',
    ])
  })

  example('nightly-schedule', ({ lines }) => {
    expect(lines).toEqual([
      'spring: 2026-03-28T01:30:00.000Z, 2026-03-29T01:00:00.000Z, 2026-03-30T00:30:00.000Z',
      'report built at 28/03/2026, 02:30',
      'report built at 29/03/2026, 03:00',
      'report built at 30/03/2026, 02:30',
      'autumn: 2026-10-24T00:30:00.000Z, 2026-10-25T00:30:00.000Z, 2026-10-26T01:30:00.000Z',
      'report built at 24/10/2026, 02:30',
      'report built at 25/10/2026, 02:30',
      'report built at 26/10/2026, 02:30',
    ])
  })

  example('polite-crawler', ({ lines }) => {
    expect(lines).toEqual([
      '5 s: slowed after captcha, session 1, 2 at once',
      '11 s: slowed after 403_waf, session 2, 1 at once',
      '17 s: broken after 503_shield, session 3, until 38 s',
      '38 s: probing',
      '38 s: recovering',
      '43 s: broken after E_429_RATE, session 4, until 697 s',
      '697 s: probing',
      '697 s: recovering',
      '707 s: raised, 2 at once',
      '717 s: raised, 3 at once',
      '727 s: raised, 4 at once',
      '937 s: opened',
      '600 pages, as 5 visitors; the key is open',
    ])
  })

  example('agent-with-a-budget', ({ lines }) => {
    expect(lines).toEqual([
      'first hour: 1010 tokens, 2 questions held',
      'Key tokens has spent 1010 of 1000 for this window. Until 2030-01-01T01:00:00.000Z.',
      'second hour: 410 tokens, 0 questions held',
      'About “What is asked, and by whom, and what for?”: it depends.',
      'About “What is known about it already?”: it depends.',
      'About “What would change everything?”: it depends.',
      'About “Who should be told about it?”: it depends.',
      'About “What follows?”: it depends.',
    ])
  })

  example(
    'transactional-enqueue',
    ({ lines }) => expect(lines).toEqual(['rolled back: no such job', 'committed: sent', 'mails: ann']),
    freshDatabase,
  )

  it('are all run: here, or as the page they are shown on', () => {
    const names = globSync('examples/*.ts').map((path) => path.replace(/^examples\/|\.ts$/g, ''))
    expect([...told, 'readme'].sort()).toEqual(names.sort())
  })
})
