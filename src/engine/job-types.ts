/**
 * Job types that workers have announced: where a producer that knows only a name learns the queue and the policy. A
 * cache; the documents are in the store, and a job carries its policy with it whatever is announced later.
 */
import { synchronous } from '../core/dialects/bond.ts'
import { type DuplicatesInput, duplicates } from '../core/duplicates.ts'
import type { Kind, Time } from '../core/job.ts'
import type { Policy } from '../core/policy.ts'
import type { Violation } from '../core/refusal.ts'
import { type PolicyInput, type Resolved, resolvePolicy } from '../core/resolve.ts'
import { countOf } from './documents.ts'
import type { Engine, EnqueueRequest } from './engine.ts'

/** How long a producer relies on an announcement that it has read. */
const FRESH_MS = 60_000
/** How long it relies on having found none: a worker may be about to announce the type. */
const UNKNOWN_FRESH_MS = 500
/** The one asked for longest ago goes first. */
const KNOWN_MOST = 10_000
/** Queues other than its own that jobs of one type are put into. */
const ELSEWHERE_MOST = 100

const POLICIES_MOST = 1_000

/** What a worker says of a type that it runs. */
export interface Announcement extends Kind {
  /** What may be handed in, as JSON Schema: for forms. Nothing is judged by it. */
  readonly inputSchema?: Readonly<Record<string, unknown>> | undefined
}

/** The words of a producer that has no definition of the job. */
export interface Naming {
  readonly tenant: string
  readonly type: string
  readonly queue: string | undefined
  readonly policy: PolicyInput | undefined
  readonly dedupe?: DuplicatesInput | undefined
}

type Named = { readonly ok: true; readonly kind: Kind } | Extract<Resolved, { ok: false }>

/** The kind, with what somebody says of duplicates in place of what its policy has. */
export function withDuplicates(kind: Kind, dedupe: DuplicatesInput | undefined): Named {
  if (dedupe === undefined) return { ok: true, kind }
  const violations: Violation[] = []
  const policy = { ...kind.policy, ...duplicates(violations, { dedupe }, kind.policy) }
  return violations.length === 0 ? { ok: true, kind: { ...kind, policy } } : { ok: false, violations }
}

/** The parts of a kind that were left to the type. */
export const unsaidIn = ({ queue, policy }: Partial<Pick<Naming, 'queue' | 'policy'>>): EnqueueRequest['unsaid'] => {
  if (queue !== undefined) return policy === undefined ? POLICY : undefined
  return policy === undefined ? BOTH : QUEUE
}

const POLICY = ['policy'] as const
const QUEUE = ['queue'] as const
const BOTH = ['queue', 'policy'] as const

interface Known {
  readonly text: string | undefined
  readonly kind: Kind | undefined
  readonly elsewhere: Map<string, Kind>
  readonly readAt: Time
}

export class JobTypes {
  readonly #engine: Pick<Engine, 'settings' | 'now'>
  readonly #freshMs: number
  readonly #known = new Map<string, Known>()
  readonly #policies = new Map<string, Resolved>()
  readonly #synchronous = new WeakMap<Kind, Kind>()

  constructor(engine: Pick<Engine, 'settings' | 'now'>, freshMs = FRESH_MS) {
    this.#engine = engine
    this.#freshMs = freshMs
  }

  /** Said by a worker when it starts: this is how jobs of these types are to be judged. All of them in two calls, however many. */
  async announce(announcements: readonly Announcement[]): Promise<void> {
    const documents = announcements.map(({ tenant, type, queue, policy, inputSchema }) => ({
      key: keyOf(tenant, type),
      text: JSON.stringify({ queue, policy, inputSchema }),
    }))
    const get = ({ key }: { readonly key: string }) => ({ op: 'get', collection: 'type', key }) as const
    const there = await this.#engine.settings(documents.map(get))
    const changed = documents.filter(({ text }, i) => there[i]?.settings[0]?.text !== text)
    if (changed.length === 0) return
    const put = (document: { readonly key: string; readonly text: string }) =>
      ({ op: 'put', collection: 'type', ...document, rev: undefined }) as const
    await this.#engine.settings(changed.map(put))
    for (const { key } of changed) this.#known.delete(key)
  }

