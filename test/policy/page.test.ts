/** What docs/policy.md shows is what examples/policies has, which test/cli/policy.test.ts runs; its lists are the code's. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { FACT_TYPES } from '../../src/policy/facts.ts'
import { DECISIONS } from '../../src/policy/rule.ts'

const page = readFileSync('docs/policy.md', 'utf8')

describe('docs/policy.md', () => {
  it.each(['chat.yaml', 'chat.cases.yaml'])('shows %s as it is run', (name) => {
    expect(page).toContain(`# policies/${name}\n${readFileSync(`examples/policies/${name}`, 'utf8')}\`\`\``)
  })

  it('names every decision and every field', () => {
    for (const name of [...DECISIONS, ...Object.keys(FACT_TYPES)]) expect(page).toContain(`\`${name}\``)
  })
})
