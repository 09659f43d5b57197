/**
 * The grammar of searches, the same in the dashboard, on the command line and in `GET /v1/jobs?q=`. Terms are joined by "and":
 * `field:value`; `a,b` within a value means "or"; a leading `-` means "not"; `*` at either end of a name; `"…"` for spaces;
 * `<1h`, `>2d` or `2026-11-15..2026-11-16` for times; `>3`, `<10`, `2..5` for numbers. A bare word is an id, or else how a type
 * begins. What no index answers (`sifted`, and inputs) is looked for in so many of the newest that fit everything else.
 */
import { parseDuration } from './duration.ts'
import { DEAD_LETTER_REASONS, type Job, STATES } from './job.ts'
import { MAX_DURATION_MS } from './limits.ts'

export interface Term {
  readonly field: string
  readonly values: readonly string[]
  readonly not: boolean
  /** As it was written. */
  readonly text: string
}

export type Search =
  | { readonly ok: true; readonly terms: readonly Term[] }
  | { readonly ok: false; readonly term: string; readonly message: string; readonly instead: string | undefined }

/** `names`: one or more, with `*` at either end. */
type Shape = 'names' | 'word' | 'time' | 'number'

interface Field {
  readonly means: string
  readonly shape: Shape
  /** Record by record, where all others are answered by indexes. */
  readonly sifted?: true
}

const sifted = true

export const FIELDS = {
  state: { means: 'a state of the machine', shape: 'names' },
  queue: { means: 'the queue', shape: 'names' },
  type: { means: 'the job type', shape: 'names' },
  id: { means: 'a job’s id, or its producer’s', shape: 'word' },
  tenant: { means: 'the tenant: of a token there is one', shape: 'names' },
  code: { means: 'the code of the last error', shape: 'word' },
  class: { means: 'the class of the last error', shape: 'names', sifted },
  reason: { means: 'why it was put aside', shape: 'names', sifted },
  cause: { means: 'the fingerprint of what dead letters have in common', shape: 'word', sifted },
  worker: { means: 'who runs it, or had it last', shape: 'names', sifted },
  key: { means: 'a limit key it shares', shape: 'names', sifted },
  dedupe: { means: 'the dedupe key', shape: 'word' },
  correlation: { means: 'the correlation id', shape: 'word' },
  parent: { means: 'the id of the job that spawned it', shape: 'word' },
  workflow: { means: 'the workflow id', shape: 'word' },
  created: { means: 'when it came: <1h, >2d, or from..to', shape: 'time' },
  updated: { means: 'when it changed: <1h, >2d, or from..to', shape: 'time', sifted },
  ended: { means: 'when it ended: <1h, >2d, or from..to', shape: 'time', sifted },
  due: { means: 'when it may run: <1h is within an hour', shape: 'time', sifted },
  priority: { means: '0 to 9, the most urgent first: 5, <3, 2..4', shape: 'number', sifted },
  failures: { means: 'handler errors: 2, >3, 1..5', shape: 'number', sifted },
  runs: { means: 'how often it was claimed: 1, >3, 2..4', shape: 'number', sifted },
  dialect: { means: 'the document it is bound to', shape: 'names', sifted },
  is: { means: 'held, paused, compensating, cancelling or schedule', shape: 'names', sifted },
} as const satisfies Readonly<Record<string, Field>>
export type FieldName = keyof typeof FIELDS
export const FIELD_NAMES = Object.keys(FIELDS) as readonly FieldName[]
/** What `is:` may be followed by. */
export const MARKS = ['held', 'paused', 'compensating', 'cancelling', 'schedule'] as const
export type Mark = (typeof MARKS)[number]

/** What a list may be in the order of. By `created` indexes answer; by the others what was read is put in order. */
export const SORTS = ['created', 'changed', 'due'] as const
export type Sort = (typeof SORTS)[number]

/**
 * Where a job stands among others, the first the least. What has changed last comes first, or last where the oldest are asked for; what is
 * due soonest always comes first, and behind all of them what no time is set for.
 */
