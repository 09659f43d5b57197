import { describe, expect, it } from 'vitest'
import { deriveDialect } from '../../src/core/dialects/derive.ts'
import { DIALECTS, dialectNamed } from '../../src/core/dialects/registry.ts'
import { STATES } from '../../src/core/job.ts'
import { DIALECT_NAMES, type DialectName } from '../../src/core/policy.ts'
import { MATRIX_003, TRANSCRIPTS } from './transcripts.ts'

/** Every pair of statuses of every document, and whether it is a move, a settled one, or none. */
const PAIRS = DIALECT_NAMES.flatMap((name) => {
  const { statuses, moves, settled } = TRANSCRIPTS[name]
  return ['none', ...statuses].flatMap((from) =>
    statuses
      .filter((to) => to !== from)
      .map((to): [DialectName, string, string, string] => {
        const pair = `${from}>${to}`
        return [name, from, to, moves.includes(pair) ? 'legal' : settled.includes(pair) ? 'settled' : 'illegal']
      }),
  )
})

/** Every cell of statuses × words of every document. A `queued` job of 000A has no log of its own. */
const CELLS = DIALECT_NAMES.flatMap((name) => {
  const { reaching, words, cells } = TRANSCRIPTS[name]
  return Object.keys(reaching).flatMap((from) =>
    words.map((word): [DialectName, string, string, string] => [name, from, word, cells[`${from} ${word}`] ?? '—']),
  )
})

describe('the tables of the documents, every pair of states', () => {
  it.each(PAIRS)('%s: %s → %s is %s', (name, from, to, expected) => {
    const rows = DIALECTS[name].table.filter((row) => row.from === from && row.to === to)
    const own = rows.filter((row) => row.settled === undefined)
    const found = own.length > 0 ? 'legal' : rows.length > 0 ? 'settled' : 'illegal'
    expect(found).toBe(expected)
  })
})

describe('the tables of the documents, every state × event', () => {
  it.each(CELLS)('%s: %s × %s → %s', (name, from, word, to) => {
    const { reaching } = TRANSCRIPTS[name]
    const before = reaching[from] ?? []
    const start = deriveDialect(name, before)
    expect(start).toMatchObject({ status: from === 'none' ? undefined : from, violations: [] })

    const { log } = DIALECTS[name]
    const entry = { [log.word[0] as string]: word, ...(word === log.claim ? { attempt: 2 } : {}) }
    const { status, violations } = deriveDialect(name, [...before, entry])
    const cell = violations.filter(({ rule }) => rule === 'illegal_move' || rule === 'after_the_end')
    if (to === '—') {
      expect(cell).toMatchObject([{ line: before.length + 1 }])
      // 003 obeys even so, the others do not.
      if (name !== '003') expect(status).toBe(from === 'none' ? undefined : from)
    } else {
      expect(cell).toEqual([])
      expect(status).toBe(to)
    }
  })

  it('covers all 90 cells of 003', () => {
    const rows = Object.values(MATRIX_003.rows)
    expect(rows).toHaveLength(9)
    expect(rows.flat()).toHaveLength(90)
    expect(CELLS.filter(([name]) => name === '003')).toHaveLength(90)
  })
})

describe.each([...DIALECT_NAMES])('the data of %s', (name) => {
  const dialect = DIALECTS[name]
  const transcript = TRANSCRIPTS[name]

  it('has the states and words of the document and no others', () => {
    expect([...dialect.statuses].sort()).toEqual([...transcript.statuses].sort())
    const words = new Set(dialect.table.filter((row) => row.deriveOnly === undefined).map(({ word }) => word))
    words.delete(undefined)
    expect([...words].sort()).toEqual([...transcript.words].sort())
  })

  it('shows each of our states by one of its own', () => {
    for (const state of STATES) {
      const shown = dialect.shows[state]
      const all = typeof shown === 'string' ? [shown] : Object.values(shown)
      for (const status of all) expect(transcript.statuses).toContain(status)
    }
    for (const status of dialect.ended)
      expect(dialect.table.filter(({ from }) => from === status).length).toBeLessThan(2)
  })

  it('tells our events by its own words', () => {
    const told = [...Object.values(dialect.tells), ...Object.values(dialect.notes).flat()]
    for (const word of told) expect(transcript.words).toContain(word)
  })
})

describe('the name of a dialect', () => {
  it.each([
    ['000', '000A'],
    ['000a', '000A'],
    ['000B', '000B'],
    ['003', '003'],
    ['005', undefined],
    ['', undefined],
    ['__proto__', undefined],
  ])('%s means %s', (text, name) => {
    expect(dialectNamed(text)).toBe(name)
  })
})
