/** The table the engine enforces: commands against states, and the words of the documents beside ours. */
import type { ReactNode } from 'react'
import { useSearchParams } from 'wouter'
import { useMachine, useQueues, useTally, useTraffic, useWorkers } from '../api/queries.ts'
import { useSession } from '../api/session.tsx'
import type { Move, State } from '../api/wire.ts'
import { Title } from '../frame/title.tsx'
import { CommandTable } from '../machine/command-table.tsx'
import { LiveMachine } from '../machine/live-machine.tsx'
import { Vocabularies } from '../machine/vocabularies.tsx'
import { Card } from '../parts/card.tsx'
import { StateWord } from '../parts/state-word.tsx'
import { Loading, Trouble } from '../parts/trouble.tsx'
import { useWords } from '../words/vocabulary.tsx'

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
    <div className="page">
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
            <CommandTable
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
