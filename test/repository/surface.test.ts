import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { filesLike } from '../support/source.ts'

/** The reports are compared with the code elsewhere (docs.test.ts): what they say is so. */
const reports = filesLike('docs/api/*.md').map((path) => readFileSync(path, 'utf8'))
const main = readFileSync('docs/api/pawl.md', 'utf8')

/** Where the words are declared that commands, events, records and handlers are spoken of in. */
const VOCABULARY =
  /^(core\/.*|engine\/engine|worker\/(context|spawn)|gateway\/(caps|contract\/(schemas|token-schema))|library\/(pawl|job-handle|define-job))$/

describe('the public surface', () => {
  it('is small where everybody looks', () => {
    const [, count = ''] = /^(\d+) names can be imported\.$/m.exec(main) ?? []
    expect(Number(count)).toBeGreaterThan(20)
    expect(Number(count)).toBeLessThanOrEqual(40)
  })

  it('has nothing behind it but vocabulary: no part of the machinery, no adapter, no driver', () => {
    const homes = reports.flatMap((text) =>
      [...text.matchAll(/not to be imported, in `([^`]+)`/g)].map(([, home]) => home),
    )
    expect(homes.length).toBeGreaterThan(5)
    expect(homes.filter((home) => !VOCABULARY.test(home ?? ''))).toEqual([])
  })
})
