import { diagram } from '../../src/cli/diagram.ts'
import { RANK, STATES, type State } from '../../src/core/job.ts'
import { STATE_MEANS } from '../../src/core/meanings.ts'
import { edges, type From, MACHINE, movesFrom } from '../../src/core/transitions.ts'
import { COMMANDS } from '../../src/core/verb.ts'
import { code, codes, page, table } from './markdown.ts'

export function stateMachinePage(): string {
  const all = edges()
  return page(
    'The state machine',
    'src/core/transitions.ts',
    `${STATES.length} states, ${COMMANDS.length} commands, ${all.length} state changes. What has no cell here is refused: \`decide\` asserts that whatever it answers with stands in this table, and the model checker, the dialects and the conformance suite read the same one.`,
    '## States',
    'On every state change `(generation, attempt, rank)` strictly increases, compared from left to right: a job moves forward only. `queued` ranks above the states of an attempt because "queued at attempt n" says that n attempts are closed for good.',
    table(
      ['state', 'rank', 'meaning'],
      byRank().map((state) => [code(state), String(RANK[state]), STATE_MEANS[state]]),
    ),
    '## Diagram',
    `\`\`\`mermaid\n${diagram()}\n\`\`\``,
    '## Commands × states',
    'Each cell lists the states in which a command may leave the job: `·` where it is refused. A dash in the first column of states stands for a job that does not exist yet.',
    matrix(),
    '## Every move',
    'The events of one move are one commit.',
    table(['command', 'from', 'to', 'events', 'when'], moves()),
  )
}

function byRank(): readonly State[] {
  return [...STATES].sort((a, b) => RANK[a] - RANK[b])
}

const FROM: readonly From[] = ['none', ...STATES]

function matrix(): string {
  const rows = COMMANDS.map((command) => [
    code(command),
    ...FROM.map((from) => {
      const targets = new Set(movesFrom(command, from)?.map(({ to }) => to))
      return targets.size === 0 ? '·' : [...targets].map((to) => (to === from ? '*same*' : to)).join(', ')
    }),
  ])
  return table(['', ...FROM.map((from) => (from === 'none' ? '–' : code(from)))], rows)
}

/** One row per distinct move; the states it may start from share it. */
function moves(): string[][] {
  const rows = new Map<string, { from: From[]; cells: readonly [string, string, string, string] }>()
  for (const command of COMMANDS) {
    for (const from of FROM) {
      for (const { to, events, when } of MACHINE[command][from] ?? []) {
        const cells = [code(command), to === from ? '*same*' : code(to), codes(events), when] as const
        const key = cells.join('\n')
        const row = rows.get(key) ?? { from: [], cells }
        row.from.push(from)
        rows.set(key, row)
      }
    }
  }
  return [...rows.values()].map(({ from, cells: [command, to, events, when] }) => {
    const starts = from.map((state) => (state === 'none' ? '–' : code(state))).join(' ')
    return [command, starts, to, events, when]
  })
}
