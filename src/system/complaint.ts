import { reasonOf } from '../core/reason.ts'

/** What fails again and again for the same reason is told once; again when it fails for another, or after it went well. */
export class Complaint {
  #told: string | undefined

  about(error: unknown, tell: (reason: string) => void): void {
    const reason = reasonOf(error)
    if (reason !== this.#told) tell(reason)
    this.#told = reason
  }

  over(): void {
    this.#told = undefined
  }
}
