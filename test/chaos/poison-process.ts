/** A worker for jobs that take their process along: `node poison-process.ts <url> <options as JSON>`. */
import { open } from '../../src/open.ts'
import type { WorkerOptions } from '../../src/worker/worker.ts'
import { say } from './jobs.ts'
import { importedInnocent, importedPoison, innocent, poison } from './poison-jobs.ts'

const [url, options = '{}'] = process.argv.slice(2)
const pawl = await open(url, { log: 'silent' })
pawl.work([poison, innocent, importedPoison, importedInnocent], JSON.parse(options) as WorkerOptions)
say({ what: 'ready', pid: process.pid })
