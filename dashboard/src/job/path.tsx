/** The path of one job through the machine: where it has been, where it is, and how often it went along each line. */
import { type CSSProperties, type ReactNode, useMemo, useState } from 'react'
import type { JobEvent, State } from '../api/wire.ts'
import { useKeys } from '../frame/keys.ts'
import { middle, type Point } from '../machine/corners.ts'
import { arrow } from '../machine/drawing.tsx'
import { FAMILY } from '../machine/families.ts'
import { COMPACT, type Layout, type Line } from '../machine/layout.ts'
import type { LineName } from '../machine/lines.ts'
import { TALL } from '../machine/tall.ts'
import { Card } from '../parts/card.tsx'
import { Icon } from '../parts/icon.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import { plural } from '../words/format.ts'
import { useMedia } from '../words/media.ts'
import { useWords } from '../words/vocabulary.tsx'
import { pathsOf, type Step } from './moves.ts'

export interface PathProps {
  readonly events: readonly JobEvent[]
  /** How many moves of the path are looked at; undefined for all. */
  readonly move: number | undefined
  readonly onMove: (move: number | undefined, rev: number | undefined) => void
}

export function Path({ events, move: chosen, onMove }: PathProps): ReactNode {
  const paths = pathsOf(events)
  const [generation, setGeneration] = useState<number>()
  const [isDrawn, setDrawn] = useState(false)
  const steps = paths[generation ?? paths.length - 1] ?? []
  const at = Math.min(chosen ?? steps.length, steps.length)
  const isPhone = useMedia('(max-width: 719px)')
  const words = useWords()
  const told = useMemo(() => words.moves(events), [words, events])
  // In a document's words a job has stood at one of those that a state may have.
  const wordOf = ({ to, rev }: Step) => told?.get(rev)?.at(-1)?.to ?? words.state(to)
  const move = (by: number) => {
    const next = Math.max(1, Math.min(steps.length, at + by))
    onMove(next === steps.length ? undefined : next, steps[next - 1]?.rev)
  }
  useKeys({ ',': () => move(-1), '.': () => move(1) })
  if (steps.length === 0) return null
  const seen = steps.slice(0, at)
  const last = seen.at(-1)
  return (
    <Card
      title="Path"
      note={`${plural(steps.length, 'move')}, all of them legal${paths.length > 1 ? `, generation ${generation ?? paths.length - 1}` : ''}`}
      right={
        <>
          {paths.length > 1 ? (
            <select
              aria-label="Generation"
              className="field"
              value={generation ?? paths.length - 1}
              onChange={(event) => {
                setGeneration(Number(event.target.value))
                onMove(undefined, undefined)
              }}
            >
              {paths.map((_, n) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a generation is its number
                <option key={n} value={n}>
                  generation {n}
                </option>
              ))}
            </select>
          ) : null}
          <span className="hidden phone:inline">
            {last === undefined ? '' : `${words.event(last.event)}, rev ${last.rev}`}
          </span>
          <button type="button" className="icon-button" aria-label="The move before" onClick={() => move(-1)}>
            <Icon name="left" />
          </button>
          move {at} of {steps.length}
          <button type="button" className="icon-button" aria-label="The next move" onClick={() => move(1)}>
            <Icon name="right" />
          </button>
        </>
      }
    >
      {isPhone && !isDrawn ? (
        <Chips steps={seen} wordOf={wordOf} />
      ) : (
        <PathDrawing steps={seen} wordOf={wordOf} layout={isPhone ? TALL : COMPACT} />
      )}
      {isPhone ? (
        <button
          type="button"
          className="btn btn-ghost m-2 mt-0"
          aria-pressed={isDrawn}
          onClick={() => setDrawn(!isDrawn)}
        >
          {isDrawn ? 'As icons' : 'As drawing'}
        </button>
      ) : null}
    </Card>
  )
}

const timesOf = (steps: readonly Step[]): ReadonlyMap<LineName, number> => {
  const times = new Map<LineName, number>()
  for (const { line } of steps) if (line !== undefined) times.set(line, (times.get(line) ?? 0) + 1)
  return times
}

interface StepsProps {
  readonly steps: readonly Step[]
  readonly wordOf: (step: Step) => string
}

