/**
 * Job types that workers have announced: where a producer that knows only a name learns the queue and the policy. A
 * cache; the documents are in the store, and a job carries its policy with it whatever is announced later.
 */
import type { Kind, Time } from './core/job.ts'
import type { Policy } from './core/policy.ts'
import type { Engine } from './engine/engine.ts'
import { Invalid } from './errors.ts'

/** How long a producer goes by what it has read. */
const FRESH_MS = 60_000

export class JobTypes {
  readonly #engine: Engine
  readonly #known = new Map<string, { readonly kind: Kind; readonly text: string; readonly readAt: Time }>()

  constructor(engine: Engine) {
    this.#engine = engine
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

  async kind(tenant: string, type: string): Promise<Kind> {
    const key = keyOf(tenant, type)
    const known = this.#known.get(key)
    const readAt = this.#engine.now()
    if (known !== undefined && readAt - known.readAt < FRESH_MS) return known.kind
    const [answer] = await this.#engine.settings([{ op: 'get', collection: 'type', key }])
    const text = answer?.settings[0]?.text
    if (text === undefined) {
      const rule = `no worker has announced ${type} yet; enqueue by its spec, or name its queue`
      throw new Invalid('enqueue', [{ field: 'type', rule }])
    }
    // The same words are the same object: stores recognise a kind by it.
    const kind = known?.text === text ? known.kind : kindFrom(tenant, type, text)
    this.#known.set(key, { kind, text, readAt })
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
