import { emitWarning } from 'node:process'
import { reasonOf } from '../core/reason.ts'
import { isolated } from './isolated.ts'

/** One structured line per thing worth knowing. Where it goes is the caller's business. */
export interface Log {
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

/** snake_case names, small values: `job_id`, `from`, `to`, `reason`, `attempt`. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>

export type LogLevel = keyof Log

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} }

const harmlessLogs = new WeakSet<Log>([silentLog])

/**
 * The same log for whoever must not be harmed by it: where it throws a line is lost, and nothing else. The process is
 * warned the first time, since nobody else can be.
 */
export function harmless(log: Log): Log {
  if (harmlessLogs.has(log)) return log
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
  harmlessLogs.add(safe)
  return safe
}

/**
 * JSON lines. Whatever a field holds, a line stays one line: JSON escapes newlines and control characters, and the
 * two separators that some readers take for line ends (U+2028, U+2029) are escaped here besides.
 */
export function linesTo(write: (line: string) => void, now: () => number): Log {
  const at = (level: LogLevel) => (message: string, fields?: LogFields) => write(logLine(level, message, fields, now()))
  return { info: at('info'), warn: at('warn'), error: at('error') }
}

export function logLine(level: LogLevel, message: string, fields: LogFields | undefined, now: number): string {
  // The three own words come last: a field cannot pretend to be them.
  const entry = { ...fields, level, at: new Date(now).toISOString(), message }
  return `${JSON.stringify(entry).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`
}
