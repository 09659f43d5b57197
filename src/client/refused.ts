/** A gateway's no, as the refusal it was on the other side. */

import type { Refusal } from '../core/refusal.ts'
import { refuse } from '../core/refuse.ts'
import { fromWire, type Wire } from '../gateway/contract/wire.ts'

/** Something the whole request was refused for. */
export class GatewayRefused extends Error {
  override readonly name = 'GatewayRefused'
  readonly refusal: Refusal
  readonly status: number

  constructor(status: number, refusal: Refusal) {
    super(refusal.message)
    this.status = status
    this.refusal = refusal
  }
}

/** The problem of an answer, as the refusal it was. */
export function refusalOf(problem: Wire): Refusal {
  const told = fromWire(problem) as Wire
  const code = told['code'] as Refusal['code']
  const plain = refuse('INVALID', { message: String(told['detail'] ?? 'refused') })
  return {
    ...plain,
    code,
    next: String(told['next'] ?? plain.next),
    job: told['jobId'] as string | undefined,
    state: told['state'] as Refusal['state'],
    command: told['command'] as Refusal['command'],
    rev: told['rev'] as number | undefined,
    owner: told['owner'] as string | undefined,
    leaseExpiresAt: told['leaseExpiresAt'] as number | undefined,
    holder: told['holder'] as string | undefined,
    violations: (told['violations'] as Refusal['violations'] | undefined) ?? [],
  }
}
