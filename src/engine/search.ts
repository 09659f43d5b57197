/** A search as a question to the store, and what of it only records and inputs can answer. */
import { type Job, STATES, type Time } from '../core/job.ts'
import { type FieldName, hasNames, isSifted, matches, type Term, timesIn } from '../core/search.ts'
import { matches as answers } from '../store/matches.ts'
import type { JobQuery } from '../store/store.ts'
import type { Engine } from './engine.ts'
import { type Asked, type Sift, sifting, statesImplied } from './fitting.ts'
import type { InputTerm } from './input-terms.ts'

export interface Narrowed {
  readonly query: Partial<JobQuery>
  /** The one that is named: it must match everything else, too (`isFound`). */
  readonly id: string | undefined
  /** What stores do not look for, and a record tells; undefined where nothing of it is asked. */
  readonly sift: Sift | undefined
  readonly input: readonly InputTerm[]
  /** Nothing can match: a name that there is none of. */
  readonly nothing: boolean
}

/** `at`: the time that what is said relative to now is relative to. */
export async function narrowedBy(terms: readonly Term[], engine: Asked, tenant: string, at: Time): Promise<Narrowed> {
  const names = await namesIn(terms, engine, tenant)
  const labels = Object.fromEntries(
    terms
      .filter(({ field }) => field.startsWith('label.'))
      .map(({ field, values }) => [field.slice(6), values[0] ?? '']),
  )
  const created = termsOf(terms, 'created').flatMap(({ values }) => timesIn(values[0] ?? '', at) ?? [])
  const [from, to] = [created.map((each) => each.from ?? 0), created.map((each) => each.to ?? Number.POSITIVE_INFINITY)]
  return {
    id: valueIn(terms, 'id'),
    sift: await sifting(terms, engine, tenant, at),
    input: terms
      .filter(({ field }) => field.startsWith('input.'))
      .map(({ field, values }) => ({ path: field.split('.').slice(1), pattern: values[0] ?? '' })),
    nothing: names.nothing || isContradiction(terms) || !isOf(tenant, terms),
    query: {
      ...names.query,
      labels: Object.keys(labels).length === 0 ? undefined : labels,
      correlationId: valueIn(terms, 'correlation'),
      parentId: valueIn(terms, 'parent') as JobQuery['parentId'],
      workflowId: valueIn(terms, 'workflow'),
      dedupeKey: valueIn(terms, 'dedupe'),
      code: valueIn(terms, 'code'),
      createdFrom: created.length === 0 ? undefined : Math.max(...from),
      createdTo: created.length === 0 ? undefined : Math.min(...to),
    },
  }
}

/** Who searches sees jobs of one tenant: a search for those of another finds none. */
const isOf = (tenant: string, terms: readonly Term[]): boolean =>
  termsOf(terms, 'tenant').every(({ values, not }) => values.some((value) => matches(value, tenant)) !== not)

/** Whether a job is among those that a store would find. */
export const isFound = (job: Job, query: Partial<JobQuery>): boolean =>
  answers(job, { order: 'newest', limit: 1, ...query })

const valueIn = (terms: readonly Term[], name: string): string | undefined =>
  terms.find(({ field }) => field === name)?.values[0]

const termsOf = (terms: readonly Term[], name: FieldName): readonly Term[] =>
  terms.filter(({ field }) => field === name)

/** What can be one thing only cannot be two: both must hold. */
const isContradiction = (terms: readonly Term[]): boolean =>
  terms.some(({ field, values }) => isSingle(field) && values[0] !== valueIn(terms, field))

const isSingle = (field: string): boolean =>
  field !== 'created' && !field.startsWith('input.') && !isSifted(field) && !hasNames(field)

/** States, queues and types, by the names there are: of queues and types the tally knows all. */
async function namesIn(terms: readonly Term[], engine: Pick<Engine, 'events'>, tenant: string) {
  const open = (name: FieldName) =>
    termsOf(terms, name).some(({ not, values }) => not || values.some((each) => each.includes('*')))
  const tally = open('queue') || open('type') ? (await engine.events({ by: 'tally', tenant })).tally : []
  const implied = statesImplied(terms)
  const states = chosen(termsOf(terms, 'state'), implied ?? STATES) ?? implied
  const queues = open('queue')
    ? chosen(termsOf(terms, 'queue'), unique(tally.map(({ queue }) => queue)))
    : plain(termsOf(terms, 'queue'))
  const types = open('type')
    ? chosen(termsOf(terms, 'type'), unique(tally.map(({ jobType }) => jobType)))
    : plain(termsOf(terms, 'type'))
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
