/** Every text can be read, in light and in dark: at least 4.5 to 1 on whatever it may stand on. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const css = readFileSync('dashboard/src/theme.css', 'utf8')
const tokens = new Map(
  [...css.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)].map(
    ([, name = '', light = '', dark = '']) => [name, { light, dark }],
  ),
)
const FAMILIES = ['idle', 'work', 'wait', 'again', 'good', 'bad', 'closed']
const GROUNDS = ['bg', 'surface', 'sunken', 'hover']

function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function contrast(a: string, b: string): number {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x)
  return (high + 0.05) / (low + 0.05)
}

describe.each(['light', 'dark'] as const)('in %s', (theme) => {
  const colour = (name: string): string => tokens.get(name)?.[theme] ?? ''

  it.each(['text', 'text-2', 'text-3'])('%s can be read on paper and on every tint', (text) => {
    for (const ground of [...GROUNDS, ...FAMILIES.map((family) => `${family}-bg`)])
      expect(contrast(colour(text), colour(ground)), ground).toBeGreaterThanOrEqual(4.5)
  })

  it.each(FAMILIES)('%s can be read on paper and on its own tint', (family) => {
    for (const ground of [...GROUNDS, `${family}-bg`])
      expect(contrast(colour(family), colour(ground)), ground).toBeGreaterThanOrEqual(4.5)
  })

  it('the borders of fields and the lines of the machine are seen', () => {
    for (const ground of ['bg', 'surface'])
      expect(contrast(colour('edge'), colour(ground)), ground).toBeGreaterThanOrEqual(3)
  })
})
