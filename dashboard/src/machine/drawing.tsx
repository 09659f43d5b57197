/** The machine, drawn: nodes with counts, lines with rates. Which layout depends on the room; what it says does not. */
import { type CSSProperties, type KeyboardEvent, type ReactNode, useState } from 'react'
import type { State } from '../api/wire.ts'
import { StateIcon } from '../parts/state-icon.tsx'
import { count, rate } from '../words/format.ts'
import { useWords, type Vocabulary } from '../words/vocabulary.tsx'
import type { Point } from './corners.ts'
import { FAMILY } from './families.ts'
import type { Layout, Line, Side } from './layout.ts'
import type { LineName } from './lines.ts'

export interface NodeFacts {
  readonly count: string
  /** The same as a number. */
  readonly n?: number
  /** One small fact at the right. */
  readonly fact?: string | undefined
  readonly title?: string | undefined
}

export interface DrawingProps {
  readonly layout: Layout
  readonly label: string
  readonly nodes: Readonly<Partial<Record<State, NodeFacts>>>
  /** Per minute. */
  readonly rates: Readonly<Partial<Record<LineName, number>>>
  readonly chosen?: State | undefined
  readonly onChoose: (state: State) => void
  readonly line?: LineName | undefined
  readonly onChooseLine: (line: LineName) => void
  readonly children?: ReactNode
}

export function Drawing(props: DrawingProps): ReactNode {
  const { layout, label, nodes, rates, chosen, onChoose, line: chosenLine, onChooseLine, children } = props
  const { width, height, frame, entry, rails } = layout
  const lines = Object.entries(layout.lines) as [LineName, Line][]
  const words = useWords()
  const [pointed, point] = useState<State>()
  const lit = pointed === undefined ? undefined : litBy(pointed, words, nodes)
  return (
    <svg className="machine block w-full" viewBox={`0 0 ${width} ${height}`} role="group" aria-label={label}>
      <rect className="frame" x={frame.x} y={frame.y} width={frame.width} height={frame.height} rx="14" />
      {rails.map((rail) => (
        <path
          key={rail.d}
          className="edge"
          d={rail.d}
          strokeWidth="1.25"
          strokeDasharray={rail.dashed === true ? '3 5' : undefined}
        />
      ))}
      {lines.map(([name, line]) => (
        <Edge
          key={name}
          name={name}
          line={line}
          perMinute={rates[name] ?? 0}
          isChosen={name === chosenLine}
          onChoose={onChooseLine}
        />
      ))}
      <circle cx={entry.x} cy={entry.y} r="5" fill="var(--text)" />
      {lines.map(([name, { label: place }]) =>
        place === undefined ? null : (
          <text
            key={name}
            x={place.x}
            y={place.y}
            textAnchor={place.anchor}
            className={`label ${isInside(place, layout) ? '' : 'outside'}`}
          >
            {place.word === undefined ? null : <tspan className="word">{place.word} </tspan>}
            {rate(rates[name] ?? 0)}
          </text>
        ),
      )}
      {layout.notes.map(({ x, y, anchor, word }) => (
        <text key={word} x={x} y={y} textAnchor={anchor} className="label">
          <tspan className="word">{word}</tspan>
        </text>
      ))}
      {children}
      {(Object.entries(layout.nodes) as [State, Point][]).map(([state, at]) => (
        <Node
          key={state}
          state={state}
          at={at}
          layout={layout}
          facts={nodes[state]}
          isChosen={chosen === state}
          onChoose={onChoose}
          lit={lit}
          onPoint={point}
        />
      ))}
    </svg>
  )
}

/** A word of a document may stand for several states: those, and how many jobs that are together. */
interface Lit {
  readonly word: string
  readonly states: readonly State[]
  readonly sum: string
}

function litBy(state: State, words: Vocabulary, nodes: DrawingProps['nodes']): Lit | undefined {
  const word = words.state(state)
  const states = words.statuses.find(([each, among]) => each === word && among.includes(state))?.[1]
  if (states === undefined) return undefined
  const sum = states.reduce((total, each) => total + (nodes[each]?.n ?? 0), 0)
  return { word, states, sum: count(sum) }
}

const isInside = ({ x, y }: Point, { frame }: Layout): boolean =>
  x > frame.x && x < frame.x + frame.width && y > frame.y && y < frame.y + frame.height

/** As wide as there is traffic on it, by tens. */
const widthOf = (perMinute: number): number => 1.25 + 0.85 * Math.log10(1 + perMinute)

/** A minute: what a line shows no more than eight dots a second of. */
const SAMPLED = 480

interface EdgeProps {
  readonly name: LineName
  readonly line: Line
  readonly perMinute: number
  readonly isChosen: boolean
  readonly onChoose: (line: LineName) => void
}

function Edge({ name, line, perMinute, isChosen, onChoose }: EdgeProps): ReactNode {
  const choose = () => onChoose(name)
  return (
    <g
      role="button"
      tabIndex={0}
      aria-pressed={isChosen}
      aria-label={`the way “${name}”, ${rate(perMinute)}`}
      className={`way cursor-pointer ${isChosen ? 'chosen' : ''}`}
      onClick={choose}
      onKeyDown={pressed(choose)}
    >
      <title>{`${name}, ${rate(perMinute)}${perMinute > SAMPLED ? '; of so many its dots are a sample' : ''}`}</title>
      <path className="around" d={line.d} />
      <path
        className="edge"
        d={line.d}
        strokeWidth={widthOf(perMinute)}
        strokeDasharray={line.dashed === true ? '3 5' : undefined}
      />
      {line.head === undefined ? null : (
        <path className="edge" d={arrow(line.head)} strokeWidth="1.6" strokeLinejoin="round" />
      )}
    </g>
  )
}

