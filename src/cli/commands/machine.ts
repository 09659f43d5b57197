/** `pawl machine`: the table the engine enforces, as text, data or diagram; and whether it keeps its own rules. */
import type { Command } from 'commander'
import { refinement } from '../../core/dialects/refinement.ts'
import { DIALECTS } from '../../core/dialects/registry.ts'
import { RANK, STATES, type State, TERMINAL_STATES } from '../../core/job.ts'
import { edges, type From, LEADS_TO, MACHINE, movesFrom } from '../../core/transitions.ts'
import { COMMANDS } from '../../core/verb.ts'
import { dialectOf } from '../choice.ts'
import { diagram } from '../diagram.ts'
import { examples } from '../example.ts'
import { Ended, EXIT } from '../exit.ts'
import type { Context } from '../program.ts'
import { asked, isGateway, type Session } from '../session.ts'
import type { Terminal } from '../terminal.ts'
import { walkThrough } from '../walk.ts'

interface Options {
  readonly mermaid?: boolean
  readonly check?: boolean
  readonly walk?: boolean
  readonly dialect?: string
}

const FROM: readonly From[] = ['none', ...STATES]

export function machine(parent: Command, { session }: Context): void {
  const command = parent
    .command('machine')
    .description('every move a job can make; what is not here is refused')
    .option('--mermaid', 'as a diagram')
    .option(
      '--check',
      'check the table against its own rules and against all dialects; with a gateway, against its table',
    )
    .option('--walk', 'one job through its life, step by step')
    .option('--dialect <dialect>', 'a document’s own table: 000A, 000B, 001, 002, 003 or 004')
    .action((options: Options) => run(session(), options))
  examples(
    command,
    'pawl machine',
    'pawl machine --mermaid > machine.mmd',
    'pawl machine --json | jq .edges',
    'pawl machine --check',
  )
}

async function run(session: Session, options: Options): Promise<void> {
  const { terminal } = session
  const dialect = dialectOf(options.dialect)
  if (options.check === true) return await check(session)
  if (options.walk === true) return walkThrough(terminal)
  if (options.mermaid === true) return terminal.print(`${diagram()}\n`)
  if (dialect !== undefined) {
    const { name, title, statuses, ended, table } = DIALECTS[dialect]
    return terminal.tell({ version: 1, dialect: { name, title, statuses, ended, table } }, () => {
      terminal.say(terminal.paint.bold(`${name}: ${title}`))
      terminal.table(
        ['FROM', 'WORD', 'TO'],
        table.map(({ from, word, to }) => [from, word, to]),
      )
    })
  }
  terminal.tell(
    { version: 1, states: STATES, terminal: TERMINAL_STATES, rank: RANK, moves: MACHINE, edges: edges() },
    () => show(terminal),
  )
}

function show(terminal: Terminal): void {
  const { paint } = terminal
  terminal.say(
    paint.dim(
      `${STATES.length} states, ${COMMANDS.length} commands, ${edges().length} state changes; a command that has no line from a state is refused there`,
    ),
  )
  for (const command of COMMANDS) {
    const targets = new Map<string, string[]>()
    for (const from of FROM) {
      const to = [...new Set(movesFrom(command, from)?.map((move) => (move.to === from ? 'same' : move.to)))].join(
        ' | ',
      )
      if (to !== '') targets.set(to, [...(targets.get(to) ?? []), from === 'none' ? '–' : from])
    }
    let name: string = command
    for (const [to, from] of targets) {
      terminal.say(`  ${paint.cyan(name.padEnd(12))}${from.join(', ')} ${paint.dim('→')} ${to}`)
      name = ''
    }
  }
}

interface Check {
  readonly check: string
  readonly ok: boolean
  readonly found: readonly string[]
}

async function check(session: Session): Promise<void> {
  const { terminal } = session
  const checks: Check[] = [
    checked('every state can be reached from nothing', unreached()),
    checked(
      'every state that has not ended has a way out',
      STATES.filter((state) => !isEnded(state) && !edges().some(({ from, to }) => from === state && to !== state)),
    ),
    checked(
      'an ended job is left by reopening only',
      edges()
        .filter(({ from, event }) => from !== 'none' && isEnded(from) && event !== 'reopened')
        .map(({ event, from }) => `${event} from ${from}`),
    ),
    checked(
      'every event leads where it says',
      edges()
        .filter(({ event, to }) => !LEADS_TO[event].includes(to))
        .map(({ event, to }) => `${event} to ${to}`),
    ),
    checked('within an attempt the rank only rises', falling()),
    checked(
      'every state change can be told in every dialect',
      refinement(Object.values(DIALECTS))
        .filter(({ faults }) => faults.length > 0)
        .map((each) => JSON.stringify(each)),
    ),
  ]
  if (isGateway(session.url)) checks.push(await sameAs(session))
  terminal.tell({ ok: checks.every(({ ok }) => ok), checks }, () => {
    for (const { check: what, ok, found } of checks) {
      terminal.say(`${ok ? terminal.paint.green('ok  ') : terminal.paint.red('FAIL')} ${what}`)
      for (const each of found) terminal.say(`     ${each}`)
    }
  })
  if (checks.some(({ ok }) => !ok)) throw new Ended(EXIT.failure)
}

const checked = (check: string, found: readonly string[]): Check => ({ check, ok: found.length === 0, found })
const isEnded = (state: State): boolean => (TERMINAL_STATES as readonly State[]).includes(state)

function unreached(): readonly string[] {
  const reached = new Set<From>(['none'])
  for (let size = 0; size !== reached.size; ) {
    size = reached.size
    for (const { from, to } of edges()) if (reached.has(from)) reached.add(to)
  }
  return STATES.filter((state) => !reached.has(state))
}

/** A claim opens an attempt and reopening a generation: only they may start from a higher rank. */
const falling = (): readonly string[] =>
  edges()
    .filter(
      ({ from, to, event }) => from !== 'none' && event !== 'claimed' && event !== 'reopened' && RANK[to] <= RANK[from],
    )
    .map(({ event, from, to }) => `${event}: ${from} → ${to}`)

async function sameAs(session: Session): Promise<Check> {
  const { commands } = await asked(session, 'GET', '/v1/machine')
  const same = JSON.stringify(commands) === JSON.stringify(MACHINE)
  return checked('the gateway enforces the same table', same ? [] : ['it has another version'])
}
