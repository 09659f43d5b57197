import { type ContenderName, PEERS } from '../contenders.ts'
import type { Scenario } from '../scenario.ts'

export const drain1 = drain(1, ['pawl', 'pawl-work', 'pawl-redis', 'pawl-redis-ledger', 'bare-sql', ...PEERS])
/** Two processes and a server on two cores: what differs from round to round is as much as its bar has room. */
export const drain2 = drain(2, ['pawl', 'pawl-work', ...PEERS], 5)

function drain(processes: number, contenders: readonly ContenderName[], rounds?: number): Scenario {
  return {
    name: `drain-${processes}`,
    title: `drain, ${processes} worker process${processes === 1 ? '' : 'es'}`,
    figure: 'perSecond',
    unit: 'jobs/s',
    better: 'more',
    contenders,
    rounds,
    run: (stage, size) => stage.fillAndDrain(size, { processes, pages: processes === 1 }),
  }
}
