/** Why something cannot be written down: a field, and what it breaks. */
export class Unstorable extends Error {
  readonly field: string
  readonly rule: string

  constructor(field: string, rule: string) {
    super(`${field}: ${rule}`)
    this.field = field
    this.rule = rule
  }
}

export interface Rejected {
  readonly status: 'rejected'
  readonly field: string
  readonly rule: string
}

/** An item that cannot be written down is rejected alone, whatever the reason: its neighbours are. */
export function rejected(error: unknown): Rejected {
  if (error instanceof Unstorable) return { status: 'rejected', field: error.field, rule: error.rule }
  if (!(error instanceof Error)) throw error
  return { status: 'rejected', field: 'job', rule: error.message }
}
