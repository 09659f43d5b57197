import { stderr } from 'node:process'
import { realClock } from './clock.ts'
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
export const stderrLog: Log = {
  ...linesTo(
    (line) => void stderr.write(line),
    () => realClock.now(),
  ),
  info: () => {},
}

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} }

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
