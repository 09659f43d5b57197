/** Commands against states: where something may be said, and what comes of it. Where a row has no room, as lists of the same. */
import type { ReactNode } from 'react'
import type { Machine, Move, State } from '../api/wire.ts'
import { Scroll } from '../parts/scroll.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import { useMedia } from '../words/media.ts'
import { useWords } from '../words/vocabulary.tsx'

export interface CommandTableProps {
  readonly machine: Machine
  /** As `command.state`. */
  readonly chosen: string
  readonly onChoose: (cell: string) => void
}

export function CommandTable(props: CommandTableProps): ReactNode {
  // Fourteen columns of words, beside the navigation.
  const hasRoom = useMedia('(min-width: 1360px)')
  return hasRoom ? <Columns {...props} /> : <Lists {...props} />
}

function Columns({ machine, chosen, onChoose }: CommandTableProps): ReactNode {
  const words = useWords()
  return (
    <Scroll label="Commands and states">
      <table className="rows tight text-sm">
        <thead>
          <tr>
            <th>Command</th>
            {machine.states.map((state) => (
              <th key={state} className="text-center!" title={state}>
                <span className="inline-flex flex-col items-center gap-0.5">
                  <StateIcon state={state} />
                  {words.state(state)}
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {Object.entries(machine.commands).map(([command, cells]) => (
            <tr key={command}>
              <td className="mono font-medium">{command}</td>
              {machine.states.map((state) => {
                const moves = cells[state]
                const cell = `${command}.${state}`
                return (
                  <td key={state} className="text-center">
                    {moves === undefined ? (
                      <span className="text-text-3" aria-hidden="true">
                        ·
                      </span>
                    ) : (
                      <button
                        type="button"
                        aria-pressed={cell === chosen}
                        aria-label={labelOf(command, state, moves)}
                        className={`inline-flex items-center justify-center gap-0.5 rounded-md px-1 hover:bg-hover ${cell === chosen ? 'bg-hover outline-2 outline-focus' : ''}`}
                        onClick={() => onChoose(cell)}
                      >
                        <Targets moves={moves} />
                      </button>
                    )}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

function Lists({ machine, chosen, onChoose }: CommandTableProps): ReactNode {
  const words = useWords()
  return (
    <dl aria-label="Commands and states">
      {Object.entries(machine.commands).map(([command, cells]) => (
        <div key={command} className="border-t border-line px-4 py-2">
          <dt className="mono pb-1 font-medium">{command}</dt>
          <dd className="flex flex-wrap gap-1.5">
            {machine.states.map((state) => {
              const moves = cells[state]
              const cell = `${command}.${state}`
              return moves === undefined ? null : (
                <button
                  key={state}
                  type="button"
                  aria-pressed={cell === chosen}
                  aria-label={`${words.state(state)}: ${labelOf(command, state, moves)}`}
                  className={`btn px-2! font-normal! ${cell === chosen ? 'bg-hover! outline-2 outline-focus' : ''}`}
                  onClick={() => onChoose(cell)}
                >
                  {words.state(state)}
                  <span className="text-text-3" aria-hidden="true">
                    →
                  </span>
                  <Targets moves={moves} />
                </button>
              )
            })}
          </dd>
        </div>
      ))}
    </dl>
  )
}

const labelOf = (command: string, state: State, moves: readonly Move[]): string =>
  `${command} from ${state}: to ${targetsOf(moves).join(' or ')}`

function Targets({ moves }: { readonly moves: readonly Move[] }): ReactNode {
  return targetsOf(moves).map((to) => <StateIcon key={to} state={to} size={14} />)
}

const targetsOf = (moves: readonly Move[]): readonly State[] => [...new Set(moves.map(({ to }) => to))]
