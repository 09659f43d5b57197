/** Names as segments of a path, escaped so that the gateway reads what was meant. */
import { isSegment, PLAIN_RULE, SEGMENT_RULE } from '../core/name.ts'
import { refuse } from '../core/refuse.ts'
import { GatewayRefused } from './refused.ts'

/** `pathTo('jobs', id, 'events')` is `/v1/jobs/…/events`. */
export function pathTo(...segments: readonly string[]): string {
  const bad = segments.find((segment) => !isSegment(segment))
  if (bad === undefined) return `/v1/${segments.map(encodeURIComponent).join('/')}`
  const rule = bad === '.' || bad === '..' ? SEGMENT_RULE : PLAIN_RULE
  throw new GatewayRefused(400, refuse('INVALID', { violations: [{ field: JSON.stringify(bad.slice(0, 40)), rule }] }))
}

export function queryText(
  parameters: Readonly<Record<string, unknown>>,
  repeated: Readonly<Record<string, readonly string[]>> = {},
): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, String(value))
  for (const [name, values] of Object.entries(repeated)) for (const value of values) query.append(name, value)
  return query.toString()
}
