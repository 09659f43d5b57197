import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { json, type Running, spawned } from './pawl.ts'

/** What `npm start` runs once everything is installed; `-- --port 0 --rate 20` is added as npm would. */
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } }

describe('npm start', () => {
  let demo: Running
  let env: Record<string, string>

  beforeAll(async () => {
    demo = spawned('bash', ['-c', `exec ${scripts.start} --port 0 --rate 20`])
    const line = await demo.line(/export PAWL_URL/)
    const [, url = '', token = ''] = /PAWL_URL=(\S+) PAWL_TOKEN=(\S+)/.exec(line) ?? []
    env = { PAWL_URL: url, PAWL_TOKEN: token }
  })
  afterAll(() => demo[Symbol.asyncDispose]())

  it('prints curl lines that work as they stand', async () => {
    await demo.line(/Ctrl-C stops/)
    const lines = demo
      .stdout()
      .split('\n')
      .filter((line) => line.includes('curl -s -H'))
    expect(lines).toHaveLength(2)
    for (const line of lines) {
      await using curl = spawned('bash', ['-c', line])
      const { stdout, stderr, code } = await curl.ended
      expect([code, stderr]).toEqual([0, ''])
      expect(JSON.parse(stdout)).toSatisfy((told: object) => 'queues' in told || 'id' in told)
    }
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

  it('stops in order, and leaves nothing', async () => {
    demo.child.kill('SIGINT')
    const { code, stderr, stdout } = await demo.ended
    expect([code, stderr]).toEqual([0, ''])
    const [, store = ''] = /serves (\S+) at/.exec(stdout) ?? []
    expect(() => readFileSync(store)).toThrow(/ENOENT/)
  })
})