function PathDrawing({ steps, wordOf, layout }: StepsProps & { readonly layout: Layout }): ReactNode {
  const words = useWords()
  const exact = new Map(steps.map((step) => [step.to, wordOf(step)]))
  const { width, height, lines, rails, nodes, entry, node } = layout
  const times = timesOf(steps)
  const visited = new Set(steps.flatMap(({ from, to }) => [from, to]))
  const present = steps.at(-1)?.to
  const all = Object.entries(lines) as [LineName, Line][]
  // What was taken is drawn over what was not.
  const sorted = [...all.filter(([name]) => !times.has(name)), ...all.filter(([name]) => times.has(name))]
  return (
    <div className="px-4 pb-4">
      <svg
        className={`machine mx-auto block w-full ${layout === TALL ? 'max-w-[440px]' : ''}`}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`The path of this job: ${steps.map(wordOf).join(', ')}`}
      >
        {rails.map(({ d, dashed }) => (
          <path
            key={d}
            className="faint"
            d={d}
            strokeWidth="1.25"
            strokeDasharray={dashed === true ? '3 5' : undefined}
          />
        ))}
        {sorted.map(([name, { d, head, dashed }]) => {
          const className = times.has(name) ? 'taken' : 'faint'
          return (
            <g key={name}>
              <path
                className={className}
                d={d}
                strokeWidth="1.25"
                strokeDasharray={dashed === true ? '3 5' : undefined}
              />
              {head === undefined ? null : (
                <path className={className} d={arrow(head)} strokeWidth="1.6" strokeLinejoin="round" />
              )}
            </g>
          )
        })}
        {steps.some(({ from, line }) => from === 'running' && line !== undefined && ENDINGS.has(line)) ? (
          <path className="taken" d={layout.branch} />
        ) : null}
        <circle cx={entry.x} cy={entry.y} r="4" fill="var(--text)" />
        {all.map(([name, line]) =>
          (times.get(name) ?? 0) > 1 ? <Times key={name} d={line.d} n={times.get(name) ?? 0} /> : null,
        )}
        {(Object.entries(nodes) as [State, Point][]).map(([state, place]) => (
          <PathNode
            key={state}
            state={state}
            at={place}
            size={node}
            isVisited={visited.has(state)}
            isPresent={state === present}
            word={exact.get(state) ?? words.state(state).replace(/ \/ .*/, ' …')}
          />
        ))}
      </svg>
    </div>
  )
}

/** They leave where other states end, too: what ran goes there first. */
const ENDINGS: ReadonlySet<LineName> = new Set(['fail', 'bury', 'expire', 'cancel'])

const BADGE = { width: 24, height: 16 }

/** How often it was taken. */
function Times({ d, n }: { readonly d: string; readonly n: number }): ReactNode {
  const place = middle(d)
  // Beside a short one: on it, it would hide where it leads to.
  const x = place.x + (place.length < BADGE.width * 1.5 ? BADGE.width * 0.75 : 0)
  const { y } = place
  return (
    <g>
      <rect x={x - BADGE.width / 2} y={y - BADGE.height / 2} {...BADGE} rx={BADGE.height / 2} fill="var(--text)" />
      <text x={x} y={y + 3.5} fontSize="10" fontWeight="600" textAnchor="middle" fill="var(--surface)">
        ×{n}
      </text>
    </g>
  )
}

interface PathNodeProps {
  readonly state: State
  readonly at: Point
  readonly size: { readonly width: number; readonly height: number; readonly radius: number }
  readonly isVisited: boolean
  readonly isPresent: boolean
  readonly word: string
}

function PathNode({ state, at, size, isVisited, isPresent, word }: PathNodeProps): ReactNode {
  const { width, height, radius } = size
  const x = at.x - width / 2
  const y = at.y - height / 2
  const family = FAMILY[state]
  return (
    <g style={{ '--hole': isVisited ? `var(--${family}-bg)` : 'var(--surface)' } as CSSProperties}>
      {isPresent ? (
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
        fill={isVisited ? `var(--${family}-bg)` : 'var(--surface)'}
        stroke={isVisited ? `color-mix(in srgb, var(--${family}) 40%, var(--surface))` : 'var(--line)'}
      />
      <g opacity={isVisited ? 1 : 0.45}>
        <StateIcon state={state} size={14} x={x + 8} y={at.y - 7} />
      </g>
      <text
        x={x + 28}
        y={at.y + 4}
        fontSize="11.5"
        fontWeight={isVisited ? 500 : 400}
        fill={isVisited ? 'var(--text)' : 'var(--text-3)'}
      >
        {word}
      </text>
    </g>
  )
}

/** On a phone: a row of icons that wraps. */
function Chips({ steps, wordOf }: StepsProps): ReactNode {
  return (
    <ol className="flex flex-wrap gap-2 px-4 pb-4">
      {steps.map((step, n) => (
        <li
          key={step.rev}
          title={wordOf(step)}
          className="flex size-7 items-center justify-center rounded-full"
          style={
            {
              background: `var(--${FAMILY[step.to]}-bg)`,
              outline: n === steps.length - 1 ? `2px solid var(--${FAMILY[step.to]})` : undefined,
              '--hole': `var(--${FAMILY[step.to]}-bg)`,
            } as CSSProperties
          }
        >
          <StateIcon state={step.to} />
          <span className="sr-only">{wordOf(step)}</span>
        </li>
      ))}
    </ol>
  )
}