  /** Counts announced types, up to `most`. */
  count(tenant: string, most: number): Promise<number> {
    return countOf(this.#engine, 'type', tenant, most)
  }

  /**
   * What a producer's words about a type come to: what it says itself, else what was announced, else the defaults. A policy
   * it gives is the whole policy; a queue it gives changes nothing but the queue, and so does what it says of duplicates. Undefined where nobody says which queue.
   */
  async named({ dedupe, ...naming }: Naming): Promise<Named | undefined> {
    const named = await this.#named(naming)
    return named?.ok === true ? withDuplicates(named.kind, dedupe) : named
  }

  async #named({ tenant, type, queue, policy }: Naming): Promise<Named | undefined> {
    // A producer that gives queue and policy needs no announcement.
    const announced = queue === undefined || policy === undefined ? await this.kind(tenant, type, queue) : undefined
    if (policy === undefined && announced !== undefined) return { ok: true, kind: announced }
    const where = queue ?? announced?.queue
    if (where === undefined) return undefined
    const resolved = this.#policy(policy ?? {})
    if (!resolved.ok) return resolved
    return { ok: true, kind: { tenant, queue: where, type, policy: resolved.policy } }
  }

  /** The kind of a job whose submitter waits for it. The same object each time, since stores recognise a kind by its object. */
  synchronous(kind: Kind): Kind {
    const known = this.#synchronous.get(kind)
    if (known !== undefined) return known
    const policy = synchronous(kind.policy)
    const made = policy === kind.policy ? kind : { ...kind, policy }
    this.#synchronous.set(kind, made)
    return made
  }

  /** The announced kind of a type, in its own queue or in the one asked for. Undefined where no worker has announced the type. */
  async kind(tenant: string, type: string, queue?: string): Promise<Kind | undefined> {
    const { kind, elsewhere } = await this.#lookUp(tenant, type)
    if (kind === undefined || queue === undefined || queue === kind.queue) return kind
    const known = elsewhere.get(queue)
    if (known !== undefined) return known
    const other = { ...kind, queue }
    if (elsewhere.size < ELSEWHERE_MOST) elsewhere.set(queue, other)
    return other
  }

  /** The announced schema of a type's input; undefined where its worker could not tell any. */
  async inputSchema(tenant: string, type: string): Promise<Announcement['inputSchema']> {
    const { text } = await this.#lookUp(tenant, type)
    return text === undefined ? undefined : (JSON.parse(text) as Announcement).inputSchema
  }

  async #lookUp(tenant: string, type: string): Promise<Known> {
    const key = keyOf(tenant, type)
    const known = this.#known.get(key)
    const readAt = this.#engine.now()
    if (known !== undefined && readAt - known.readAt < this.#staysFreshMs(known)) return known
    const [answer] = await this.#engine.settings([{ op: 'get', collection: 'type', key }])
    const text = answer?.settings[0]?.text
    // An unchanged announcement stays the same object: stores recognise a kind by it.
    const same = known !== undefined && known.text === text
    const kind = text === undefined ? undefined : kindFrom(tenant, type, text)
    const read: Known = same ? { ...known, readAt } : { text, kind, elsewhere: new Map(), readAt }
    this.#known.delete(key)
    this.#known.set(key, read)
    if (this.#known.size > KNOWN_MOST) this.#known.delete(this.#known.keys().next().value as string)
    return read
  }

  /** Policies repeat from call to call: resolved once, shared by reference. */
  #policy(asked: PolicyInput): Resolved {
    const name = JSON.stringify(asked)
    const resolved = this.#policies.get(name) ?? resolvePolicy(asked)
    if (resolved.ok && this.#policies.size < POLICIES_MOST) this.#policies.set(name, resolved)
    return resolved
  }

  #staysFreshMs({ kind }: Known): number {
    return kind === undefined ? Math.min(UNKNOWN_FRESH_MS, this.#freshMs) : this.#freshMs
  }
}

const keyOf = (tenant: string, type: string): string => JSON.stringify([tenant, type])

/** `undefined` does not survive JSON: what is absent is put back. */
function kindFrom(tenant: string, type: string, text: string): Kind {
  const { queue, policy } = JSON.parse(text) as { readonly queue: string; readonly policy: Policy }
  const { dialect, deadlineMs, startWithinMs, onDuplicate } = policy
  return { tenant, queue, type, policy: { ...policy, dialect, deadlineMs, startWithinMs, onDuplicate } }
}
