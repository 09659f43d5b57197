/**
 * One dot per event, along its line. At most so many at a time: beyond that they are a sample. None in a hidden tab, and none for
 * whoever wants less motion.
 */
import { type ReactNode, useCallback, useRef } from 'react'
import { useLive } from '../api/live.ts'
import type { JobEvent } from '../api/wire.ts'
import { FAMILY } from './families.ts'
import type { Layout } from './layout.ts'
import { lineOf } from './lines.ts'

const LASTS_MS = 600
const PER_LINE_A_SECOND = 8
const MOST = 40
const SVG = 'http://www.w3.org/2000/svg'

/** Of the first job that somebody sees: in four moves it crosses the road in two seconds, one after the other. */
const SLOWLY_MS = 500

export interface DotsProps {
  readonly layout: Layout
  /** Somebody sees it for the first time. */
  readonly isWelcome?: boolean
}

export function Dots({ layout, isWelcome = false }: DotsProps): ReactNode {
  const group = useRef<SVGGElement>(null)
  const told = useRef(new Map<string, number[]>())
  const first = useRef<{ readonly id: string; until: number }>(undefined)
  const heard = useCallback(
    ({ type, from, to, jobId }: JobEvent) => {
      const place = group.current
      if (to === undefined || place === null || place.childElementCount >= MOST || isStill()) return
      const name = lineOf({ event: type, from: from ?? 'none', to })
      const line = name === undefined ? undefined : layout.lines[name]
      if (name === undefined || line === undefined) return
      const dot = { d: line.d, colour: `var(--${FAMILY[to]})` }
      if (isWelcome && first.current === undefined && type === 'enqueued') first.current = { id: jobId, until: 0 }
      if (first.current?.id === jobId) {
        const begin = Math.max(performance.now(), first.current.until)
        first.current.until = begin + SLOWLY_MS
        setTimeout(() => run(place, { ...dot, r: 5, lastsMs: SLOWLY_MS }), begin - performance.now())
      } else if (isAllowed(told.current, name)) run(place, { ...dot, r: 3, lastsMs: LASTS_MS })
    },
    [layout, isWelcome],
  )
  useLive(heard)
  return <g ref={group} />
}

const isStill = (): boolean => document.hidden || matchMedia('(prefers-reduced-motion: reduce)').matches

function isAllowed(told: Map<string, number[]>, name: string): boolean {
  const now = performance.now()
  const recent = (told.get(name) ?? []).filter((at) => now - at < 1_000)
  const isAllowed = recent.length < PER_LINE_A_SECOND
  told.set(name, isAllowed ? [...recent, now] : recent)
  return isAllowed
}

interface Dot {
  readonly d: string
  readonly colour: string
  readonly r: number
  readonly lastsMs: number
}

/** Moved by the browser, one property: React has nothing to do for it. */
function run(place: SVGGElement, { d, colour, r, lastsMs }: Dot): void {
  const dot = document.createElementNS(SVG, 'circle')
  dot.setAttribute('r', String(r))
  dot.style.fill = colour
  dot.style.offsetPath = `path("${d}")`
  place.append(dot)
  const moving = dot.animate([{ offsetDistance: '0%' }, { offsetDistance: '100%' }], {
    duration: lastsMs,
    easing: 'ease-in-out',
  })
  moving.onfinish = () => dot.remove()
}
