/** `node --expose-gc endurance-process.ts <url> <jobs>`: many jobs through one worker, and what is left of them. */
import { defineJob } from '../../src/library/define-job.ts'
import { open } from '../../src/open.ts'

const [url, count] = process.argv.slice(2)
const before = resources()
let done = 0
const noop = defineJob({
  type: 'noop',
  run: async (input: { n: number }, ctx) => {
    // Some of everything that could be forgotten: listeners, counters, steps, retries.
    if (input.n % 10 === 0) ctx.signal.addEventListener('abort', () => {})
    if (input.n % 20 === 0) ctx.count('twentieth')
    if (input.n % 50 === 0) await ctx.step('step', () => input.n)
    done += 1
    return input.n % 3 === 0 ? { n: input.n } : undefined
  },
})

const pawl = await open(url, { migrate: true, log: 'silent' })
const worker = pawl.work([noop], { concurrency: 32 })
await drain(2_000)
const baseline = heap()
await drain(Number(count))
const after = heap()
const { held, running } = worker
await worker.stop()
await pawl.close()
await turn()
process.stdout.write(JSON.stringify({ done, held, running, grownBytes: after - baseline, before, left: resources() }))

async function drain(jobs: number): Promise<void> {
  const until = done + jobs
  for (let i = 0; i < jobs; i += 1_000) {
    await pawl.enqueueMany(
      noop,
      Array.from({ length: Math.min(1_000, jobs - i) }, (_, n) => ({ n })),
    )
  }
  while (done < until || worker.held > 0) await turn()
}

function heap(): number {
  for (let i = 0; i < 4; i += 1) globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

function resources(): Readonly<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const name of process.getActiveResourcesInfo()) found[name] = (found[name] ?? 0) + 1
  for (const name of process.eventNames()) found[`listener ${String(name)}`] = process.listenerCount(name)
  return found
}

function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5))
}
