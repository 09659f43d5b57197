/** `docs/dialects.md`: what each document is to us, from the same data that the code obeys. */
import { STATES } from '../job.ts'
import { DIALECT_NAMES, type DialectName } from '../policy.ts'
import { DEFAULTS, PRESETS } from '../presets.ts'
import { leaseWindowMs } from '../timers.ts'
import { edges } from '../transitions.ts'
import { COMMANDS } from '../verb.ts'
import { CONTRADICTIONS, LEFT_OPEN } from './contradictions.ts'
import { type Dialect, REACHES, type Row } from './dialect.ts'
import { type Refined, refinement } from './refinement.ts'
import { DIALECTS } from './registry.ts'
import { EVERYWHERE } from './strict.ts'
import { isInvented } from './telling.ts'
import { UNHELD } from './unheld.ts'

export function dialectsReport(dialects = DIALECTS): string {
  const refined = refinement(DIALECT_NAMES.map((name) => dialects[name]))
  const missing = refined.filter(({ faults }) => faults.length > 0).length
  return `${[
    '<!-- Generated from src/core/dialects/ by `npm run docs`. Edit that, not this. -->',
    '# Dialects',
    'Five documents describe the life of a durable job in six vocabularies (000 has two parts). Each is data here, and works in four ways: **read** (any job and its history in its words), **refine** (each of our moves is a path of legal moves of its own table), **strict** (a job type bound to it: what it does not know is refused, its defaults apply) and **derive** (its own fold over a foreign log, with every violation).',
    `The refinement covers ${edges().length} state changes in ${DIALECT_NAMES.length} dialects, ${refined.length} cases in all, counting how far the job had come. Missing or illegal: ${missing}.`,
    '## Our states in their words',
    'Where a cell has several words, they depend on how far the job has come in its generation: never claimed / claimed once, not started / claimed again, not started / started.',
    statesTable(),
    '## What they contradict, and how it is settled',
    table(
      ['documents', 'what they say', 'settled'],
      CONTRADICTIONS.map(({ documents, says, settled }) => [documents, says, settled]),
    ),
    '## What 001 leaves to its other plans',
    table(
      ['plan', 'what it leaves open', 'here'],
      LEFT_OPEN.map(({ plan, question, answer }) => [plan, question, answer]),
    ),
    '## Lines that no test cites',
    'Each line of a document that asks for something is cited by a test in `test/compliance/`, under its number. These are not, or not for all they say:',
    table(
      ['line', 'what it asks for', 'why not'],
      UNHELD.map(({ rule, says, why, partly }) => [partly ? `${rule}, in part` : rule, says, why]),
    ),
    '## Bound jobs: which commands they know',
    '✓ as our own machine has it; → where the document’s table has the move; · refused with `DIALECT_FORBIDS`. What an owner notes down changes no status and is accepted everywhere, but for a step to be undone where the document has no way back (001, 004). Whatever time does to a job (`stall`, `requeue`, `expire`, a soft cancel that turns hard) is never refused: it is a move of the document’s own, or it waits until it is. A lost lease uses up no budget where the document has no move by which an orphan ends: such a job is claimed again, as often as it takes.',
    commandsTable(),
    '## Bound jobs: which policies they refuse',
    'A bound job keeps its document to the letter: what time does to it must be a move of the document’s own. Where it is not, `defineJob` refuses the word that asks for it, and so does an enqueue whose policy has it.',
    table(
      ['document', 'word', 'why it is refused'],
      DIALECT_NAMES.flatMap((name) => dialects[name].forbids.map(({ field, why }) => [name, code(field), why])),
    ),
    '## Entries that nobody caused',
    'A job that is bound to no document may still be read in its words, and then some of its log is about moves nobody has made: the document has no other way to where the job is. Such an entry says so, `"implied": true`, over HTTP, on the command line and in the library. The log of a bound job has none: the command is refused, or the policy was. A status that changes without an event of its own is no such entry: nothing is written; where the document is 000A, the `cause` of the next `job_claimed` says why the attempt before it was closed.',
    table(
      ['document', 'implied entry', 'when', 'because there is no move'],
      DIALECT_NAMES.flatMap((name) => implications(name, refined)),
    ),
    '## How a log hangs together',
    'Each told entry has `rev`, the revision of the event it tells, and `after_rev`, the one up to which everything before it was told or needed no telling; where one event takes several entries, `move` of `moves`. So `derive` notices (`missing`) when any event was lost before it was told, or any line afterwards; with the revision the log was told up to (`rev` of the answer, `--rev`), at its end as well. A log without these fields is judged by the document’s table alone.',
    '## Refinement',
    'Each path leads from status to status, with the event’s word in brackets where it is not the status itself. Moves in *italics* are implied: no event of ours stands behind them, the document has no other way. `–`: nothing to tell. **new**: the document’s endings are final, so the path begins a new record. Several lines: it depends on how far the job has come.',
    ...DIALECT_NAMES.flatMap((name) => section(dialects[name], refined)),
  ].join('\n\n')}\n`
}