/** What a button of the browser's own does by itself. */
const pressed = (act: () => void) => (event: KeyboardEvent) => {
  if (event.key !== 'Enter' && event.key !== ' ') return
  event.preventDefault()
  act()
}

const HEADS: Readonly<Record<Side, readonly [number, number, number, number, number, number]>> = {
  right: [-6.5, -4, -2, 0, -6.5, 4],
  left: [6.5, -4, 2, 0, 6.5, 4],
  down: [-4, -6.5, 0, -2, 4, -6.5],
  up: [-4, 6.5, 0, 2, 4, 6.5],
}

/** An open arrowhead that ends before the node's border. */
export function arrow({ x, y, to }: Point & { readonly to: Side }): string {
  const [ax, ay, bx, by, cx, cy] = HEADS[to]
  return `M${x + ax} ${y + ay}L${x + bx} ${y + by}L${x + cx} ${y + cy}`
}

interface NodeProps {
  readonly state: State
  readonly at: Point
  readonly layout: Layout
  readonly facts: NodeFacts | undefined
  readonly isChosen: boolean
  readonly onChoose: (state: State) => void
  /** Those that share a word which is pointed at. */
  readonly lit: Lit | undefined
  readonly onPoint: (state: State | undefined) => void
}

/** Letters of 16 and of 11 px, about: what has no room beside the count is in the tooltip and the table. */
const hasRoom = ({ count, fact = '' }: NodeFacts, { node }: Pick<Layout, 'node'>): boolean =>
  34 + count.length * 10 + 8 + fact.length * 6 + 10 <= node.width

/** Our word stands beside the document's, or beside the count; where neither has room it is in the tooltip. */
function ownPlace(word: string, state: State, facts: NodeFacts | undefined, { node }: Layout): number | undefined {
  const own = state.length * 5.4 + 10
  if (34 + word.length * 6.6 + 6 + own <= node.width) return 19
  const isTaken = facts?.fact !== undefined && facts !== undefined && hasRoom(facts, { node })
  return !isTaken && 34 + (facts?.count ?? '–').length * 10 + 6 + own <= node.width ? 40 : undefined
}

function Node({ state, at, layout, facts, isChosen, onChoose, lit, onPoint }: NodeProps): ReactNode {
  const words = useWords()
  const { width, height, radius } = layout.node
  const x = at.x - width / 2
  const y = at.y - height / 2
  const family = FAMILY[state]
  const word = words.state(state)
  // A word that differs by its capitals only is the same word.
  const own = word.toLowerCase() === state.replace('_', ' ') || word.toLowerCase() === state ? '' : `(${state})`
  const ownY = own === '' ? undefined : ownPlace(word, state, facts, layout)
  // As it is written, in this order: whoever speaks what they see presses it. What is not written follows.
  const written = [
    word,
    facts?.count ?? '–',
    ownY === undefined ? '' : state,
    facts?.fact,
    ownY === undefined ? own : '',
  ]
  const isLit = lit?.states.includes(state) === true
  const sharing = isLit && lit.states.length > 1 ? `${lit.word} in all: ${lit.sum}` : undefined
  return (
    <g
      role="button"
      tabIndex={0}
      aria-pressed={isChosen}
      aria-label={written.filter((part) => part !== undefined && part !== '').join(' ')}
      className="cursor-pointer"
      style={{ '--hole': `var(--${family}-bg)` } as CSSProperties}
      onClick={() => onChoose(state)}
      onKeyDown={pressed(() => onChoose(state))}
      onPointerEnter={() => onPoint(state)}
      onPointerLeave={() => onPoint(undefined)}
      onFocus={() => onPoint(state)}
      onBlur={() => onPoint(undefined)}
    >
      <title>
        {[facts?.title ?? word, own === '' ? undefined : `pawl: ${state}`, facts?.fact, sharing]
          .filter((part) => part !== undefined)
          .join('; ')}
      </title>
      {isChosen || (isLit && lit.states.length > 1) ? (
        <rect
          x={x - 3.5}
          y={y - 3.5}
          width={width + 7}
          height={height + 7}
          rx={radius + 3.5}
          fill="none"
          stroke={`var(--${family})`}
          strokeWidth="2"
        />
      ) : null}
      <rect
        x={x}
        y={y}
        width={width}
        height={height}
        rx={radius}
        fill={`var(--${family}-bg)`}
        stroke={`color-mix(in srgb, var(--${family}) 32%, var(--surface))`}
      />
      <StateIcon state={state} x={x + 11} y={y + 8} />
      <text x={x + 34} y={y + 20} fontSize="12" fill="var(--text-2)">
        {`${word} `}
      </text>
      <text x={x + 34} y={y + 41} fontSize="16" fontWeight="600" fill="var(--text)">
        {`${facts?.count ?? '–'} `}
      </text>
      {ownY === undefined ? null : (
        <text x={x + width - 10} y={y + ownY} fontSize="10" textAnchor="end" fill="var(--text-2)">
          {`${state} `}
        </text>
      )}
      {facts?.fact === undefined || !hasRoom(facts, layout) ? null : (
        <text x={x + width - 10} y={y + 40} fontSize="11" textAnchor="end" fill="var(--text-2)">
          {facts.fact}
        </text>
      )}
    </g>
  )
}
