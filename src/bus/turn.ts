/**
 * Whose turn it is among processes that could do the same, such as to dispatch to a pool: two at once would promise its workers' places
 * twice. Kept by the bus, since places are a thing of the bus; a turn that is not renewed ends by itself, and so do all when NATS restarts.
 * Two may take themselves for it for a moment, where one stood still: what must not happen twice is for the store to refuse.
 */
import type { PubAck } from '@nats-io/jetstream'
import type { Link } from './link.ts'
import { withStream } from './link.ts'
import { RetentionPolicy, StorageType } from './policies.ts'
import { streamsOf, turnOf } from './subjects.ts'

/** How long a turn stands, and after how long it is renewed. */
const STANDS_MS = 5_000
const RENEWED_MS = 1_000
/** How long it is for somebody else before it is asked for again. */
export const ASK_AGAIN_MS = 1_000

export class Turn {
  readonly #link: Link
  readonly #subject: string
  readonly #monotonicMs: () => number
  #sequence = 0
  #takenMs = Number.NEGATIVE_INFINITY

  constructor(link: Link, subject: string, monotonicMs: () => number) {
    this.#link = link
    this.#subject = subject
    this.#monotonicMs = monotonicMs
  }

  static async prepare(link: Link, tenant: string): Promise<void> {
    await link.demand('turns', (manager) =>
      withStream(manager, {
        name: streamsOf(tenant).turns,
        subjects: [turnOf(tenant).all],
        retention: RetentionPolicy.Limits,
        storage: StorageType.Memory,
        max_msgs_per_subject: 1,
        max_age: STANDS_MS * 1_000_000,
        // A turn is renewed under a sequence that it had: the server need not know messages by their ids.
        duplicate_window: RENEWED_MS * 1_000_000,
      }),
    )
  }

  /** Whether it is this process's for now. */
  async take(): Promise<boolean> {
    const nowMs = this.#monotonicMs()
    if (nowMs - this.#takenMs < RENEWED_MS) return true
    try {
      const { seq } = await this.#published()
      this.#sequence = seq
      this.#takenMs = nowMs
      return true
    } catch (error) {
      if (!isTaken(error)) throw error
      this.#sequence = 0
      return false
    }
  }

  #published(): Promise<PubAck> {
    return this.#link.jetstream.publish(this.#subject, '', { expect: { lastSubjectSequence: this.#sequence } })
  }
}

/** JetStream's code for a sequence that is not the last one. */
const WRONG_LAST_SEQUENCE = 10071

const isTaken = (error: unknown): boolean => (error as { readonly code?: unknown }).code === WRONG_LAST_SEQUENCE
