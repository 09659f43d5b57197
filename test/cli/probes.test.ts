import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { ended, folder, json, started } from './pawl.ts'

const home = folder()
afterAll(() => home[Symbol.dispose]())

interface Working {
  readonly worker: string
  readonly url: string
}

const MODULE = home.at('jobs.ts')
writeFileSync(
  MODULE,
  `import { defineJob } from ${JSON.stringify(resolve('src/index.ts'))}
export const greet = defineJob({ type: 'greet', run: () => 'hello' })
export const slow = defineJob({ type: 'slow', run: () => new Promise((resolve) => setTimeout(resolve, 3_000)) })
`,
)

describe('the port of pawl work', () => {
  it('tells whether it is alive, whether it can work, and what it has done', async () => {
    const store = home.at('jobs.db')
    await using running = started(['work', MODULE, '--port', '0', '--json', '--url', store])
    const { url } = JSON.parse(await running.line(/^\{/)) as Working
    const ask = async (path: string) => {
      const answer = await fetch(url + path)
      return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() }
    }
    expect(new URL(url).hostname).toBe('127.0.0.1')
    expect(await ask('/livez')).toMatchObject({ status: 200, text: '{"status":"alive"}' })
    expect(await ask('/readyz')).toMatchObject({ status: 200, text: expect.stringContaining('"store":"ok"') })
    expect(await ask('/v1/jobs')).toMatchObject({ status: 404 })
    await json(['enqueue', 'greet', '--wait', '--url', store])
    await json(['enqueue', 'slow', '--url', store])
    await json(['enqueue', 'other', '--queue', 'other', '--url', store])
    await eventually(
      'the numbers',
      async () => {
        const { type, text } = await ask('/metrics')
        expect(type).toContain('text/plain; version=0.0.4')
        return (
          text.includes('pawl_claims_total{type="greet"} 1') &&
          text.includes('pawl_jobs{queue="other",state="queued"} 1')
        )
      },
      { withinMs: 30_000 },
    )
    running.child.kill('SIGTERM')
    await eventually('it to be draining', async () => {
      const { status, text } = await ask('/readyz')
      return status === 503 && text.includes('stopping')
    })
    expect((await running.ended).code).toBe(0)
  })

  it('that is taken is refused with what to do', async () => {
    await using first = started(['work', MODULE, '--port', '0', '--json', '--url', home.at('first.db')])
    const { port } = new URL((JSON.parse(await first.line(/^\{/)) as Working).url)
    const { code, stderr } = await ended(['work', MODULE, '--port', port, '--url', home.at('second.db')])
    expect([code, stderr]).toEqual([2, expect.stringContaining(`Port ${port} of 127.0.0.1 is taken.`)])
  })
})
