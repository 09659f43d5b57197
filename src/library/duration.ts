import { DURATION_RULE, parseDuration } from '../core/duration.ts'
import { Invalid } from './errors.ts'

/**
 * Text that is known only when the program runs, as the milliseconds it stands for:
 * `timeout: duration(process.env.TIMEOUT ?? '5m')`. Throws `Invalid` where it is no duration.
 */
export function duration(text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined)
    throw new Invalid(`duration ${JSON.stringify(text)}`, [{ field: 'duration', rule: DURATION_RULE }])
  return ms
}
