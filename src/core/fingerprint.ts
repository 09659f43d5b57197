/**
 * Errors that are the same but for what is different in each: numbers, ids and addresses. Dead letters are grouped by reason and
 * fingerprint, so that a thousand of them are read as the three defects they are.
 */
import { digest } from './hash.ts'
import type { DeadLetterReason, Failure, Job, JobId, Time } from './job.ts'

/** In this order: what a later one would take apart, an earlier one has taken whole. Each is linear in the text. */
const DIFFERENT: readonly (readonly [RegExp, string])[] = [
  [/\b[a-z][a-z0-9+.-]{1,15}:\/\/[^\s"'<>()[\]{}]+/gi, '<url>'],
  [/[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+/g, '<email>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<id>'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b/g, '<address>'],
  [/(?<![\w:])(?:[0-9a-f]{1,4}:){2,7}(?::?[0-9a-f]{1,4}){1,7}(?![\w:])/gi, '<address>'],
  [/(?<![\w/])(?:\/[\w.@+-]+){2,}(?::\d+)*/g, '<path>'],
  [/\b[a-z]:\\[^\s"'<>|]+/gi, '<path>'],
  [/\b0x[0-9a-f]+\b/gi, '<n>'],
  // Names with a number in them that are not words: pj_3f9, sha256 sums, session tokens.
  [/\b(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{8,}\b/gi, '<id>'],
  [/\b[a-z]{1,8}_[0-9a-z]*\d[0-9a-z]*\b/gi, '<id>'],
  [/\d+(?:[.,]\d+)*/g, '<n>'],
  [/\s+/g, ' '],
]

/** The message of an error without what is different in each. Only its first line: what follows is where, not what. */
export function normalised(message: string): string {
  const line = message.trim().split('\n', 1).join('')
  return DIFFERENT.reduce((text, [pattern, name]) => text.replace(pattern, name), line).trim()
}

/** The same for errors of one code that say the same. */
export const fingerprintOf = ({ code, stage, message }: Pick<Failure, 'code' | 'stage' | 'message'>): string =>
  digest(`${code}\n${stage}\n${normalised(message)}`)

/** Dead letters with one reason and one fingerprint. */
export interface LetterGroup {
  readonly reason: DeadLetterReason
  readonly fingerprint: string
  readonly code: string
  /** What all of them say. */
  readonly message: string
  readonly count: number
  readonly firstAt: Time
  readonly lastAt: Time
  /** The newest of them: one to look at. */
  readonly example: JobId
}

/** Groups, the largest first. What is no dead letter is in none. */
export function letterGroups(jobs: Iterable<Job>): readonly LetterGroup[] {
  const groups = new Map<string, LetterGroup>()
  for (const job of jobs) {
    if (job.state !== 'dead_lettered') continue
    const { id, endedAt, deadLetter, error } = job
    const fingerprint = fingerprintOf(error)
    const key = `${deadLetter.reason} ${fingerprint}`
    const known = groups.get(key)
    groups.set(
      key,
      known === undefined ? first(job.deadLetter.reason, fingerprint, error, id, endedAt) : more(known, id, endedAt),
    )
  }
  return [...groups.values()].sort((a, b) => b.count - a.count || b.lastAt - a.lastAt)
}

const first = (
  reason: DeadLetterReason,
  fingerprint: string,
  { code, message }: Failure,
  example: JobId,
  at: Time,
): LetterGroup => ({
  reason,
  fingerprint,
  code,
  message: normalised(message),
  count: 1,
  firstAt: at,
  lastAt: at,
  example,
})

const more = (group: LetterGroup, id: JobId, at: Time): LetterGroup => ({
  ...group,
  count: group.count + 1,
  firstAt: Math.min(group.firstAt, at),
  lastAt: Math.max(group.lastAt, at),
  example: at >= group.lastAt ? id : group.example,
})
