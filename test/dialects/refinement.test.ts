import { describe, expect, it } from 'vitest'
import type { Dialect } from '../../src/core/dialects/dialect.ts'
import { LONGEST_PATH, refinement } from '../../src/core/dialects/refinement.ts'
import { DIALECTS } from '../../src/core/dialects/registry.ts'
import { dialectsReport } from '../../src/core/dialects/report.ts'
import { DIALECT_NAMES } from '../../src/core/policy.ts'
import { edges } from '../../src/core/transitions.ts'
import { TRANSCRIPTS } from './transcripts.ts'

const all = refinement()

describe.each([...DIALECT_NAMES])('%s refines our machine', (name) => {
  const { moves, settled, cells, words } = TRANSCRIPTS[name]
  const mine = all.filter(({ dialect }) => dialect === name)

  it('none missing: every state change we can make has a path', () => {
    const covered = new Set(mine.map(({ edge }) => `${edge.event} ${edge.from} ${edge.to}`))
    expect([...covered].sort()).toEqual(
      edges()
        .map(({ event, from, to }) => `${event} ${from} ${to}`)
        .sort(),
    )
    expect(mine.filter(({ steps, faults }) => steps === undefined || faults.length > 0)).toEqual([])
  })

  it.each(mine.map((one) => [one.edge.event, one.edge.from, one.edge.to, one.reach.before, one] as const))(
    '%s %s → %s (%s)',
    (event, _from, _to, _reach, { steps = [], fresh, from, to }) => {
      let at = fresh ? 'none' : from
      for (const step of steps) {
        expect(step.from).toBe(at)
        const pair = `${step.from}>${step.to}`
        expect(step.from === step.to || moves.includes(pair) || settled.includes(pair)).toBe(true)
        if (step.word !== undefined) {
          expect(words).toContain(step.word)
          // An error leads to two states; which, the line itself says.
          if (step.word !== 'error') expect(cells[`${step.from} ${step.word}`]).toBe(step.to)
        }
        at = step.to
      }
      expect(at).toBe(to)
      expect(steps.length).toBeLessThanOrEqual(LONGEST_PATH)
      // One event of ours, so at most one move that is not implied; and that one is told by the event's own word.
      const own = steps.filter(({ implied }) => !implied).map(({ word }) => word)
      if (own.length > 0) expect(own).toEqual([DIALECTS[name].tells[event] ?? 'a word of its own'])
    },
  )
})

describe('the refinement', () => {
  const without = (dialect: Dialect, from: string, to: string): Dialect => ({
    ...dialect,
    table: dialect.table.filter((row) => row.from !== from || row.to !== to),
  })

  it('notices a document that cannot tell something', () => {
    const broken = refinement([without(DIALECTS['001'], 'running', 'stalled')])
    const missing = broken.filter(({ faults }) => faults.includes('missing')).map(({ edge }) => edge.event)
    expect(new Set(missing)).toEqual(new Set(['stalled', 'waiting', 'retry_scheduled', 'released', 'compensating']))
  })

  it('notices a document that needs too many moves', () => {
    const table = [
      ...DIALECTS['001'].table.filter((row) => row.to !== 'stalled'),
      ...['a', 'b', 'c', 'd'].map((to, i) => ({ from: ['running', 'a', 'b', 'c'][i] as string, to, word: to })),
      { from: 'd', to: 'stalled', word: 'stalled' },
      { from: 'claimed', to: 'stalled', word: 'stalled' },
    ]
    const long = refinement([{ ...DIALECTS['001'], table }])
    expect(long.filter(({ edge }) => edge.event === 'waiting').map(({ faults }) => faults)).toEqual([['5 moves']])
  })

  it('is shown for every event in every dialect, and says that nothing is missing', () => {
    const text = dialectsReport()
    expect(text).toContain(`${edges().length} state changes in 6 dialects`)
    expect(text).toContain('Missing or illegal: 0.')
    for (const name of DIALECT_NAMES) expect(text).toContain(`### ${name}: ${DIALECTS[name].title}`)
    expect(text.split('\n').filter((line) => line.startsWith('| `reopened` |'))).toHaveLength(8 * DIALECT_NAMES.length)
    expect(text).not.toContain('**missing**')
  })

  it('says how long a lease is that is really granted, and what a bound job may not ask for', () => {
    const text = dialectsReport()
    for (const [name, seconds] of [
      ['000A', 31],
      ['001', 300],
      ['003', 21],
      ['004', 90],
    ] as const)
      expect([name, text.slice(text.indexOf(`### ${name}`))]).toEqual([
        name,
        expect.stringMatching(`A lease is granted for ${seconds} s`),
      ])
    for (const name of DIALECT_NAMES)
      for (const { field, why } of DIALECTS[name].forbids) expect(text).toContain(`| ${name} | \`${field}\` | ${why} |`)
    expect(text).toContain('| 001 | `claimed` | ')
  })

  it('would print what is missing', () => {
    const broken = { ...DIALECTS, '001': without(DIALECTS['001'], 'stalled', 'queued') }
    expect(dialectsReport(broken)).toMatch(/\*\*missing\*\*/)
  })
})
