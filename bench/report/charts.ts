import type { Scenario } from '../scenario.ts'
import type { Summary } from '../summary.ts'
import type { Chart } from './svg.ts'
import { number } from './tables.ts'

const CHARTED = ['bulk-enqueue', 'single-enqueue-64', 'drain-1', 'drain-2', 'together', 'latency']

export function charts(summary: Summary, scenarios: readonly Scenario[]): readonly Chart[] {
  return scenarios
    .filter(({ name }) => CHARTED.includes(name))
    .map(({ name, title, unit, figure, better, contenders }) => ({
      title,
      unit: `${unit}, ${better} is better`,
      bars: contenders.flatMap((label) => {
        const measured = summary.of(name, label, figure)
        if (measured === undefined) return []
        return [
          { label, value: measured.median, least: measured.least, most: measured.most, text: number(measured.median) },
        ]
      }),
    }))
    .filter(({ bars }) => bars.length > 0)
}
