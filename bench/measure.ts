/** All cells: each round plays every scenario with every contender, so that what disturbs one disturbs all. */
import type { ContenderName } from './contenders.ts'
import { type Expected, expected } from './expected.ts'
import type { Options, Play } from './options.ts'
import { Progress } from './progress.ts'
import { DidNotFinish, type Fill, type Scenario } from './scenario.ts'
import { type Servers, startServers } from './servers.ts'
import type { Size } from './size.ts'
import { Stage } from './stage.ts'
import { type Cell, Summary } from './summary.ts'

/** What is there before may take longer than what is measured. */
const FILL_MS = 60 * 60_000

/** What a run has to know of its options. */
export type Measuring = Pick<Options, 'mode' | 'size' | 'plan'>

export async function measure({ mode, size, plan }: Measuring): Promise<Summary> {
  await using servers = await startServers(plan, mode !== 'tiny')
  const templates = new Templates(servers, size)
  const order = inOrder(plan, expected(mode))
  const progress = new Progress(order)
  const cells: Cell[] = []
  for (const { scenario, contender, round } of order) {
    progress.now(`${scenario.title}: ${contender}`)
    const fromMs = performance.now()
    const played = await play(templates, scenario, contender, size)
    const seconds = Math.round((performance.now() - fromMs) / 100) / 10
    const cell = { scenario: scenario.name, contender, round, ...played, seconds }
    cells.push(cell)
    progress.done(told(scenario, cell))
  }
  progress.end()
  return new Summary(cells)
}

/** One contender in one scenario in one round, and how long it is thought to take. */
interface Planned {
  readonly scenario: Scenario
  readonly contender: ContenderName
  readonly round: number
  readonly seconds: number
}

function inOrder(plan: readonly Play[], seconds: Expected): readonly Planned[] {
  const rounds = Math.max(0, ...plan.map((each) => each.rounds))
  return Array.from({ length: rounds }, (_, i) => i + 1).flatMap((round) =>
    plan
      .filter((each) => round <= each.rounds)
      .flatMap(({ scenario, contenders }) =>
        rotated(contenders, round - 1).map((contender) => ({
          scenario,
          contender,
          round,
          seconds: seconds(scenario.name, contender, round),
        })),
      ),
  )
}

/** Nobody is always the first after a pause. */
const rotated = <T>(all: readonly T[], by: number): readonly T[] => {
  const at = by % all.length
  return [...all.slice(at), ...all.slice(0, at)]
}

async function play(
  templates: Templates,
  scenario: Scenario,
  contender: ContenderName,
  size: Size,
): Promise<Pick<Cell, 'figures' | 'failed'>> {
  try {
    const template = await templates.of(scenario, contender)
    await using stage = await Stage.set(templates.servers, contender, size, template)
    return { figures: await scenario.run(stage, size) }
  } catch (error) {
    if (error instanceof DidNotFinish) return { figures: error.figures, failed: error.message }
    return { figures: {}, failed: error instanceof Error ? error.message : String(error) }
  }
}

/** What is there before a scenario begins: made once per contender, copied for each round. */
class Templates {
  readonly servers: Servers
  readonly #size: Size
  readonly #known = new Map<Fill, Map<ContenderName, string>>()

  constructor(servers: Servers, size: Size) {
    this.servers = servers
    this.#size = size
  }

  async of({ fill }: Scenario, contender: ContenderName): Promise<string | undefined> {
    if (fill === undefined) return undefined
    const filled = this.#known.get(fill) ?? new Map<ContenderName, string>()
    this.#known.set(fill, filled)
    const known = filled.get(contender)
    if (known !== undefined) return known
    const stage = await Stage.set(this.servers, contender, { ...this.#size, cellMs: FILL_MS })
    await fill(stage, this.#size)
    const made = await stage.keep()
    filled.set(contender, made)
    return made
  }
}

function told({ title, figure, unit }: Scenario, { contender, figures, failed, seconds }: Cell): string {
  const value = figures[figure]
  const shown = value === undefined ? '' : ` ${value.toFixed(value < 100 ? 1 : 0)} ${unit}`
  return `${title}: ${contender}${shown}${failed === undefined ? '' : ` (${failed})`}, ${seconds} s`
}
