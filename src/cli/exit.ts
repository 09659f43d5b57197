/** Exit codes are part of the contract: scripts branch on them. */
import { CommanderError } from 'commander'
import { GatewayRefused } from '../client/client.ts'
import { GatewayUnavailable } from '../client/http.ts'
import type { Refusal } from '../core/refusal.ts'
import { Invalid, JobEndedBadly, Refused, WaitTimedOut } from '../errors.ts'

export const EXIT = { ok: 0, failure: 1, usage: 2, notFound: 3, refused: 4, jobFailed: 5 } as const

/** Something the user got wrong, said plainly. */
export class Usage extends Error {
  override readonly name = 'Usage'
}

export interface Failure {
  readonly code: number
  readonly text: string
  readonly next: string | undefined
  readonly refusal: Refusal | undefined
}

export function failureOf(error: unknown): Failure {
  if (error instanceof CommanderError) return plain(error.exitCode === 0 ? EXIT.ok : EXIT.usage, '')
  if (error instanceof Usage || error instanceof Invalid) return plain(EXIT.usage, error.message)
  if (error instanceof Refused || error instanceof GatewayRefused) return refused(error.refusal)
  if (error instanceof JobEndedBadly) return plain(EXIT.jobFailed, error.message)
  if (error instanceof WaitTimedOut || error instanceof GatewayUnavailable) return plain(EXIT.failure, error.message)
  return plain(EXIT.failure, error instanceof Error ? error.message : String(error))
}

const plain = (code: number, text: string): Failure => ({ code, text, next: undefined, refusal: undefined })

const refused = (refusal: Refusal): Failure => ({
  code: refusal.code === 'NOT_FOUND' ? EXIT.notFound : refusal.code === 'INVALID' ? EXIT.usage : EXIT.refused,
  text: `${refusal.code}: ${refusal.message}`,
  next: refusal.next,
  refusal,
})
