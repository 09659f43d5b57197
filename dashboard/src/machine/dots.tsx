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

export function Dots({ layout }: { readonly layout: Layout }): ReactNode {
  const group = useRef<SVGGElement>(null)
  const told = useRef(new Map<string, number[]>())
  const heard = useCallback(
    ({ type, from, to }: JobEvent) => {
      const place = group.current
      if (to === undefined || place === null || place.childElementCount >= MOST || isStill()) return
      const name = lineOf({ event: type, from: from ?? 'none', to })
      const line = name === undefined ? undefined : layout.lines[name]
      if (name === undefined || line === undefined || !isAllowed(told.current, name)) return
      run(place, line.d, `var(--${FAMILY[to]})`)
    },
    [layout],
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

/** Moved by the browser, one property: React has nothing to do for it. */
function run(place: SVGGElement, d: string, colour: string): void {
  const dot = document.createElementNS(SVG, 'circle')
  dot.setAttribute('r', '3')
  dot.style.fill = colour
  dot.style.offsetPath = `path("${d}")`
  place.append(dot)
  const moving = dot.animate([{ offsetDistance: '0%' }, { offsetDistance: '100%' }], {
    duration: LASTS_MS,
    easing: 'ease-in-out',
  })
  moving.onfinish = () => dot.remove()
}
