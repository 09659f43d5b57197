/** Small multiples of horizontal bars: one picture per scenario, pawl in colour, a thin line for the spread. */
export interface Chart {
  readonly title: string
  readonly unit: string
  readonly bars: readonly {
    readonly label: string
    readonly value: number
    readonly least: number
    readonly most: number
    readonly text: string
  }[]
}

const WIDTH = 440
const LABEL = 116
const TEXT = 62
const ROW = 20
const HEAD = 44
const GAP = 16
const COLUMNS = 2

export function svg(charts: readonly Chart[]): string {
  const tops = Array.from({ length: COLUMNS }, () => 8)
  const drawn = charts.map((chart, i) => {
    const column = i % COLUMNS
    const top = tops[column] ?? 0
    tops[column] = top + HEAD + chart.bars.length * ROW + GAP
    return draw(chart, column * WIDTH, top)
  })
  const [width, height] = [WIDTH * COLUMNS, Math.max(...tops)]
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="Helvetica, Arial, sans-serif" font-size="12">
<title>pawl beside its peers</title>
<rect width="100%" height="100%" fill="#ffffff"/>
${drawn.join('\n')}
</svg>
`
}

function draw({ title, unit, bars }: Chart, x: number, y: number): string {
  const most = Math.max(...bars.map((bar) => bar.most), Number.MIN_VALUE)
  const scale = (WIDTH - LABEL - TEXT - 12) / most
  const rows = bars.map(({ label, value, least, most: upper, text }, i) => {
    const top = HEAD + i * ROW
    const middle = top + (ROW - 6) / 2
    const end = LABEL + Math.max(value, upper) * scale
    const bold = label.startsWith('pawl') ? ' font-weight="bold"' : ''
    return `<text x="${LABEL - 8}" y="${top + 11}" text-anchor="end" fill="#212529"${bold}>${escaped(label)}</text>
<rect x="${LABEL}" y="${top}" width="${Math.max(1, value * scale).toFixed(1)}" height="${ROW - 6}" fill="${colourOf(label)}"/>
<path d="M${(LABEL + least * scale).toFixed(1)} ${middle}H${(LABEL + upper * scale).toFixed(1)}" stroke="#212529" stroke-width="1"/>
<text x="${(end + 6).toFixed(1)}" y="${top + 11}" fill="#212529"${bold}>${escaped(text)}</text>`
  })
  return `<g transform="translate(${x} ${y})">
<text x="${LABEL}" y="18" font-size="13" font-weight="bold" fill="#212529">${escaped(title)}</text>
<text x="${LABEL}" y="34" font-size="11" fill="#495057">${escaped(unit)}</text>
${rows.join('\n')}
</g>`
}

/** The limit is no contender, and looks like none. */
function colourOf(label: string): string {
  if (label.startsWith('pawl')) return '#0b7285'
  return label === 'bare-sql' ? '#dee2e6' : '#adb5bd'
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
