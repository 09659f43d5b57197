/** What stands around scripts whose writes are entries knows every command they may call; one that it did not would fail in use. */
import { expect, it } from 'vitest'
import { recordedTexts, scriptTexts } from '../../../src/store/redis/script/scripts.ts'

const plain = scriptTexts()
const recorded = Object.entries(recordedTexts()).filter(([name, text]) => text !== plain[name as keyof typeof plain])

/** Also by the name of a helper that is told which. */
const calledIn = (text: string): readonly string[] => [...text.matchAll(/\b(?:call|many)\('([A-Z]+)'/g)].map(wordIn)

const wordIn = (found: RegExpMatchArray): string => found[1] ?? ''

it.each(recorded)('%s calls what is known to read or to write', (name, text) => {
  const reads = /gmatch\('([A-Z ]+)'/.exec(text)?.[1]?.split(' ') ?? []
  const writes = [...text.matchAll(/\b([A-Z]+) = '(?:first|odd|all)'/g)].map(wordIn)
  const called = calledIn(plain[name as keyof typeof plain])
  expect(called.length).toBeGreaterThan(3)
  expect(called.filter((command) => !reads.includes(command) && !writes.includes(command))).toEqual([])
})

/** What leaves for the ledger or comes back from it is no change that a draft knows. */
const BY_THEMSELVES = ['evict', 'restore']

it('every script that writes what calls have changed is among them', () => {
  const writing = Object.entries(plain).filter(([, text]) => /^\s*write\(name\)/m.test(text))
  const handsOut = ['due', 'unjudged']
  expect(recorded.map(([name]) => name).sort()).toEqual(
    [...writing.map(([name]) => name), ...BY_THEMSELVES].filter((name) => !handsOut.includes(name)).sort(),
  )
})
