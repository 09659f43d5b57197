import { reasonOf } from '../core/reason.ts'

/** What fails again and again for the same reason is told once; again when it fails for another, or after it went well. */
export class Complaint {
  #last: string | undefined

  about(error: unknown, tell: (reason: string) => void): void {
    const reason = reasonOf(error)
    if (reason !== this.#last) tell(reason)
    this.#last = reason
  }

  over(): void {
    this.#last = undefined
  }
}
