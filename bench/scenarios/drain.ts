import { type ContenderName, PEERS } from '../contenders.ts'
import type { Scenario } from '../scenario.ts'

export const drain1 = drain(1, ['pawl', 'bare-sql', ...PEERS])
export const drain2 = drain(2, ['pawl', ...PEERS])

function drain(processes: number, contenders: readonly ContenderName[]): Scenario {
  return {
    name: `drain-${processes}`,
    title: `drain, ${processes} worker process${processes === 1 ? '' : 'es'}`,
    figure: 'perSecond',
    unit: 'jobs/s',
    better: 'more',
    contenders,
    run: (stage, size) => stage.fillAndDrain(size, { processes, pages: processes === 1 }),
  }
}
