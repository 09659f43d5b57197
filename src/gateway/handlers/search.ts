/** `GET /jobs?q=`: a search as a question to the store, and what of it only the jobs' inputs can answer. */
import { STATES } from '../../core/job.ts'
import type { Engine } from '../../engine/engine.ts'
import type { JobQuery } from '../../store/store.ts'
import type { Call } from '../call.ts'
import { FIELDS, type FieldName, matches, parseSearch, type Term, timesIn } from '../contract/search.ts'
import { isMasked } from '../masking.ts'
import { Objected, objection } from '../problem.ts'

/** What an input must have: a path, and how the value there looks. */
export interface InputTerm {
  readonly path: readonly string[]
  readonly pattern: string
}

export interface Narrowed {
  readonly query: Partial<JobQuery>
  /** The one that is named, whatever else is asked. */
  readonly id: string | undefined
  readonly input: readonly InputTerm[]
  /** Nothing can match: a name that there is none of. */
  readonly nothing: boolean
}

export async function narrowedBy(text: string, call: Call, engine: Engine): Promise<Narrowed> {
  const search = parseSearch(text)
  if (!search.ok) {
    const { term, message, instead } = search
    const hint = instead === undefined ? '' : ` Did you mean ${instead}?`
    throw new Objected(objection('MALFORMED', `${message}${hint}`, [{ field: 'query.q', rule: `cannot have ${term}` }]))
  }
  const { terms } = search
  const input = terms.filter(({ field }) => field.startsWith('input.'))
  if (input.length > 0 && isMasked(call))
    throw new Objected(objection('FORBIDDEN', 'A viewer does not see inputs, and cannot search them.'))
  const names = await namesIn(terms, call, engine)
  const labels = Object.fromEntries(
    terms
      .filter(({ field }) => field.startsWith('label.'))
      .map(({ field, values }) => [field.slice(6), values[0] ?? '']),
  )
  const times = timesIn(valueIn(terms, 'created') ?? '', engine.now())
  return {
    id: valueIn(terms, 'id'),
    input: input.map(({ field, values }) => ({ path: field.split('.').slice(1), pattern: values[0] ?? '' })),
    nothing: names.nothing || isContradiction(terms),
    query: {
      ...names.query,
      labels: Object.keys(labels).length === 0 ? undefined : labels,
      correlationId: valueIn(terms, 'correlation'),
      parentId: valueIn(terms, 'parent') as JobQuery['parentId'],
      workflowId: valueIn(terms, 'workflow'),
      dedupeKey: valueIn(terms, 'dedupe'),
      code: valueIn(terms, 'code'),
      createdFrom: times?.from,
      createdTo: times?.to,
    },
  }
}

const valueIn = (terms: readonly Term[], name: string): string | undefined =>
  terms.find(({ field }) => field === name)?.values[0]

/** What can be one thing only cannot be two: both must hold. */
const isContradiction = (terms: readonly Term[]): boolean =>
  terms.some(({ field, values }) => {
    const first = valueIn(terms, field)
    return isSingle(field) && values[0] !== first
  })

const isSingle = (field: string): boolean =>
  !field.startsWith('input.') && !(Object.hasOwn(FIELDS, field) && FIELDS[field as FieldName].many)

/** States, queues and types, by the names there are: of queues and types the tally knows all. */
async function namesIn(terms: readonly Term[], { token }: Call, engine: Engine) {
  const asked = (name: string) => terms.filter(({ field }) => field === name)
  const open = (name: string) => asked(name).some(({ not, values }) => not || values.some((each) => each.includes('*')))
  const tally = open('queue') || open('type') ? (await engine.events({ by: 'tally', tenant: token.tenant })).tally : []
  const states = chosen(asked('state'), STATES)
  const queues = open('queue') ? chosen(asked('queue'), unique(tally.map(({ queue }) => queue))) : plain(asked('queue'))
  const types = open('type') ? chosen(asked('type'), unique(tally.map(({ jobType }) => jobType))) : plain(asked('type'))
  const nothing = [states, queues, types].some((names) => names?.length === 0)
  return { query: { states, queues, types }, nothing }
}

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)]

/** Undefined where nothing is asked. */
function chosen<T extends string>(terms: readonly Term[], among: readonly T[]): readonly T[] | undefined {
  if (terms.length === 0) return undefined
  return among.filter((name) =>
    terms.every(({ values, not }) => values.some((pattern) => matches(pattern, name)) !== not),
  )
}

function plain(terms: readonly Term[]): readonly string[] | undefined {
  if (terms.length === 0) return undefined
  const [first, ...rest] = terms.map(({ values }) => values)
  return (first ?? []).filter((name) => rest.every((names) => names.includes(name)))
}
