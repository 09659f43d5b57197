#!/usr/bin/env node
/** The `pawl` command: real streams, real signals, and an exit code. */
import * as modules from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { nodeTooOld } from '../system/node-version.ts'

// An older Node gets this far and no further: everything else is imported below, and it could not read that.
const tooOld = nodeTooOld(process.versions.node, import.meta.url.endsWith('.ts'))
if (tooOld !== undefined) {
  process.stderr.write(
    `pawl: ${tooOld}\n  next   Install it from https://nodejs.org, and see which one is used: node --version\n`,
  )
  process.exit(1)
}

// Starting takes a third of the time with it. In a folder of the user's own: what is cached there is run.
modules.enableCompileCache(join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'pawl'))
const { withoutPretenuring } = await import('../system/pretenuring.ts')
withoutPretenuring()
const { withoutSecrets } = await import('./exposed.ts')
// What `ps` shows, from now on.
process.title = ['pawl', ...withoutSecrets(process.argv.slice(2))].join(' ')
const { EXIT } = await import('./exit.ts')
const { run } = await import('./run.ts')

const stop = new AbortController()
let interrupted = false

const onSignal = (signal: NodeJS.Signals) => {
  // Who asks twice does not want to wait for anything.
  if (stop.signal.aborted) process.exit(EXIT.interrupted)
  interrupted = signal === 'SIGINT'
  stop.abort()
}
process.on('SIGINT', onSignal)
process.on('SIGTERM', onSignal)

// Whoever read us has seen enough (`pawl jobs ls | head`).
const onGone = (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failure)
process.stdout.on('error', onGone)
process.stderr.on('error', onGone)

const { exit, graceful } = await run(process.argv.slice(2), {
  env: process.env,
  signal: stop.signal,
  streams: {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    isTTY: process.stdout.isTTY === true,
    errIsTTY: process.stderr.isTTY === true,
    // Asked each time: a window may be drawn larger. A terminal that does not know its size says 0.
    get columns() {
      return process.stdout.columns || 80
    },
    get rows() {
      return process.stdout.rows || 24
    },
  },
})
// A command that was cut off may have left a request under way; one that ended in order has nothing left.
if (stop.signal.aborted && !graceful) process.exit(interrupted ? EXIT.interrupted : 143)
process.exitCode = exit
process.off('SIGINT', onSignal)
process.off('SIGTERM', onSignal)
