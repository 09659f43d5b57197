import { RANK, STATES, type State, TERMINAL_STATES } from '../../src/core/job.ts'
import { type Edge, edges, type From, MACHINE, movesFrom } from '../../src/core/transitions.ts'
import { COMMANDS } from '../../src/core/verb.ts'
import { code, codes, page, table } from './markdown.ts'

const MEANING: Readonly<Record<State, string>> = {
  pending: 'accepted, not yet admitted',
  claimed: 'a worker holds a lease, its handler has not started',
  running: 'the owner has started and heartbeats',
  waiting: 'suspended until a signal or a timer; no owner, no lease',
  parked: 'a long wait: nothing looks at it until a signal or its own timeout',
  stalled: 'orphaned: the last lease is no longer trusted',
  retrying: 'a failure that may be repeated; due again at `runAt`',
  queued: 'claimable once `runAt` has come',
  succeeded: 'ended: it has a result',
  failed: 'ended: an error, and nobody is asked to look',
  cancelled: 'ended: somebody wanted it to',
  timed_out: 'ended: a time limit of the job has passed',
  denied: 'ended: admission refused it',
  dead_lettered: 'ended: an error, kept for somebody to look at',
}

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
      byRank().map((state) => [code(state), String(RANK[state]), MEANING[state]]),
    ),
    '## Diagram',
    mermaid(all),
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

function mermaid(all: readonly Edge[]): string {
  const labels = new Map<string, string[]>()
  for (const { from, to, event } of all) {
    const arrow = `${from === 'none' ? '[*]' : from} --> ${to}`
    labels.set(arrow, [...(labels.get(arrow) ?? []), event])
  }
  const arrows = [...labels].map(([arrow, events]) => `  ${arrow}: ${events.join(', ')}`)
  const ends = TERMINAL_STATES.filter((state) => !all.some(({ from }) => from === state)).map((s) => `  ${s} --> [*]`)
  return ['```mermaid', 'stateDiagram-v2', ...arrows, ...ends, '```'].join('\n')
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
