import { writeSync } from 'node:fs'
import { emitWarning, stderr } from 'node:process'
import { reasonOf } from '../core/reason.ts'
import { realClock } from './clock.ts'
import { isolated } from './isolated.ts'
import { visibleJson } from './visible.ts'

/** One structured line per thing worth knowing. Where it goes is the caller's business. */
export interface Log {
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

/** snake_case names, small values: `job_id`, `from`, `to`, `reason`, `attempt`. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>

export type LogLevel = keyof Log

/** Standard error gets what somebody should look at, as JSON lines; what goes as it should is not said. */
export const stderrLog: Log = toStderr((line) => void stderr.write(line))

/** The same for a thread: what it writes to `stderr` is passed on by the event loop of its process, which may stand still. */
export const stderrLogAtOnce: Log = toStderr((line) => void writeSync(2, line))

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} }

/** What stands for each, so that a log is the same log wherever it is handed to, and complains once. */
const harmlessLogs = new WeakMap<Log, Log>([[silentLog, silentLog]])

/**
 * The same log for whoever must not be harmed by it: where it throws a line is lost, and nothing else. The process is
 * warned the first time, since nobody else can be.
 */
export function harmless(log: Log): Log {
  const known = harmlessLogs.get(log)
  if (known !== undefined) return known
  let warned = false
  const failed = (thrown: unknown): void => {
    if (warned) return
    warned = true
    emitWarning(`The log that pawl was given fails, and lines are lost: ${reasonOf(thrown)}`, 'PawlLogWarning')
  }
  const at =
    (level: LogLevel): Log[LogLevel] =>
    (message, fields) =>
      isolated(() => log[level](message, fields), failed)
  const safe: Log = { info: at('info'), warn: at('warn'), error: at('error') }
  harmlessLogs.set(log, safe)
  harmlessLogs.set(safe, safe)
  return safe
}

function toStderr(write: (line: string) => void): Log {
  return { ...linesTo(write, () => realClock.now()), info: () => {} }
}

/** JSON lines. Whatever a field holds, a line stays one line, and whoever reads it on a terminal is safe from it. */
export function linesTo(write: (line: string) => void, now: () => number): Log {
  const at = (level: LogLevel) => (message: string, fields?: LogFields) => write(logLine(level, message, fields, now()))
  return { info: at('info'), warn: at('warn'), error: at('error') }
}

export function logLine(level: LogLevel, message: string, fields: LogFields | undefined, now: number): string {
  // The three own words come last: a field cannot pretend to be them.
  const entry = { ...fields, level, at: new Date(now).toISOString(), message }
  return `${visibleJson(entry)}\n`
}