export function rankOf(job: Job, sort: Exclude<Sort, 'created'>, order: 'newest' | 'oldest'): number {
  if (sort === 'due') return job.readyAt ?? job.nextTickAt ?? Number.POSITIVE_INFINITY
  return order === 'newest' ? -job.updatedAt : job.updatedAt
}

/** Whether it is looked for record by record. */
export const isSifted = (field: string): boolean => isField(field) && fieldOf(field).sifted === true
/** Whether it may have several values, of which one holds. */
export const hasNames = (field: string): boolean => isField(field) && fieldOf(field).shape === 'names'

/** Followed by a name of the user's own. */
export const PREFIXES = {
  label: { means: 'a label: label.NAME:value' },
  input: { means: 'a member of the input: input.PATH:value, * at either end' },
} as const

const WORD = /(-?)(?:([A-Za-z_]+(?:\.[^\s:"]+)?):)?("(?:[^"\\]|\\.)*"|[^\s"]+)/y

/** Terms in one search: nobody types more. */
const TERMS_MOST = 30
/** Among them those for which inputs are walked through. */
const INPUT_TERMS_MOST = 5

export function parseSearch(text: string): Search {
  const terms: Term[] = []
  let at = 0
  while (at < text.length) {
    if (/\s/.test(text.charAt(at))) {
      at += 1
      continue
    }
    WORD.lastIndex = at
    const found = WORD.exec(text)
    if (found === null) return refused(text.slice(at), 'This cannot be read: a quotation mark has no other.')
    const [whole, minus = '', field, value = ''] = found
    at += whole.length
    const read = field === undefined ? bareWord(whole, minus, value) : termOf(whole, minus, field, value)
    if (!read.ok) return read
    terms.push(...read.terms)
    if (terms.length > TERMS_MOST) return refused(whole, `There are more than ${TERMS_MOST} terms.`)
    if (terms.filter((term) => term.field.startsWith('input.')).length > INPUT_TERMS_MOST)
      return refused(whole, `There are more than ${INPUT_TERMS_MOST} terms about inputs.`)
  }
  return { ok: true, terms }
}

const refused = (term: string, message: string, instead?: string): Search => ({ ok: false, term, message, instead })

function bareWord(whole: string, minus: string, value: string): Search {
  const word = unquoted(value)
  const isId = /^pj_/.test(word)
  const term = isId
    ? { field: 'id', values: [word] }
    : { field: 'type', values: [word.includes('*') ? word : `${word}*`] }
  if (isId && minus !== '') return refused(whole, 'An id cannot be left out.')
  return { ok: true, terms: [{ ...term, not: minus !== '', text: whole }] }
}

function termOf(whole: string, minus: string, field: string, value: string): Search {
  const not = minus !== ''
  const [prefix = '', ...path] = field.split('.')
  if (path.length > 0 && Object.hasOwn(PREFIXES, prefix)) {
    if (not) return refused(whole, `${prefix}.* cannot be left out.`, whole.slice(1))
    return { ok: true, terms: [{ field, values: [unquoted(value)], not, text: whole }] }
  }
  if (!isField(field)) return unknownField(whole, field, value)
  const { shape, sifted: bySifting } = fieldOf(field)
  if (not && shape !== 'names' && bySifting !== true)
    return refused(whole, `${field} cannot be left out.`, whole.slice(1))
  const values =
    shape === 'names' && !value.startsWith('"') ? value.split(',').filter((each) => each !== '') : [unquoted(value)]
  return wrongIn(whole, field, shape, values) ?? { ok: true, terms: [{ field, values, not, text: whole }] }
}

/** Of fields whose values are a closed list. */
const NAMES: Readonly<Partial<Record<FieldName, readonly string[]>>> = {
  state: STATES,
  reason: DEAD_LETTER_REASONS,
  is: MARKS,
}

/** What else is often looked for. */
const EXAMPLES: Readonly<Partial<Record<Shape, readonly string[]>>> = {
  time: ['<15m', '<1h', '<1d', '>1d'],
  number: ['0', '1', '>1', '>3'],
}

/** What a field may be followed by, as far as the grammar knows: all of a closed list, and of times and numbers some. */
export const valuesOf = (field: string): readonly string[] =>
  isField(field) ? (NAMES[field] ?? EXAMPLES[fieldOf(field).shape] ?? []) : []

function wrongIn(whole: string, field: FieldName, shape: Shape, values: readonly string[]): Search | undefined {
  if (shape === 'time' && values.some((value) => timesIn(value, 0) === undefined))
    return refused(whole, 'A time is <1h, >2d, or from..to with days or moments.', `${field}:<1h`)
  if (shape === 'number' && values.some((value) => numbersIn(value) === undefined))
    return refused(whole, 'A number is 3, >3, <3 or 1..3.', `${field}:>1`)
  const known = NAMES[field] ?? values
  const wrong = values.find((value) => !known.includes(value))
  if (wrong === undefined) return undefined
  const meant = nearest(wrong, known)
  return refused(whole, `There is no ${field} ${wrong}.`, meant && `${field}:${meant}`)
}

const fieldOf = (field: FieldName): Field => FIELDS[field]
const isField = (field: string): field is FieldName => Object.hasOwn(FIELDS, field)

function unknownField(whole: string, field: string, value: string): Search {
  const meant = nearest(field, [...FIELD_NAMES, ...Object.keys(PREFIXES)])
  const instead = meant === undefined || meant in PREFIXES ? undefined : `${meant}:${value}`
  return refused(whole, `There is no field ${field}.`, instead)
}

const unquoted = (value: string): string =>
  value.startsWith('"') && value.endsWith('"') && value.length > 1
    ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1')
    : value

/** What somebody probably meant: the one with the most beginnings in common, if any. */
function nearest(word: string, among: readonly string[]): string | undefined {
  const scored = among.map((each) => ({ each, score: commonLength(word, each) }))
  const best = scored.reduce((a, b) => (b.score > a.score ? b : a))
  return best.score >= 2 ? best.each : undefined
}

function commonLength(a: string, b: string): number {
  let n = 0
  while (n < a.length && a.charAt(n) === b.charAt(n)) n += 1
  return n
}

/** From and to; undefined where it is no time. `<1h`: less than an hour ago. */
export function timesIn(value: string, now: number): { readonly from?: number; readonly to?: number } | undefined {
  const [, sign, ago = ''] = /^([<>])(.+)$/.exec(value) ?? []
  if (sign !== undefined) {
    const ms = parseDuration(ago)
    return ms === undefined || ms > MAX_DURATION_MS ? undefined : sign === '<' ? { from: now - ms } : { to: now - ms }
  }
  const [from = '', to] = value.split('..')
  if (to === undefined) return undefined
  const [begin, end] = [from, to].map((text) => (text === '' ? undefined : Date.parse(text)))
  if (Number.isNaN(begin) || Number.isNaN(end) || (begin === undefined && end === undefined)) return undefined
  return { ...(begin !== undefined && { from: begin }), ...(end !== undefined && { to: end }) }
}

/** Both included; undefined where it is no number. */
export function numbersIn(value: string): { readonly from?: number; readonly to?: number } | undefined {
  const [, sign, edge] = /^([<>]?)(\d+)$/.exec(value) ?? []
  if (edge !== undefined) {
    const n = Number(edge)
    return sign === '<' ? { to: n - 1 } : sign === '>' ? { from: n + 1 } : { from: n, to: n }
  }
  const [, from, to] = /^(\d+)\.\.(\d+)$/.exec(value) ?? []
  return from === undefined ? undefined : { from: Number(from), to: Number(to) }
}

/** `*` at either end stands for anything. */
export function matches(pattern: string, text: string): boolean {
  const open = { begin: pattern.startsWith('*'), end: pattern.length > 1 && pattern.endsWith('*') }
  const core = pattern.slice(open.begin ? 1 : 0, open.end ? -1 : undefined)
  if (open.begin && open.end) return text.includes(core)
  if (open.begin) return text.endsWith(core)
  return open.end ? text.startsWith(core) : text === core
}
