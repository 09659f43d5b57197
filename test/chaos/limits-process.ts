/** A worker for jobs that share keys: `node limits-process.ts <url> <options as JSON>`. */
import { open } from '../../src/open.ts'
import type { WorkerOptions } from '../../src/worker/worker.ts'
import { say } from './jobs.ts'
import { frugal, narrow, paced } from './limits-jobs.ts'

const [url, options = '{}'] = process.argv.slice(2)
const pawl = await open(url, { log: 'silent' })
pawl.work([paced, narrow, frugal], JSON.parse(options) as WorkerOptions)
say({ what: 'ready', pid: process.pid })
