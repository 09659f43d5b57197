/** The words of ARCHITECTURE: each stands once in its table, and in two tables only where it has stood there for long. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const chapter = /^## The words$([\s\S]*?)^## /m.exec(readFileSync('ARCHITECTURE.md', 'utf8'))?.[1] ?? ''
/** A table for each room, with the words that begin a row or are explained in one. */
const tables = chapter
  .split(/^\| word \| meaning \|$/m)
  .slice(1)
  .map((table) => [...table.matchAll(/\*\*([^*]+)\*\*/g)].map(([, word]) => String(word)))

/** What two rooms say, each of its own things. No other may come, and one that has gone from either must go from here. */
const OF_TWO_ROOMS = ['account', 'entry', 'held', 'pace', 'place', 'policy', 'round', 'session', 'turn']

const twice = (words: readonly string[]) => [...new Set(words.filter((word, at) => words.indexOf(word) !== at))].sort()

it('there is a table of words for each room', () => {
  expect(tables.length).toBeGreaterThanOrEqual(5)
  for (const table of tables) expect(table.length).toBeGreaterThan(5)
})

it('a word has one meaning in its room, and those of two rooms become fewer', () => {
  // Within a room a policy is a job's, and one for admission says at once that it is another thing.
  expect(tables.flatMap(twice)).toEqual(['policy'])
  expect(twice(tables.flat())).toEqual(OF_TWO_ROOMS)
})
