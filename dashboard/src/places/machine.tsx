/** The table the engine enforces: commands against states, and the words of the documents beside ours. */
import type { ReactNode } from 'react'
import { useSearchParams } from 'wouter'
import { useDialect, useMachine, useQueues, useTally, useTraffic, useWorkers } from '../api/queries.ts'
import { useSession } from '../api/session.tsx'
import type { Machine, Move, State } from '../api/wire.ts'
import { Title } from '../frame/title.tsx'
import { LiveMachine } from '../machine/live-machine.tsx'
import { Card } from '../parts/card.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import { StateWord } from '../parts/state-word.tsx'
import { Loading, Trouble } from '../parts/trouble.tsx'
import { stateIn, useWords, VOCABULARIES } from '../words/vocabulary.tsx'

export function MachinePlace(): ReactNode {
  const { data: machine, error } = useMachine()
  const session = useSession()
  const { data: tally } = useTally()
  const { data: traffic } = useTraffic('1h')
  const { data: queues } = useQueues()
  const { data: workers } = useWorkers(session.can('listWorkers'))
  const [params, setParams] = useSearchParams()
  const [command, state] = (params.get('cell') ?? '').split('.')
  const moves = command === undefined || state === undefined ? undefined : machine?.commands[command]?.[state as State]
  return (
    <div className="flex flex-col gap-4 p-4 phone:px-6 phone:py-5">
      <Title text="Machine" />
      {error === null ? null : <Trouble error={error} />}
      {machine === undefined ? (
        <Loading rows={14} />
      ) : (
        <>
          <div>
            <p className="text-lg font-semibold tracking-[-0.015em]">
              {machine.states.length} states, {Object.keys(machine.commands).length} commands
            </p>
            <p className="text-text-2">
              What has no cell is refused. This is the table the engine enforces, as it answers it.
            </p>
          </div>
          <Card title="The machine" note="live counts now; endings and rates of the last hour">
            <div className="px-2 pb-4 phone:px-4">
              <LiveMachine tally={tally} traffic={traffic} queues={queues ?? []} workers={workers ?? []} />
            </div>
          </Card>
          <Card title="Commands and states">
            <Table
              machine={machine}
              chosen={`${command}.${state}`}
              onChoose={(cell) => setParams({ cell }, { replace: true })}
            />
          </Card>
          {moves === undefined || command === undefined ? null : (
            <Cell command={command} state={state as State} moves={moves} />
          )}
          <Vocabularies states={machine.states} />
        </>
      )}
    </div>
  )
}

interface TableProps {
  readonly machine: Machine
  readonly chosen: string
  readonly onChoose: (cell: string) => void
}

function Table({ machine, chosen, onChoose }: TableProps): ReactNode {
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
                        aria-label={`${command} from ${state}: to ${targetsOf(moves).join(' or ')}`}
                        className={`inline-flex min-h-6 items-center gap-0.5 rounded-md px-1 hover:bg-hover ${cell === chosen ? 'bg-hover outline-2 outline-focus' : ''}`}
                        onClick={() => onChoose(cell)}
                      >
                        {targetsOf(moves).map((to) => (
                          <StateIcon key={to} state={to} size={14} />
                        ))}
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

const targetsOf = (moves: readonly Move[]): readonly State[] => [...new Set(moves.map(({ to }) => to))]

function Cell({
  command,
  state,
  moves,
}: {
  readonly command: string
  readonly state: State
  readonly moves: readonly Move[]
}): ReactNode {
  const words = useWords()
  return (
    <Card title={<span className="mono">{command}</span>} note={<>from {words.state(state)}</>}>
      <ul className="px-4 pb-4">
        {moves.map((move) => (
          <li
            key={`${move.to} ${move.when} ${move.events.join()}`}
            className="flex flex-wrap items-center gap-2 py-0.5"
          >
            <StateWord state={move.to} />
            <span className="text-text-2">{move.when}</span>
            <span className="mono text-text-3">{move.events.map((event) => words.event(event)).join(', ')}</span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

const DOCUMENTS = VOCABULARIES.filter((name) => name !== 'pawl')

/** The words of all documents side by side. */
function Vocabularies({ states }: { readonly states: readonly State[] }): ReactNode {
  const words = useWords()
  return (
    <Card
      title="Vocabularies"
      note="what each document calls a state; A / B where it depends on how far a job has come"
    >
      <Scroll label="Vocabularies">
        <table className="rows text-sm">
          <thead>
            <tr>
              <th>pawl</th>
              {DOCUMENTS.map((name) => (
                <th key={name}>
                  <button
                    type="button"
                    className={`link ${words.name === name ? 'font-semibold' : ''}`}
                    aria-pressed={words.name === name}
                    onClick={() => words.choose(words.name === name ? 'pawl' : name)}
                  >
                    {name}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {states.map((state) => (
              <tr key={state}>
                <td>
                  <span className="inline-flex items-center gap-1.5 font-medium">
                    <StateIcon state={state} />
                    {state}
                  </span>
                </td>
                {DOCUMENTS.map((name) => (
                  <td key={name} className="mono">
                    <Word name={name} state={state} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Card>
  )
}

function Word({ name, state }: { readonly name: string; readonly state: State }): ReactNode {
  const { data } = useDialect(name)
  return data === undefined ? '' : stateIn(data, state)
}
