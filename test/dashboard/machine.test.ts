/** The drawing is of the table: every change has a line, every state a place. */
import { describe, expect, it } from 'vitest'
import { LIVE_TYPES } from '../../dashboard/src/api/live-types.ts'
import { undrawn } from '../../dashboard/src/limits/key-lines.ts'
import { FAMILY } from '../../dashboard/src/machine/families.ts'
import { COMPACT, type Layout, WIDE } from '../../dashboard/src/machine/layout.ts'
import { LINES, lineOf } from '../../dashboard/src/machine/lines.ts'
import { TALL } from '../../dashboard/src/machine/tall.ts'
import { EVENT_TYPES } from '../../src/core/event.ts'
import { KEY_MACHINE } from '../../src/core/flow/transitions.ts'
import { STATES, type State } from '../../src/core/job.ts'
import { edges } from '../../src/core/transitions.ts'

/** Lines that several states take, or that no state stands at the beginning of. */
const SHARED = new Set<string>(['fail', 'bury', 'expire', 'cancel', 'deny', 'reopen'])

const touches = ({ nodes, node }: Layout, state: State, { x, y }: { readonly x: number; readonly y: number }) => {
  const [dx, dy] = [Math.abs(x - nodes[state].x), Math.abs(y - nodes[state].y)]
  const [w, h] = [node.width / 2, node.height / 2]
  return (dx <= w && Math.abs(dy - h) < 0.01) || (dy <= h && Math.abs(dx - w) < 0.01)
}

describe('the machine, drawn', () => {
  it('has a line for every change of the table but one, which is told in words', () => {
    const without = edges().filter((edge) => lineOf(edge) === undefined)
    expect(without).toEqual([{ event: 'compensating', from: 'retrying', to: 'queued' }])
  })

  it('has one for every change of a key', () => {
    expect(undrawn(KEY_MACHINE)).toEqual([])
    expect(undrawn({ ...KEY_MACHINE, throttled: { broken: [{ to: 'slow' }] } })).toEqual(['throttled: broken → slow'])
  })

  it('has no line that no change takes', () => {
    const taken = new Set(edges().map(lineOf))
    expect(LINES.filter((line) => !taken.has(line))).toEqual([])
  })

  it.each([
    ['wide', WIDE],
    ['compact', COMPACT],
    ['tall', TALL],
  ])('draws every line, from the state it leaves to the one it leads to, %s', (_, layout) => {
    expect(Object.keys(layout.lines).sort()).toEqual([...LINES].sort())
    // Its arrowhead stands at the border of a state that the change leads to; a line without one joins another.
    const astray = edges().filter((edge) => {
      // Who is reopened and must be let in again goes the way of the others first.
      if (edge.event === 'reopened' && edge.to === 'pending') return false
      const line = lineOf(edge)
      const head = line === undefined ? undefined : layout.lines[line].head
      return head !== undefined && !touches(layout, edge.to, head)
    })
    expect(astray).toEqual([])
    // And it begins at a border, too, but for those that leave where all do that end, are reopened or come in.
    const loose = edges().filter((edge) => {
      const line = lineOf(edge)
      if (line === undefined || edge.from === 'none' || SHARED.has(line)) return false
      const [, x = '', y = ''] = /^M(\S+) ([\d.]+)/.exec(layout.lines[line].d) ?? []
      return !touches(layout, edge.from, { x: Number(x), y: Number(y) })
    })
    expect(loose).toEqual([])
  })

  it.each([
    ['wide', WIDE],
    ['compact', COMPACT],
    ['tall', TALL],
  ])('has a place for every state within its box, and no two in one, %s', (_, { nodes, node, width, height }) => {
    expect(Object.keys(nodes).sort()).toEqual([...STATES].sort())
    const places = Object.values(nodes)
    for (const { x, y } of places) {
      expect(x - node.width / 2).toBeGreaterThanOrEqual(0)
      expect(x + node.width / 2).toBeLessThanOrEqual(width)
      expect(y + node.height / 2).toBeLessThanOrEqual(height)
    }
    for (const [n, a] of places.entries())
      for (const b of places.slice(n + 1))
        expect(Math.abs(a.x - b.x) >= node.width || Math.abs(a.y - b.y) >= node.height).toBe(true)
  })

  it('gives every state a family', () => {
    expect(Object.keys(FAMILY).sort()).toEqual([...STATES].sort())
  })
})

it('a page hears of every event but heartbeats and what retention does', () => {
  const unheard = EVENT_TYPES.filter((type) => !LIVE_TYPES.some((heard) => heard === type))
  expect([...unheard].sort()).toEqual(['compacted', 'heartbeat'])
  expect(LIVE_TYPES.filter((heard) => !EVENT_TYPES.some((type) => type === heard))).toEqual([])
})
