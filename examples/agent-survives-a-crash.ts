/**
 * An agent that thinks in steps. The process it runs in is killed in the middle of the third; another process takes
 * over, and no step that was finished is done again.
 *
 *   node examples/agent-survives-a-crash.ts [store url]
 */
import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { defineJob, open } from '../src/index.ts'

const QUESTIONS = ['What is asked?', 'What is known?', 'What is missing?', 'What follows?']

const agent = defineJob({
  type: 'agent',
  lease: '2s',
  heartbeat: '500ms',
  async run(input: { readonly goal: string }, ctx) {
    const thoughts: string[] = []
    for (const [n, question] of QUESTIONS.entries()) {
      const thought = await ctx.step(`thought ${n + 1}`, async () => {
        console.log(`run ${ctx.attempt}: ${question}`)
        // In its first life the agent never gets past the third thought.
        if (n === 2 && ctx.attempt === 1) await new Promise(() => {})
        return `${n + 1}. ${question} Something about ${input.goal}.`
      })
      thoughts.push(thought)
      ctx.progress({ done: n + 1, total: QUESTIONS.length })
    }
    return thoughts.length
  },
})

const [url = join(mkdtempSync(join(tmpdir(), 'pawl-agent-')), 'jobs.db'), role] = process.argv.slice(2)
if (role === 'worker') {
  const pawl = await open(url)
  pawl.work([agent], { signals: true })
} else await watch()

async function watch(): Promise<void> {
  await using pawl = await open(url, { migrate: true })
  const job = await pawl.enqueue(agent, { goal: 'the meaning of it all' })
  const first = startProcess('first')
  await first.says('What is missing?')
  first.process.kill('SIGKILL')
  console.log('the first process is dead')
  const second = startProcess('second')
  const thoughts = await job.result({ timeout: '30s' })
  const record = await job.job()
  console.log(`${thoughts} thoughts, ${record?.attempt} runs, ${record?.stalls} lost lease`)
  second.process.kill('SIGTERM')
  await second.exit
}

function startProcess(name: string) {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), url, 'worker'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const waiting = new Map<string, () => void>()
  createInterface(child.stdout).on('line', (line) => {
    console.log(`${name} process, ${line}`)
    for (const [words, resolve] of waiting) if (line.includes(words)) resolve()
  })
  return {
    process: child,
    exit: new Promise<void>((resolve) => child.once('exit', () => resolve())),
    says: (words: string) => new Promise<void>((resolve) => waiting.set(words, resolve)),
  }
}
