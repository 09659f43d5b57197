import { describe, expect, it } from 'vitest'
import { filesLike } from '../support/source.ts'

/** Words under which anything may be filed, so that nothing can be found. ("job-types" says what it holds.) */
const SAYS_NOTHING = /^(.*-)?(utils?|helpers?|misc|managers?|stuff)$|^(common|shared|types?|interfaces?|lib|base)$/

const paths = filesLike('{src,test,scripts,bench,examples}/**/*.{ts,mjs,sql}')

describe('names', () => {
  it('say what is inside, for every file and folder', () => {
    expect(paths.length).toBeGreaterThan(20)
    expect(paths.filter((path) => wordsOf(path).some((word) => SAYS_NOTHING.test(word)))).toEqual([])
  })

  it('are spelt in one way: lower case, hyphens', () => {
    const odd = paths.filter((path) => !path.split('/').every((part) => /^[a-z0-9]+([-._][a-z0-9]+)*$/.test(part)))
    expect(odd).toEqual([])
  })
})

function wordsOf(path: string): string[] {
  return path
    .replace(/\.\w+$/, '')
    .split('/')
    .flatMap((part) => [part, ...part.split('.')])
}
