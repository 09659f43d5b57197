import { appendFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { defineJob } from '../../src/library/define-job.ts'
import { open } from '../../src/open.ts'
import { ended, endedJson, folder } from './pawl.ts'

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
    const importing = ['import', '--dry-run', '--url', home.at('copy.db')]
    expect(await endedJson([...importing, file], { env })).toMatchObject({ matched: copies })
    expect(await endedJson(importing, { env, input: line.repeat(1_000) })).toMatchObject({ matched: 1_000 })
  })
})