function statesTable(): string {
  const rows = STATES.map((state) => [
    code(state),
    ...DIALECT_NAMES.map((name) => {
      const shown = DIALECTS[name].shows[state]
      return typeof shown === 'string' ? code(shown) : REACHES.map((reach) => code(shown[reach])).join(' / ')
    }),
  ])
  return table(['', ...DIALECT_NAMES], rows)
}

function commandsTable(): string {
  const rows = COMMANDS.map((command) => [
    code(command),
    ...DIALECT_NAMES.map((name) => {
      if (command === 'enqueue' || EVERYWHERE.has(command)) return '✓'
      const knows = DIALECTS[name].knows[command]
      return knows === undefined ? '·' : knows === 'always' ? '✓' : '→'
    }),
  ])
  return table(['', ...DIALECT_NAMES], rows)
}

/** Each implied entry once, with everything that needs it. */
function implications(name: DialectName, refined: readonly Refined[]): readonly (readonly string[])[] {
  const found = new Map<string, { readonly when: Set<string>; readonly because: Set<string> }>()
  for (const { dialect, edge, from, to, steps = [] } of refined) {
    if (dialect !== name) continue
    for (const { word } of steps.filter(isInvented)) {
      const { when, because } = found.get(word as string) ?? { when: new Set(), because: new Set() }
      when.add(edge.from === 'none' ? code(edge.event) : `${code(edge.event)} while ${code(edge.from)}`)
      because.add(`${from} → ${to}`)
      found.set(word as string, { when, because })
    }
  }
  return [...found].map(([word, { when, because }]) => [
    name,
    code(word),
    [...when].join(', '),
    [...because].join(', '),
  ])
}

function section(dialect: Dialect, refined: readonly Refined[]): readonly string[] {
  const mine = refined.filter(({ dialect: name }) => name === dialect.name)
  return [
    `### ${dialect.name}: ${dialect.title}`,
    `Its table, ${dialect.table.length} cells. Marked with † what the document’s own table does not have, and with ‡ what only \`derive\` accepts.`,
    table(
      ['from', 'event', 'to', ''],
      dialect.table.map((row) => [
        code(row.from),
        row.word === undefined ? '–' : code(row.word),
        code(row.to),
        footnotes(row),
      ]),
    ),
    `Defaults where it says something: \`${presetOf(dialect.name)}\`. ${grantedBy(dialect.name)}`,
    table(
      ['our event', 'from', 'to', `in ${dialect.name}`],
      edges().map((edge) => [
        code(edge.event),
        edge.from === 'none' ? '–' : code(edge.from),
        code(edge.to),
        [
          ...new Set(
            mine
              .filter((one) => one.edge.event === edge.event && one.edge.from === edge.from && one.edge.to === edge.to)
              .map(pathText),
          ),
        ].join(' <br> '),
      ]),
    ),
  ]
}

const footnotes = ({ settled, deriveOnly }: Row): string =>
  settled === undefined ? '' : `${deriveOnly === undefined ? '†' : '‡'} ${settled}`

const presetOf = (name: DialectName): string => JSON.stringify(PRESETS[name]).replaceAll(',', ', ')

/** What comes of lease and heartbeats together. */
function grantedBy(name: DialectName): string {
  const policy = { ...DEFAULTS, ...PRESETS[name] }
  return `A lease is granted for ${leaseWindowMs(policy) / 1_000} s, and renewed every ${policy.heartbeatMs / 1_000} s.`
}

function pathText({ steps, fresh, from, faults }: Refined): string {
  if (steps === undefined) return `**${faults.join(', ')}**`
  if (steps.length === 0) return '–'
  const moves = steps.map(({ to, word, implied }) => {
    const text = word === undefined || word === to ? to : `${to} (${word})`
    return implied ? `*${text}*` : text
  })
  return [fresh ? '**new**' : from, ...moves].join(' → ')
}

const code = (text: string): string => `\`${text}\``

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}
