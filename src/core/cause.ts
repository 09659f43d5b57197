/**
 * What jobs that ended in an error have in common: the code, why they were put aside, and the message without what differs
 * from job to job. Jobs that differ only there share a cause.
 */
import { digest } from './hash.ts'
import type { Failure, Job } from './job.ts'

export interface Cause {
  /** Short, the same for the same cause everywhere and always. */
  readonly fingerprint: string
  readonly code: string
  /** Of a dead letter; absent of jobs that only failed. */
  readonly reason: string | undefined
  /** `#` stands for numbers, ids and addresses. */
  readonly message: string
}

/** Letters of a message that tell causes apart: what comes later is detail. */
const TOLD_APART = 200

/** Undefined where there was no error. */
export function causeOf({ error, deadLetter }: Job): Cause | undefined {
  if (error === undefined) return undefined
  const message = skeleton(error)
  const reason = deadLetter?.reason
  const fingerprint = digest(JSON.stringify([error.code, reason, message]))
  return { fingerprint, code: error.code, reason, message }
}

/** In the order in which they are looked for: an address has numbers in it, and an id may be nothing but digits. */
const DIFFERS = [
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s'"<>)]+/gi,
  /\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g,
  /(['"“‘`])[^'"“”‘’`\n]{1,200}['"”’`]/g,
  /\b\d+(?:[.,]\d+)+\b/g,
  /\b(?=[\w-]*\d)[\w-]{2,}\b/g,
  /\d+/g,
] as const

const skeleton = ({ message }: Failure): string => {
  const [line = ''] = message.split('\n')
  return DIFFERS.reduce((text, pattern) => text.replace(pattern, '#'), line.slice(0, TOLD_APART)).trim()
}
