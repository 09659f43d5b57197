import { afterAll, describe, expect, it } from 'vitest'
import { folder, pawl, type Running, started } from './pawl.ts'

const home = folder()
afterAll(() => home[Symbol.dispose]())

interface Served {
  readonly url: string
  readonly token: string
  readonly store: string
}

const served = async (running: Running) => JSON.parse(await running.line(/^\{/)) as Served

/** What Prometheus would read there. */
async function scraped({ url, store }: Served): Promise<string> {
  const { stdout } = await pawl(['token', 'create', '--scope', 'metrics', '--url', store, '--json'])
  const { secret } = JSON.parse(stdout) as { readonly secret: string }
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${secret}` } })
  expect(answer.status).toBe(200)
  return await answer.text()
}

describe('a port that is taken', () => {
  it('does not keep a second demo from starting beside the first', async () => {
    // Whoever has the usual port, the first of these or somebody else: the second finds it taken. Both have one folder and its store.
    await using first = started(['demo', '--json'], { cwd: home.path })
    const one = await served(first)
    await using second = started(['demo', '--json'], { cwd: home.path })
    const two = await served(second)
    expect(two.url).not.toBe(one.url)
    expect(two.store).toBe(one.store)
    for (const each of [one, two]) {
      const text = await scraped(each)
      expect(text.match(/^# TYPE pawl_queue_oldest_seconds gauge$/gm)).toHaveLength(1)
    }
    for (const each of [second, first]) {
      each.child.kill('SIGINT')
      const { code, stderr } = await each.ended
      expect([code, stderr]).toEqual([0, ''])
    }
  })

  it.each(['demo', 'serve'])(
    'is refused by pawl %s --port with what to do, and nothing is left running',
    async (verb) => {
      await using first = started([verb, '--port', '0', '--json', '--url', home.at(`${verb}.db`)])
      const { port } = new URL((await served(first)).url)
      const { code, stdout, stderr } = await pawl([verb, '--port', port, '--url', home.at(`${verb}.db`)])
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toContain(`Port ${port} of 127.0.0.1 is taken.`)
      expect(stderr).toContain('next   Choose another with --port; 0 picks a free one.')
      expect(await scraped(await served(first))).toContain('pawl_queue_oldest_seconds')
    },
  )
})

describe('what the demo minds', () => {
  it('is not PAWL_URL, nor PAWL_TENANT: it has a store and jobs of its own', async () => {
    const env = { PAWL_URL: 'http://127.0.0.1:9', PAWL_TOKEN: 'of another', PAWL_TENANT: 'another' }
    await using demo = started(['demo', '--port', '0', '--json'], { env, cwd: home.path })
    const { url, token } = await served(demo)
    const ran = await pawl(['queues', 'ls'], { env: { PAWL_URL: url, PAWL_TOKEN: token } })
    expect(ran.stdout).toContain('payments')
  })

  it('is --url: a gateway is refused, a file is kept, and the token is not', async () => {
    const gateway = await pawl(['demo', '--url', 'http://127.0.0.1:9'])
    expect(gateway.code).toBe(2)
    expect(gateway.stderr).toContain('is a gateway')
    const file = home.at('kept.db')
    const once = async () => {
      await using demo = started(['demo', '--port', '0', '--json', '--url', file])
      const { refund } = JSON.parse(await demo.line(/^\{/)) as { refund: string }
      demo.child.kill('SIGINT')
      expect((await demo.ended).code).toBe(0)
      return refund
    }
    const refund = await once()
    expect((await pawl(['jobs', 'show', refund, '--url', file])).stdout).toContain('refund')
    const { stdout } = await pawl(['token', 'ls', '--url', file, '--json'])
    const { tokens } = JSON.parse(stdout) as { tokens: { name: string; revokedAt?: string }[] }
    expect(tokens.map(({ name, revokedAt }) => [name, revokedAt !== undefined])).toEqual([['demo', true]])
  })
})
