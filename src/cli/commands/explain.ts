/** `pawl explain <id>`: why is this job not running? `pawl explain <CODE>`: what does this word mean? */
import type { Command } from 'commander'
import { CODE_MEANS, DEFAULT_ERRORS, DEPENDENCY_CODES } from '../../core/errors.ts'
import { STRIKES_TO_BREAK } from '../../core/flow/numbers.ts'
import { type Signal, signalOf } from '../../core/flow/signal.ts'
import { isId } from '../../core/id.ts'
import { DEAD_LETTER_REASONS, STATES } from '../../core/job.ts'
import { CLASS_MEANS, OWN_CODE_MEANS, REASON_MEANS, STATE_MEANS } from '../../core/meanings.ts'
import { nearest } from '../../core/nearest.ts'
import { ERROR_CLASSES } from '../../core/policy.ts'
import { REFUSALS } from '../../core/refusal.ts'
import { OBJECTIONS } from '../../gateway/problem.ts'
import { examples } from '../example.ts'
import { EXIT, failureOf, Missing } from '../exit.ts'
import { linkJob } from '../links.ts'
import type { Context } from '../program.ts'
import { type Session, withExisting } from '../session.ts'
import { ago, safe } from '../terminal.ts'

interface Meaning {
  readonly word: string
  readonly kind: 'refusal' | 'objection' | 'error' | 'class' | 'reason' | 'state'
  readonly title: string
  readonly why: string
  readonly next: string | undefined
}

export function explain(parent: Command, { session }: Context): void {
  const command = parent
    .command('explain [id-or-code]')
    .description('why a job is not running; or what an error code, a reason or a state means; alone, all of these')
    .action((word: string | undefined) => (word === undefined ? listWords(session()) : run(session(), word)))
  examples(command, 'pawl explain pj_1k9f3', 'pawl explain STALE_FENCE', 'pawl explain exhausted_retries')
}

async function run(session: Session, word: string): Promise<void> {
  const known = isId(word) ? [] : meaningsOf(word)
  if (known.length > 0) return tellMeanings(session, known)
  try {
    await explainJob(session, word)
  } catch (error) {
    if (isId(word) || failureOf(error).exit !== EXIT.notFound) throw error
    // A store that is not there has no such job either.
    const where = error instanceof Missing ? ` (${error.message.replace(/\.$/, '')})` : ''
    const near = nearest(word, WORDS)
    throw new Missing(
      `${word} is no job${where}, and no code, reason or state.${near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`}`,
      'pawl jobs ls shows the ids of jobs; pawl explain alone lists every other word it knows.',
    )
  }
}

/** Every word there is something to say about, in the order of its family. */
function listWords({ terminal }: Session): void {
  const all = WORDS.flatMap(meaningsOf)
  terminal.tell({ meanings: all }, () =>
    terminal.table(
      ['WORD', 'IS A', 'MEANS'],
      all.map(({ word, kind, title, why }) => [word, kind, kind === 'state' || kind === 'reason' ? why : title]),
    ),
  )
}

async function explainJob(session: Session, id: string): Promise<void> {
  const { terminal } = session
  await withExisting(session, async (pawl) => {
    const explanation = await pawl.explain(id)
    const { job, state, way, because, who, when, next } = explanation
    const at = when === undefined ? undefined : new Date(when).toISOString()
    terminal.tell({ job, state, way, because, who, when: at, next }, () => {
      const { paint } = terminal
      terminal.say(`${paint.bold(job)} is ${paint.bold(way)}${way === state ? '' : ` (${state})`}. ${safe(because)}`)
      if (who !== undefined) terminal.say(`${paint.dim('who ')} ${safe(who)}`)
      if (at !== undefined) terminal.say(`${paint.dim('when')} ${at}, ${ago(when ?? 0, pawl.engine.now())}`)
      terminal.say(`${paint.dim('next')} ${safe(next)}`)
    })
    await linkJob(session, job)
  })
}

function tellMeanings({ terminal }: Session, known: readonly Meaning[]): void {
  const { paint } = terminal
  terminal.tell(known.length === 1 ? known[0] : { meanings: known }, () => {
    for (const { word, kind, title, why, next } of known) {
      terminal.say(`${paint.bold(word)} ${paint.dim(`(${kind})`)} ${title}.`)
      terminal.say(`  ${why}`)
      if (next !== undefined) terminal.say(`  ${paint.dim('next')} ${next}`)
    }
  })
}

const own = <T extends object>(table: T, word: string): T[keyof T] | undefined =>
  Object.hasOwn(table, word) ? table[word as keyof T] : undefined

/** A word may be of more than one family: `timeout`, `validation_failed`, `failed`. */
function meaningsOf(asked: string): readonly Meaning[] {
  const word =
    WORDS.find((each) => each === asked) ?? WORDS.find((each) => each.toLowerCase() === asked.toLowerCase()) ?? asked
  const found: Meaning[] = []
  const refusal = own(REFUSALS, word)
  if (refusal !== undefined) found.push({ word, kind: 'refusal', ...refusal })
  const objection = own(OBJECTIONS, word)
  if (objection !== undefined) {
    found.push({
      word,
      kind: 'objection',
      title: objection.title,
      why: `The gateway answers ${objection.status} before anybody asks about a job.`,
      next: objection.next,
    })
  }
  const kind = DEFAULT_ERRORS.get(word)
  if (kind !== undefined)
    found.push({
      word,
      kind: 'error',
      title: `An error of class ${kind}`,
      why: `${capital(CLASS_MEANS[kind])}.${besides(word)}${saysOfItsKey(signalOf({ succeeded: false, code: word, class: kind }))}`,
      next: `A job type may say otherwise: errors: { ${word}: '…' }.`,
    })
  const means = own(CLASS_MEANS, word)
  if (means !== undefined)
    found.push({ word, kind: 'class', title: 'A class of errors', why: `${capital(means)}.`, next: undefined })
  const reason = own(REASON_MEANS, word)
  if (reason !== undefined)
    found.push({
      word,
      kind: 'reason',
      title: 'Why a job is put aside',
      why: `${capital(reason)}.`,
      next: `See them: pawl dlq ls --reason ${word}`,
    })
  const state = own(STATE_MEANS, word)
  if (state !== undefined)
    found.push({
      word,
      kind: 'state',
      title: 'A state',
      why: `${capital(state)}.`,
      next: `See them: pawl jobs ls --state ${word}`,
    })
  return found
}

const WORDS: readonly string[] = [
  ...new Set([
    ...Object.keys(REFUSALS),
    ...Object.keys(OBJECTIONS),
    ...DEFAULT_ERRORS.keys(),
    ...ERROR_CLASSES,
    ...DEAD_LETTER_REASONS,
    ...STATES,
  ]),
]

function besides(code: string): string {
  const own = OWN_CODE_MEANS[code] === undefined ? '' : ` ${capital(OWN_CODE_MEANS[code])}.`
  const stands = CODE_MEANS[code] === undefined ? '' : ` It stands for ${CODE_MEANS[code]}.`
  return `${own}${stands}${DEPENDENCY_CODES.has(code) ? ' It names something the job depends on.' : ''}`
}

/** What the end of an attempt with this error does to the limit key it ran under. */
function saysOfItsKey(signal: Signal | undefined): string {
  switch (signal?.type) {
    case 'throttled':
      return ' The limit key of its job, where it has one, is slowed down; with Retry-After, it is held until then.'
    case 'unavailable':
      return ` ${STRIKES_TO_BREAK.open} in a row break the limit key of its job, where it has one, until a probe gets through.`
    default:
      return ''
  }
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
