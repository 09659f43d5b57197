/**
 * Hints, which scripts publish with what they are about. A process listens by a connection of its own, and only while somebody
 * listens to it.
 */
import type { Hint } from '../../store.ts'
import type { Link } from '../connection/link.ts'
import { idOf } from '../job/id-text.ts'

interface HintsParts {
  readonly connect: () => Promise<Link>
  readonly channel: string
}

export class Hints {
  readonly #parts: HintsParts
  readonly #listeners = new Set<(hint: Hint) => void>()
  /** Present exactly while there are listeners. */
  #ear: Promise<Link> | undefined

  constructor(parts: HintsParts) {
    this.#parts = parts
  }

  async subscribe(wake: (hint: Hint) => void): Promise<AsyncDisposable> {
    // Wrapped, so that the same function subscribed twice is two subscriptions.
    const listener = (hint: Hint) => wake(hint)
    this.#listeners.add(listener)
    this.#ear ??= this.#listen()
    try {
      await this.#ear
    } catch (error) {
      this.#listeners.delete(listener)
      this.#ear = undefined
      throw error
    }
    return {
      [Symbol.asyncDispose]: async () => {
        this.#listeners.delete(listener)
        if (this.#listeners.size === 0) await this.#stop()
      },
    }
  }

  async close(): Promise<void> {
    this.#listeners.clear()
    await this.#stop()
  }

  async #stop(): Promise<void> {
    const ear = this.#ear
    this.#ear = undefined
    const link = await ear?.catch(() => undefined)
    await link?.close()
  }

  async #listen(): Promise<Link> {
    const link = await this.#parts.connect()
    try {
      await link.listen(
        this.#parts.channel,
        (message) => this.#heard(message),
        () => this.#tell(ANYTHING),
      )
    } catch (error) {
      await link.close()
      throw error
    }
    return link
  }

  #heard(message: string): void {
    for (const hint of hintsIn(message)) this.#tell(hint)
  }

  #tell(hint: Hint): void {
    for (const listener of [...this.#listeners]) if (this.#listeners.has(listener)) listener(hint)
  }
}

const ANYTHING: Hint = { about: 'anything' }

/** A line each: `queue`, its key and a need; `job`, its queue's key and ids; `anything`. */
export function* hintsIn(message: string): Generator<Hint> {
  for (const line of message.split('\n')) {
    const [about, key = '[]', more = ''] = line.split('\t')
    if (about === 'anything') {
      yield ANYTHING
      continue
    }
    const [tenant, queue] = JSON.parse(key) as readonly [string, string]
    if (about === 'queue')
      yield { about: 'queue', tenant, queue, needs: more === '' ? undefined : (JSON.parse(more) as string) }
    else for (const id of more.split(',')) yield { about: 'job', id: idOf(id), tenant, queue }
  }
}
