/** A gateway's no, as the refusal it was on the other side. */
import type { Refusal, Violation } from '../core/refusal.ts'
import { refuse } from '../core/refuse.ts'
import { fromWire, type Wire } from '../gateway/contract/wire.ts'

/** Something the whole request was refused for. */
export class GatewayRefused extends Error {
  override readonly name = 'GatewayRefused'
  readonly refusal: Refusal
  readonly status: number

  constructor(status: number, refusal: Refusal) {
    super(`${refusal.code}: ${refusal.message.replace(/[^.]$/, '$&.')} ${refusal.next}`)
    this.status = status
    this.refusal = refusal
  }
}

export function checked(status: number, body: unknown): Wire {
  if (status < 400) return body as Wire
  throw new GatewayRefused(status, refusalOf(body as Wire))
}

/** A gateway says which header it wants; here that is an option. */
const OPTION: Readonly<Record<string, string>> = {
  UNAUTHENTICATED: 'Give a valid one: open(url, { token }). Where the store is at hand, pawl token create makes one.',
  FORBIDDEN: 'Give one whose scope allows it: open(url, { token }).',
}

/** The problem of an answer, as the refusal it was. */
export function refusalOf(problem: Wire): Refusal {
  const wire = fromWire(problem) as Wire
  const code = wire['code'] as Refusal['code'] | 'MALFORMED'
  const violations = (wire['violations'] as Refusal['violations'] | undefined) ?? []
  // What the gateway found wrong with the words of a command core would have found: here it is said as core says it.
  if (code === 'MALFORMED' && violations.length > 0)
    return refuse('INVALID', { violations: violations.map(asCoreSays) })
  const invalid = refuse('INVALID', { message: String(wire['detail'] ?? 'refused') })
  return {
    ...invalid,
    code: code as Refusal['code'],
    next: OPTION[String(code)] ?? String(wire['next'] ?? invalid.next),
    job: wire['jobId'] as string | undefined,
    state: wire['state'] as Refusal['state'],
    command: wire['command'] as Refusal['command'],
    rev: wire['rev'] as number | undefined,
    owner: wire['owner'] as string | undefined,
    leaseExpiresAt: wire['leaseExpiresAt'] as number | undefined,
    holder: wire['holder'] as string | undefined,
    violations,
  }
}

/** Where in the request it stood is of no interest to whoever did not write the request. */
const asCoreSays = ({ field, rule }: Violation): Violation => ({
  field: field.replace(/^body\.(?:(?:jobs|transitions)\.\d+\.)?/, ''),
  rule,
})
