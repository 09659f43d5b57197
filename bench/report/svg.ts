/** Small multiples of horizontal bars: one picture per scenario, pawl first and in colour. */
export interface Chart {
  readonly title: string
  readonly bars: readonly { readonly label: string; readonly value: number; readonly text: string }[]
}

const WIDTH = 420
const LABEL = 120
const TEXT = 70
const ROW = 18
const GAP = 30
const COLUMNS = 2

export function svg(charts: readonly Chart[]): string {
  const heights = charts.map(({ bars }) => bars.length * ROW + GAP + 14)
  const tops = [0, 0]
  const places = heights.map((height, i) => {
    const column = i % COLUMNS
    const top = tops[column] ?? 0
    tops[column] = top + height
    return { x: column * WIDTH, y: top }
  })
  const drawn = charts.map((chart, i) => draw(chart, places[i] ?? { x: 0, y: 0 })).join('\n')
  const size = `width="${WIDTH * COLUMNS}" height="${Math.max(...tops)}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} viewBox="0 0 ${WIDTH * COLUMNS} ${Math.max(...tops)}" font-family="sans-serif" font-size="12">
<title>pawl beside its peers</title>
<rect width="100%" height="100%" fill="#ffffff"/>
${drawn}
</svg>
`
}

function draw({ title, bars }: Chart, { x, y }: { readonly x: number; readonly y: number }): string {
  const most = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE)
  const room = WIDTH - LABEL - TEXT - 20
  const rows = bars.map(({ label, value, text }, i) => {
    const top = GAP + i * ROW
    const length = Math.max(1, (value / most) * room)
    const colour = label.startsWith('pawl') ? '#0b7285' : label === 'bare-sql' ? '#adb5bd' : '#868e96'
    return `<text x="${LABEL - 6}" y="${top + 12}" text-anchor="end" fill="#212529">${escaped(label)}</text>
<rect x="${LABEL}" y="${top + 2}" width="${length.toFixed(1)}" height="${ROW - 5}" fill="${colour}"/>
<text x="${(LABEL + length + 5).toFixed(1)}" y="${top + 12}" fill="#495057">${escaped(text)}</text>`
  })
  return `<g transform="translate(${x} ${y})">
<text x="${LABEL}" y="20" font-weight="bold" fill="#212529">${escaped(title)}</text>
${rows.join('\n')}
</g>`
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
