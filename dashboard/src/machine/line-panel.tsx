/** What a line stands for: the changes of the table that take it, by which command and when, how often; and who took it last. */
import type { ReactNode } from 'react'
import type { Machine, State, TrafficAnswer } from '../api/wire.ts'
import { StateWord } from '../parts/state-word.tsx'
import { rate } from '../words/format.ts'
import { useWords } from '../words/vocabulary.tsx'
import { type LineName, lineOf } from './lines.ts'
import { minutesOf } from './minutes.ts'
import { Takers } from './takers.tsx'

export interface LinePanelProps {
  readonly line: LineName
  readonly machine: Machine
  readonly traffic: TrafficAnswer | undefined
}

interface Rule {
  readonly command: string
  readonly event: string
  readonly from: State | 'none'
  readonly to: State
  readonly when: string
}

/** Read off the table, like everything here. */
function rulesOf({ commands }: Machine, line: LineName): readonly Rule[] {
  return Object.entries(commands).flatMap(([command, cells]) =>
    Object.entries(cells).flatMap(([state, moves]) =>
      moves.flatMap(({ events, to, when }) => {
        const from = state as State | 'none'
        return events
          .filter((event) => lineOf({ event, from, to }) === line)
          .map((event) => ({ command, event, from, to, when }))
      }),
    ),
  )
}

export function LinePanel({ line, machine, traffic }: LinePanelProps): ReactNode {
  const words = useWords()
  const rules = rulesOf(machine, line)
  const taken = (traffic?.changes ?? []).filter((change) => lineOf(change) === line)
  const minutes = traffic === undefined ? 1 : minutesOf(traffic)
  return (
    <div className="grid gap-4 border-t border-line p-4 desk:grid-cols-2">
      <div>
        <h3 className="mb-1 text-sm font-medium text-text-3">Taken</h3>
        {taken.length === 0 ? <p className="text-text-3">Not within the window.</p> : null}
        {taken.map((change) => (
          <p key={`${change.event} ${change.from} ${change.to}`} className="flex gap-2">
            <span className="mono">{words.event(change.event)}</span>
            <span className="text-text-3">
              {change.from === 'none' ? 'new' : words.state(change.from)} → {words.state(change.to)}
            </span>
            <span className="ml-auto">{rate(change.count / minutes)}</span>
          </p>
        ))}
        <h3 className="mt-3 mb-1 text-sm font-medium text-text-3">By which rules</h3>
        <ul>
          {rules.map(({ command, event, from, to, when }) => (
            <li
              key={`${command} ${event} ${from} ${to} ${when}`}
              className="flex flex-wrap items-center gap-x-2 py-0.5"
            >
              <span className="mono font-medium">{command}</span>
              {from === 'none' ? <span className="text-text-3">new</span> : <StateWord state={from} />}
              <span aria-hidden="true">→</span>
              <StateWord state={to} />
              <span className="text-sm text-text-2">{when}</span>
            </li>
          ))}
        </ul>
      </div>
      <Takers line={line} />
    </div>
  )
}
