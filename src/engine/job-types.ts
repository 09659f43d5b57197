/**
 * Job types that workers have announced: where a producer that knows only a name learns the queue and the policy. A
 * cache; the documents are in the store, and a job carries its policy with it whatever is announced later.
 */
import type { Kind, Time } from '../core/job.ts'
import type { Policy } from '../core/policy.ts'
import type { Engine } from './engine.ts'

/** How long a producer goes by what it has read. */
const FRESH_MS = 60_000
/** What nobody has announced is not asked for again at once: a batch may name it a thousand times. */
const UNKNOWN_MS = 100
/** The one asked for longest ago goes first. */
const KNOWN_MOST = 10_000

export class JobTypes {
  readonly #engine: Pick<Engine, 'settings' | 'now'>
  readonly #freshMs: number
  readonly #known = new Map<string, { readonly kind: Kind; readonly text: string; readonly readAt: Time }>()
  readonly #unknown = new Map<string, Time>()

  constructor(engine: Pick<Engine, 'settings' | 'now'>, freshMs = FRESH_MS) {
    this.#engine = engine
    this.#freshMs = freshMs
  }

  /** Said by a worker when it starts: this is how jobs of this type are to be judged. */
  async announce(kinds: readonly Kind[]): Promise<void> {
    for (const { tenant, type, queue, policy } of kinds) {
      const key = keyOf(tenant, type)
      const text = JSON.stringify({ queue, policy })
      const [there] = await this.#engine.settings([{ op: 'get', collection: 'type', key }])
      if (there?.settings[0]?.text === text) continue
      await this.#engine.settings([{ op: 'put', collection: 'type', key, text, rev: undefined }])
    }
  }

  /** Undefined where no worker has announced the type yet. */
  async kind(tenant: string, type: string): Promise<Kind | undefined> {
    const key = keyOf(tenant, type)
    const known = this.#known.get(key)
    const readAt = this.#engine.now()
    if (known !== undefined && readAt - known.readAt < this.#freshMs) return known.kind
    if (readAt - (this.#unknown.get(key) ?? Number.NEGATIVE_INFINITY) < UNKNOWN_MS) return undefined
    const [answer] = await this.#engine.settings([{ op: 'get', collection: 'type', key }])
    const text = answer?.settings[0]?.text
    if (text === undefined) {
      if (this.#unknown.size >= KNOWN_MOST) this.#unknown.clear()
      this.#unknown.set(key, readAt)
      return undefined
    }
    this.#unknown.delete(key)
    // The same words are the same object: stores recognise a kind by it.
    const kind = known?.text === text ? known.kind : kindFrom(tenant, type, text)
    this.#known.delete(key)
    this.#known.set(key, { kind, text, readAt })
    if (this.#known.size > KNOWN_MOST) this.#known.delete(this.#known.keys().next().value as string)
    return kind
  }
}

const keyOf = (tenant: string, type: string): string => JSON.stringify([tenant, type])

/** `undefined` does not survive JSON: what is absent is put back. */
function kindFrom(tenant: string, type: string, text: string): Kind {
  const { queue, policy } = JSON.parse(text) as { readonly queue: string; readonly policy: Policy }
  const { dialect, deadlineMs, startWithinMs } = policy
  return { tenant, queue, type, policy: { ...policy, dialect, deadlineMs, startWithinMs } }
}
