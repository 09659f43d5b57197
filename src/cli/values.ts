/** What may stand where a verb wants a value, known by the name it has there: `<states>`, `<queue>`, `<id>`. */
import { EVENT_TYPES } from '../core/event.ts'
import { KEY_STATES } from '../core/flow/key.ts'
import { DEAD_LETTER_REASONS, PRIORITIES, STATES } from '../core/job.ts'
import { DIALECT_NAMES } from '../core/policy.ts'
import { CATCH_UPS } from '../core/schedule.ts'
import { FIELD_NAMES, PREFIXES, valuesOf } from '../core/search.ts'
import { SCOPES } from '../gateway/contract/token-schema.ts'
import type { Pawl } from '../library/pawl.ts'
import { queueCounts } from './commands/queues.ts'
import { type Session, withExisting } from './session.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const

interface Known {
  /** Several, with commas between them. */
  readonly list?: boolean
  readonly of: readonly string[] | ((session: Session, typed: string) => Promise<readonly string[]>)
}

const RECENT = 50

/** Whoever presses a key does not wait for a gateway to come back. */
const asking = <T>(session: Session, work: (pawl: Pawl) => Promise<T>): Promise<T> =>
  withExisting(session, work, { timers: { ...session.timers, sleep: async () => {} } })

const queues = (session: Session) =>
  asking(session, async (pawl) => (await queueCounts(session, pawl)).map(({ queue }) => queue))

const recent = (session: Session) =>
  asking(session, async (pawl) => (await pawl.find({ tenant: session.tenant, limit: RECENT })).jobs)

const ids = async (session: Session) => (await recent(session)).map(({ id }) => id)
const types = async (session: Session) => (await recent(session)).map(({ spec }) => spec.kind.type)

const scheduled = (session: Session) =>
  asking(session, async (pawl) => (await pawl.schedules.list()).map(({ name }) => name))

const limitKeys = (session: Session) =>
  asking(session, async (pawl) => (await pawl.limits.list()).limits.map(({ key }) => key))

const policies = (session: Session) =>
  asking(session, async (pawl) => (await pawl.policies.list()).map(({ name }) => name))

/** A term of a search: a field, then what may follow it, those that the store knows by asking it. */
async function terms(session: Session, typed: string): Promise<readonly string[]> {
  const [, field, rest = ''] = /^(?:([a-z]+):)?(.*)$/s.exec(typed) ?? []
  if (field === undefined) return [...FIELD_NAMES.map((name) => `${name}:`), ...PREFIXED]
  const values = (await IN_STORE[field]?.(session)) ?? valuesOf(field)
  // Behind a comma the others stay as they are.
  return rest.includes(',') ? values : values.map((value) => `${field}:${value}`)
}

const PREFIXED = Object.keys(PREFIXES).map((name) => `${name}.`)

const IN_STORE: Readonly<Record<string, (session: Session) => Promise<readonly string[]>>> = {
  queue: queues,
  type: types,
  key: limitKeys,
}

const KNOWN: Readonly<Record<string, Known>> = {
  states: { list: true, of: STATES },
  events: { list: true, of: EVENT_TYPES },
  dialect: { of: DIALECT_NAMES },
  scope: { of: SCOPES },
  reason: { of: DEAD_LETTER_REASONS },
  priority: { of: Object.keys(PRIORITIES) },
  shell: { of: SHELLS },
  queue: { of: queues },
  queues: { list: true, of: queues },
  schedule: { of: scheduled },
  limit: { of: limitKeys },
  'key-states': { list: true, of: KEY_STATES },
  policy: { of: CATCH_UPS },
  'policy-name': { of: policies },
  type: { of: types },
  types: { list: true, of: types },
  id: { of: ids },
  ids: { of: ids },
  query: { list: true, of: terms },
  'id-or-code': { of: ids },
}

/** Those that go on from what has been typed; none where nothing is known, or nobody answers. */
export async function valuesFor(session: Session, name: string, typed: string): Promise<readonly string[]> {
  const known = KNOWN[name]
  if (known === undefined) return []
  const all = typeof known.of === 'function' ? await known.of(session, typed).catch(() => []) : known.of
  const before = known.list === true ? typed.slice(0, typed.lastIndexOf(',') + 1) : ''
  return [...new Set(all)]
    .filter((value) => HARMLESS.test(value))
    .map((value) => before + value)
    .filter((value) => value.startsWith(typed))
}

/** Whoever enqueues names queues, types and ids; what a shell would take for more than a word is not put on a line for it. */
const HARMLESS = /^[\p{L}\p{N}_.:@/+-]+$/u
