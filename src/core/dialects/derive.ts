/**
 * A document's own fold over a foreign log in its vocabulary: the status it comes to, and everything about the log
 * that the document forbids. Whatever comes in, nothing throws; a line that makes no sense is a named violation.
 */
import { DEFAULT_ERRORS } from '../errors.ts'
import { DIALECT_NAMES } from '../policy.ts'
import type { Dialect, Row, Status } from './dialect.ts'
import { type Line, type Link, linesOf } from './log-line.ts'
import { NONE } from './path.ts'
import { READINGS, type Reading } from './registry.ts'

export const LOG_RULES = [
  'not_a_dialect',
  'not_a_log',
  'not_an_entry',
  'unknown_word',
  'illegal_move',
  'after_the_end',
  'invariant',
  'attempt_missing',
  'attempt_not_higher',
  'says_otherwise',
  'time_runs_backwards',
  'another_job',
  'identity_reused',
  'missing',
] as const
export type LogRule = (typeof LOG_RULES)[number]

export interface LogViolation {
  /** Counted from 1; 0 where the log as a whole is meant. */
  readonly line: number
  readonly rule: LogRule
  readonly what: string
}

export interface Derived {
  readonly dialect: Reading
  /** Undefined: nothing has happened yet. */
  readonly status: Status | undefined
  /** The same status under the document's other name for it (003's `StatusPending`). */
  readonly constant: string | undefined
  readonly lines: number
  /** Lines that repeat an earlier one and have no effect. */
  readonly repeated: number
  /** Lines that are not about the status. */
  readonly passedOver: number
  readonly violations: readonly LogViolation[]
}

/**
 * A log that we have told says with each entry how it hangs together with the one before it; `reaches`, the revision it was
 * told up to, lets notice what is missing at its end as well. Logs from elsewhere are judged by the document's table alone.
 */
export function deriveDialect(name: Reading, log: unknown, reaches?: number): Derived {
  if (!Object.hasOwn(READINGS, name)) return { ...NOTHING, dialect: name, violations: [NOT_A_DIALECT] }
  const dialect = READINGS[name]
  const lines = linesOf(dialect, log)
  const fold = new Fold(dialect)
  if (lines === undefined) fold.report(0, 'not_a_log', 'a log is a list of entries')
  for (const line of lines ?? []) fold.read(line)
  fold.end(reaches)
  const status = fold.status === NONE ? undefined : fold.status
  return {
    dialect: name,
    status,
    constant: status && dialect.constants?.[status],
    lines: lines?.length ?? 0,
    repeated: fold.repeated,
    passedOver: fold.passedOver,
    violations: fold.violations,
  }
}

const NOTHING = { status: undefined, constant: undefined, lines: 0, repeated: 0, passedOver: 0 }
const NOT_A_DIALECT: LogViolation = { line: 0, rule: 'not_a_dialect', what: `one of ${DIALECT_NAMES.join(', ')}` }

class Fold {
  status: Status = NONE
  repeated = 0
  passedOver = 0
  readonly violations: LogViolation[] = []
  readonly #dialect: Dialect
  readonly #words: ReadonlySet<string | undefined>
  readonly #seen = new Map<unknown, string>()
  #job: unknown
  #time: number | undefined
  #claimed = false
  #attempt: number | undefined
  #link: Link | undefined
  readonly #told = new Set<string>()

  constructor(dialect: Dialect) {
    this.#dialect = dialect
    this.#words = new Set(dialect.table.map(({ word }) => word))
  }

  report(line: number, rule: LogRule, what: string): void {
    this.violations.push({ line, rule, what })
  }

