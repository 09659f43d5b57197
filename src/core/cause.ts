/**
 * What jobs that ended in an error have in common: the code, why they were put aside, and the message without what differs
 * from job to job. Jobs that differ only there share a cause.
 */
import { digest } from './hash.ts'
import type { Job } from './job.ts'

export interface Cause {
  /** Short, the same for the same cause everywhere and always. */
  readonly fingerprint: string
  readonly code: string
  /** Of a dead letter; absent of jobs that only failed. */
  readonly reason: string | undefined
  /** `<n>`, `<id>`, `<address>` and the like stand for what differs. */
  readonly message: string
}

/** Letters of a message that tell causes apart: what comes later is detail. */
const TOLD_APART = 200

/** Undefined where there was no error. */
export function causeOf({ error, deadLetter }: Job): Cause | undefined {
  if (error === undefined) return undefined
  const message = normalised(error.message)
  const reason = deadLetter?.reason
  const fingerprint = digest(JSON.stringify([error.code, reason, message]))
  return { fingerprint, code: error.code, reason, message }
}

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
  // What is said of somebody is quoted as people quote; code quotes its own names, which tell errors apart.
  [/“[^“”]{1,200}”/g, '<text>'],
  [/\s+/g, ' '],
]

/** The message of an error without what is different in each. Only its first line: what follows is where, not what. */
export function normalised(message: string): string {
  const line = message.trim().split('\n', 1).join('').slice(0, TOLD_APART)
  return DIFFERENT.reduce((text, [pattern, name]) => text.replace(pattern, name), line).trim()
}
