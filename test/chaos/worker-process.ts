/** A worker in a process of its own: `node worker-process.ts <url> <options as JSON>`. */
import { open } from '../../src/open.ts'
import type { WorkerOptions } from '../../src/worker/worker.ts'
import { JOBS, say } from './jobs.ts'

const [url, options = '{}'] = process.argv.slice(2)
const stderr = (message: string, fields = {}) => void process.stderr.write(`${message} ${JSON.stringify(fields)}\n`)
const pawl = await open(url, { log: { info: () => {}, warn: stderr, error: stderr } })
const worker = pawl.work(JOBS, JSON.parse(options) as WorkerOptions)
// The keeper needs a moment to open the store; what is promised about it holds from then on.
while (worker.keeper !== 'thread') await new Promise((resolve) => setTimeout(resolve, 5))
say({ what: 'ready', keeper: worker.keeper })
