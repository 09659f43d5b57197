/** All cells: each round plays every scenario with every contender, so that what disturbs one disturbs all. */
import { type ContenderName, PEERS } from './contenders.ts'
import type { Options } from './options.ts'
import { Progress } from './progress.ts'
import { DidNotFinish, type Scenario } from './scenario.ts'
import { type Servers, startServers } from './servers.ts'
import { Stage } from './stage.ts'
import { type Cell, Summary } from './summary.ts'

/** What is there before may take longer than what is measured. */
const FILL_MS = 15 * 60_000

export async function measure({ size, scenarios, peers }: Options): Promise<Summary> {
  const isAsked = (name: ContenderName) => !PEERS_ALL.has(name) || peers.includes(name)
  const cells: Cell[] = []
  await using servers = await startServers()
  const templates = new Map<string, string>()
  const plan = scenarios.flatMap((scenario) =>
    scenario.contenders.filter(isAsked).map((contender) => ({ scenario, contender })),
  )
  const progress = new Progress(plan.length * size.rounds)
  for (let round = 1; round <= size.rounds; round += 1) {
    for (const { scenario, contender } of plan) {
      progress.now(`${scenario.title}: ${contender}`)
      const cell = { scenario: scenario.name, contender, round, ...(await play(scenario, contender)) }
      cells.push(cell)
      progress.done(told(scenario, cell))
    }
  }
  return new Summary(cells)

  async function play(scenario: Scenario, contender: ContenderName): Promise<Pick<Cell, 'figures' | 'failed'>> {
    try {
      const template = scenario.fill && (await filled(servers, templates, scenario, contender, scenario.fill))
      await using stage = await Stage.set(servers, contender, size.cellMs, template)
      return { figures: await scenario.run(stage, size) }
    } catch (error) {
      if (error instanceof DidNotFinish) return { figures: error.figures, failed: error.message }
      return { figures: {}, failed: error instanceof Error ? error.message : String(error) }
    }
  }

  async function filled(
    on: Servers,
    known: Map<string, string>,
    scenario: Scenario,
    contender: ContenderName,
    fill: NonNullable<Scenario['fill']>,
  ): Promise<string> {
    const key = `${scenario.name} ${contender}`
    const made = known.get(key)
    if (made !== undefined) return made
    const stage = await Stage.set(on, contender, FILL_MS)
    await fill(stage, size)
    const name = await stage.keep()
    known.set(key, name)
    return name
  }
}

const PEERS_ALL: ReadonlySet<ContenderName> = new Set(PEERS)

function told({ title, figure, unit }: Scenario, { contender, figures, failed }: Cell): string {
  const value = figures[figure]
  const shown = value === undefined ? '' : ` ${value.toFixed(value < 100 ? 1 : 0)} ${unit}`
  return `${title}: ${contender}${shown}${failed === undefined ? '' : ` (${failed})`}`
}