  read(line: Line): void {
    if (line.fault !== undefined) return this.report(line.n, 'not_an_entry', line.fault)
    const isKnown = this.#words.has(line.word)
    // What is of no consequence to the status is part of the chain all the same, where we have told it.
    if (!isKnown && line.link === undefined) return this.#unknown(line)
    if (this.#isToldAgain(line)) return
    this.#checkChain(line)
    if (!isKnown) return this.#unknown(line)
    if (this.#isRepetition(line)) return
    this.#checkCircumstances(line)
    this.#move(line)
  }

  /** Nothing more comes. */
  end(reaches: number | undefined): void {
    const rev = this.#link?.rev ?? 0
    if (reaches !== undefined && rev < reaches)
      this.report(0, 'missing', `the log ends at revision ${rev}, and was told up to ${reaches}`)
    else if (this.#link !== undefined && this.#link.move < this.#link.moves)
      this.report(0, 'missing', `revision ${rev} has ${this.#link.moves} entries, of which the last is not there`)
  }

  /** A revision is told once: the same line again has no effect. */
  #isToldAgain({ link, word }: Line): boolean {
    if (link === undefined) return false
    const name = `${link.rev}.${link.move} ${word}`
    const again = this.#told.has(name)
    this.#told.add(name)
    if (again) this.repeated++
    return again
  }

  /** Each entry says what came before it. One that says nothing is followed by one that cannot be checked. */
  #checkChain({ n, link }: Line): void {
    const last = n === 1 ? BEGINNING : this.#link
    this.#link = link
    if (last === undefined || link === undefined) return
    if (link.move > 1 ? follows(last, link) : link.afterRev === last.rev && last.move === last.moves) return
    const above = last === BEGINNING ? 'nothing is above it' : `the line above it is of ${last.rev}`
    this.report(n, 'missing', `it comes after revision ${link.afterRev}, and ${above}`)
  }

  #unknown({ n, word }: Line): void {
    if (this.#dialect.log.otherWords === 'passed over') this.passedOver++
    else this.report(n, 'unknown_word', `the document does not know ${word}`)
  }

  /** The same request twice has no effect; nor has the same status, where the document says so. */
  #isRepetition({ n, word, identity }: Line): boolean {
    const { repeats, identifies } = this.#dialect.log
    const key = identifies === 'the line' ? identity : identity && `${word} ${identity}`
    const before = key === undefined ? undefined : this.#seen.get(key)
    if (before !== undefined && before !== word) this.report(n, 'identity_reused', `it was ${before} before`)
    if (key !== undefined) this.#seen.set(key, word)
    if (before !== word && !(repeats && word === this.status)) return false
    this.repeated++
    return true
  }

  #checkCircumstances({ n, job, time, from }: Line): void {
    if (job !== undefined && this.#job !== undefined && job !== this.#job)
      this.report(n, 'another_job', 'a log is about one job')
    this.#job ??= job
    if (time !== undefined && this.#time !== undefined && time < this.#time)
      this.report(n, 'time_runs_backwards', 'it happened before the line above it')
    this.#time = time ?? this.#time
    if (from !== undefined && from !== this.status)
      this.report(n, 'says_otherwise', `it says it came from ${from}, the log from ${this.status}`)
  }

  #move(line: Line): void {
    const { n, word } = line
    const { lastWins } = this.#dialect.log
    for (const law of this.#dialect.laws?.(this.status, word) ?? []) this.report(n, 'invariant', law)
    const row = this.#rowFor(line)
    if (row === undefined) {
      const rule = this.#dialect.ended.includes(this.status) ? 'after_the_end' : 'illegal_move'
      this.report(n, rule, `${word} while ${this.status}`)
      // Each word sets one status, wherever the job is.
      if (lastWins)
        this.status = this.#dialect.table.reduce((set, any) => (any.word === word ? any.to : set), this.status)
      return
    }
    if (!this.#mayClaim(line)) return
    this.status = row.to
    if (line.to !== undefined && line.to !== row.to)
      this.report(n, 'says_otherwise', `it says it led to ${line.to}, the document to ${row.to}`)
  }

  /** The cell; or the one behind a move for which the document has no word (000A: enqueued, attempt closed). */
  #rowFor(line: Line): Row | undefined {
    const { table } = this.#dialect
    const from = (status: Status) => table.filter((row) => row.from === status && row.word === line.word)
    const direct = from(this.status)
    if (direct.length > 1)
      return direct.find(({ to }) => to === line.to) ?? direct.find(({ when }) => when === kindOf(line))
    if (direct.length === 1) return direct[0]
    return table.filter((row) => row.from === this.status && row.word === undefined).flatMap(({ to }) => from(to))[0]
  }

  /** "Attempt closed" is legal only where the next claim carries a higher attempt. One that nobody made is no attempt. */
  #mayClaim({ n, word, attempt, link }: Line): boolean {
    if (word !== this.#dialect.log.claim || link?.implied === true) return true
    const last = this.#attempt
    const again = this.#claimed
    if (again && attempt === undefined) this.report(n, 'attempt_missing', 'a further claim carries a higher attempt')
    if (attempt !== undefined && last !== undefined && attempt <= last) {
      this.report(n, 'attempt_not_higher', `attempt ${attempt} after attempt ${last}`)
      return false
    }
    this.#claimed = true
    this.#attempt = attempt ?? last
    return true
  }
}

/** A log begins with its record. */
const BEGINNING: Link = { rev: 0, afterRev: 0, move: 1, moves: 1, implied: false }

/** The next entry of the same event. */
const follows = (last: Link, { rev, move }: Link): boolean => last.rev === rev && last.move === move - 1

/** An error that nobody knows may pass: it is retried. */
function kindOf({ code }: Line): 'transient' | 'permanent' {
  const kind = code === undefined ? undefined : DEFAULT_ERRORS.get(code)
  return kind === 'permanent' || kind === 'validation' ? 'permanent' : 'transient'
}
