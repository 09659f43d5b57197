import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { pages } from '../../scripts/docs.ts'

const written = await pages()

describe('generated pages', () => {
  it.each(written)('$path says what the code says (else: npm run docs)', ({ path, text }) => {
    expect(existsSync(path) ? readFileSync(path, 'utf8') : undefined).toBe(text)
  })
})
