import { appendFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { defineJob } from '../../src/define-job.ts'
import { open } from '../../src/open.ts'
import { ended, folder } from './pawl.ts'

describe('a file that is bigger than memory', () => {
  it('is imported line by line, from its name and from standard input', async () => {
    const home = folder()
    onTestFinished(() => home[Symbol.dispose]())
    const store = home.at('jobs.db')
    {
      await using one = await open(store)
      const big = defineJob({ type: 'big', queue: 'big', run: () => undefined })
      await one.enqueue(big, { text: 'x'.repeat(30_000) })
    }
    const { stdout: line } = await ended(['export', '--url', store])
    const [copies, file] = [4_000, home.at('many.jsonl')]
    for (let n = 0; n < copies; n += 500) appendFileSync(file, line.repeat(500))
    const env = { NODE_OPTIONS: '--max-old-space-size=48' }
    const named = await ended(['import', file, '--dry-run', '--json', '--url', home.at('copy.db')], { env })
    expect(JSON.parse(named.stdout)).toMatchObject({ matched: copies })
    const piped = await ended(['import', '--dry-run', '--json', '--url', home.at('copy.db')], {
      env,
      input: line.repeat(1_000),
    })
    expect(JSON.parse(piped.stdout)).toMatchObject({ matched: 1_000 })
  })
})
