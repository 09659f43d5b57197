/** The numbers of the drawing for whoever reads rather than looks. */
import type { ReactNode } from 'react'
import type { State, TrafficAnswer } from '../api/wire.ts'
import { Scroll } from '../parts/scroll.tsx'
import { StateWord } from '../parts/state-word.tsx'
import { rate } from '../words/format.ts'
import type { NodeFacts } from './drawing.tsx'
import { minutesOf } from './minutes.ts'

export interface NumbersTableProps {
  readonly states: readonly State[]
  readonly nodes: Readonly<Partial<Record<State, NodeFacts>>>
  readonly traffic: TrafficAnswer | undefined
}

export function NumbersTable({ states, nodes, traffic }: NumbersTableProps): ReactNode {
  const minutes = traffic === undefined ? 1 : minutesOf(traffic)
  const flow = (state: State, end: 'from' | 'to') =>
    rate(
      (traffic?.changes ?? []).filter((each) => each[end] === state).reduce((sum, { count }) => sum + count, 0) /
        minutes,
    )
  return (
    <Scroll label="The machine in numbers">
      <table className="rows">
        <thead>
          <tr>
            <th>State</th>
            <th className="num">Jobs</th>
            <th className="num hidden @min-[360px]:table-cell">Come in</th>
            <th className="num hidden @min-[360px]:table-cell">Go out</th>
            <th className="hidden @min-[640px]:table-cell">Besides</th>
          </tr>
        </thead>
        <tbody>
          {states.map((state) => (
            <tr key={state}>
              <td>
                <StateWord state={state} />
              </td>
              <td className="num">{nodes[state]?.count ?? '–'}</td>
              <td className="num hidden @min-[360px]:table-cell">{flow(state, 'to')}</td>
              <td className="num hidden @min-[360px]:table-cell">{flow(state, 'from')}</td>
              <td className="hidden w-full text-text-2 @min-[640px]:table-cell">{nodes[state]?.title}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
