/** The process of the demo's second worker: `PAWL_URL` and `PAWL_TOKEN` say where its gateway is. */
import process from 'node:process'
import { open } from '../../open.ts'
import { realTimers } from '../../system/timers.ts'
import { crawlSite } from './jobs.ts'

/** The gateway may be gone with whoever started this: then there is nobody to hand anything back to. */
const GIVES_UP_AFTER_MS = 2_000

// Whoever presses Ctrl-C asks the demo, which asks this one.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})

const pawl = await open(process.env['PAWL_URL'] ?? '', { token: process.env['PAWL_TOKEN'], log: 'silent' })
const worker = pawl.work([crawlSite], { concurrency: 2, drain: 0 })

process.on('disconnect', async () => {
  realTimers.after(GIVES_UP_AFTER_MS, () => process.exit())
  await worker[Symbol.asyncDispose]()
  await pawl[Symbol.asyncDispose]()
  process.exit()
})
