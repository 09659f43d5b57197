import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STATES } from '../../src/core/job.ts'
import { eventually } from '../support/eventually.ts'
import { folder, json, type Running, spawned, WHOLE_FILE_MS } from './pawl.ts'

/** What `npm start` runs once everything is installed; `-- --port 0 --rate 20` is added as npm would. */
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } }

/** Each line it prints begins with one of these, and shows this when it is typed. */
const SHOWS: Readonly<Record<string, RegExp>> = {
  'pawl top': /^payments /m,
  'pawl tail': /succeeded/,
  'pawl jobs ls --state parked,waiting,retrying': /refund/,
  'pawl enqueue greet': /^"Hello, you!"$/m,
  'pawl explain': /^pj_\w+ is waiting|^pj_\w+ is parked/m,
  'pawl jobs signal': /^pj_\w+ is \w+/m,
  'pawl jobs events': /enqueued/,
  'pawl dlq ls': /charge\.card/,
  'pawl dlq redrive --dry-run': /charge\.card/,
  'curl -s -H': /"queues":|"id":/,
  'curl -sN': /^event: |^data: /m,
}

/** Whether the last of these lines, typed into a shell after the others, shows something; it is stopped then. */
async function shown(lines: readonly string[], what: RegExp): Promise<boolean> {
  await using bash = spawned('bash', ['-c', ['shopt -s expand_aliases', ...lines].join('\n')], { group: true })
  bash.child.stdin?.end()
  let over = false
  void bash.ended.then(() => {
    over = true
  })
  await eventually(`an end, or ${what}`, () => over || what.test(bash.stdout()), { withinMs: 20_000 })
  return what.test(bash.stdout())
}

describe('npm start', () => {
  const home = folder()
  let demo: Running
  let env: Record<string, string>

  beforeAll(async () => {
    // As in the project's folder, but for what it leaves there.
    const start = scripts.start.replace('src/', `${resolve('src')}/`)
    demo = spawned('bash', ['-c', `exec ${start} --port 0 --rate 20`], { longestMs: WHOLE_FILE_MS, cwd: home.path })
    const line = await demo.line(/export PAWL_URL/)
    const [, url = '', token = ''] = /PAWL_URL=(\S+) PAWL_TOKEN=(\S+)/.exec(line) ?? []
    env = { PAWL_URL: url, PAWL_TOKEN: token }
  })
  afterAll(async () => {
    await demo[Symbol.asyncDispose]()
    home[Symbol.dispose]()
  })

  it('prints lines that work as they stand, and none that disappoints', async () => {
    await demo.line(/Ctrl-C stops/)
    const lines = demo
      .stdout()
      .split('\n')
      .filter((line) => line.startsWith('  '))
      .map((line) => line.trim())
    const setting = lines.filter((line) => /^(alias|export) /.test(line))
    expect(setting).toHaveLength(2)
    const typed = lines.filter((line) => !setting.includes(line))
    expect(Object.keys(SHOWS).filter((start) => !typed.some((line) => line.startsWith(start)))).toEqual([])
    for (const line of typed) {
      const [, shows] = Object.entries(SHOWS).find(([start]) => line.startsWith(start)) ?? []
      expect(shows, `nothing is expected of: ${line}`).toBeDefined()
      await eventually(`${line} shows ${shows}`, () => shown([...setting, line], shows as RegExp), {
        withinMs: 60_000,
        everyMs: 500,
      })
    }
  })

  it('leaves refunds to approve by hand, and no heap of them', async () => {
    const waiting = async () =>
      (await json<{ jobs: unknown[] }>(['jobs', 'ls', '--type', 'refund', '--state', 'waiting,parked'], { env })).jobs
        .length
    const enqueued = async () =>
      (await json<{ jobs: unknown[] }>(['jobs', 'ls', '--type', 'refund', '--limit', '500'], { env })).jobs.length
    await eventually('as many as are left to you', async () => (await waiting()) >= 5, { withinMs: 60_000 })
    await eventually('many more were made', async () => (await enqueued()) > 20, { withinMs: 60_000 })
    expect(await waiting()).toBeGreaterThanOrEqual(5)
    await eventually('the others were approved', async () => (await waiting()) < 10)
  })

  it('shows work of every kind', async () => {
    const states = async (type: string) =>
      (await json<{ jobs: { state: string }[] }>(['jobs', 'ls', '--type', type, '--limit', '500'], { env })).jobs.map(
        ({ state }) => state,
      )
    const kinds = {
      greet: /succeeded/,
      'fetch.page': /retrying|succeeded/,
      'charge.card': /dead_lettered/,
      'parse.mail': /failed/,
      refund: /waiting|parked/,
      'render.film': /running/,
    }
    for (const [type, expected] of Object.entries(kinds))
      await eventually(`${type} is seen`, async () => (await states(type)).some((state) => expected.test(state)), {
        withinMs: 60_000,
      })
    const film = (await json<{ jobs: { id: string }[] }>(['jobs', 'ls', '--type', 'render.film', '--oldest'], { env }))
      .jobs[0]
    await eventually(
      'it says how far it is',
      async () =>
        (await json<{ progress?: { done: number } }>(['jobs', 'show', String(film?.id)], { env })).progress?.done !==
        undefined,
    )
  })

  it('visits every state there is', async () => {
    const headers = { authorization: `Bearer ${env['PAWL_TOKEN']}` }
    let missing: readonly string[] = STATES
    await eventually(
      'every state to be reached by some job',
      async () => {
        const told = await (await fetch(`${env['PAWL_URL']}/v1/traffic?window=1h`, { headers })).json()
        const { changes } = told as { readonly changes: readonly { readonly to: string }[] }
        missing = STATES.filter((state) => !changes.some(({ to }) => to === state))
        return missing.length === 0
      },
      { withinMs: 90_000 },
    ).catch((cause: unknown) => {
      throw new Error(`no job came to be ${missing.join(', ')}`, { cause })
    })
  })

  it('kills a worker in the middle of a job, which another finishes', async () => {
    await eventually(
      'a crawl that was lost once and has succeeded',
      async () => {
        const { jobs } = await json<{ jobs: { id: string; state: string }[] }>(
          ['jobs', 'ls', '--type', 'crawl.site', '--state', 'succeeded', '--oldest', '--limit', '20'],
          { env },
        )
        for (const { id } of jobs) {
          const { stalls } = await json<{ stalls: number }>(['jobs', 'show', id], { env })
          if (stalls > 0) return true
        }
        return false
      },
      { withinMs: 90_000, everyMs: 1_000 },
    )
  })

  it('stops in order, and leaves its jobs', async () => {
    demo.child.kill('SIGINT')
    const { code, stderr, stdout } = await demo.ended
    expect([code, stderr]).toEqual([0, ''])
    const [, store = ''] = /serves (\S+) at/.exec(stdout) ?? []
    expect(store).toBe(home.at('.pawl/demo.db'))
    expect(existsSync(store)).toBe(true)
  })
})
