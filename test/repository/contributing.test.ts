import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { interfaceIn } from '../../scripts/docs/option-interfaces.ts'
import { OBSERVATION_TYPES, TRANSITION_TYPES } from '../../src/core/event.ts'
import { STATES } from '../../src/core/job.ts'
import { REFUSALS } from '../../src/core/refusal.ts'
import { COMMANDS } from '../../src/core/verb.ts'
import { filesLike, withoutComments } from '../support/source.ts'

const guide = readFileSync('CONTRIBUTING.md', 'utf8')

/** The place of a thing is a file that knows every one of its kind; or, with `<kind>` in its name, a file for each. */
interface Recipe {
  /** Its title in the guide. */
  readonly title: string
  readonly words: readonly string[]
  /** Files that know every word by chance, each with the reason why nothing is to be done there. */
  readonly chance?: Readonly<Record<string, string>>
}

/** Fields that have another name, or another source, somewhere on their way. */
const NOT_HANDED_ON = {
  alias: 'producers call it id',
  input: 'it is a body',
  parentId: 'a child cannot choose its parent',
}

/** What `Enqueue` may carry and `Spec` keeps, as they are declared. */
function fields(): readonly string[] {
  const optional = membersOf('Enqueue', 'src/core/command.ts').filter(({ optional }) => optional)
  const kept = membersOf('Spec', 'src/core/job.ts').map(({ name }) => name)
  return optional.map(({ name }) => name).filter((name) => kept.includes(name) && !(name in NOT_HANDED_ON))
}

function membersOf(name: string, path: string) {
  const found = interfaceIn(readFileSync(path, 'utf8'), name, path)?.members ?? []
  expect(found.length).toBeGreaterThan(5)
  return found
}

/** Folders of `src/store` with a module of their own name, but for the suite that proves the others. */
function stores(): readonly string[] {
  const names = filesLike('src/store/*/*.ts').map((path) => /^src\/store\/(\w+)\/\1\.ts$/.exec(path)?.[1])
  return names.filter((name) => name !== undefined && name !== 'conformance') as readonly string[]
}

const RECIPES: readonly Recipe[] = [
  { title: '**a command**', words: COMMANDS },
  { title: '**a state**', words: STATES },
  { title: '**an event**', words: [...TRANSITION_TYPES, ...OBSERVATION_TYPES] },
  { title: '**a refusal**', words: Object.keys(REFUSALS) },
  { title: '## Add a field to a job', words: fields() },
  { title: '## Add a store', words: stores() },
]

/** The list items after a title that begin with a path. */
function placesIn(text: string, title: string): readonly string[] {
  const [, after = ''] = text.split(`\n${title}\n`)
  const [section = ''] = after.split(/^(?:##|\*\*)/m)
  return [...section.matchAll(/^- `([^`]+)`: \S/gm)].map(([, path = '']) => path)
}

const spoken = (path: string): string => {
  const text = readFileSync(path, 'utf8')
  return path.endsWith('.ts') ? withoutComments(text) : text
}

const unknownTo = (path: string, words: readonly string[]): readonly string[] => {
  const text = spoken(path)
  return words.filter((word) => !new RegExp(`\\b${word}\\b`).test(text))
}

/** `deadLetter` is in `dead-letter.ts`. */
const kebab = (word: string): string => word.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** What is wrong with a list: `path: why`. */
function wrongWith(places: readonly string[], words: readonly string[]): readonly string[] {
  return places.flatMap((path) => {
    if (!path.includes('<')) {
      if (!existsSync(path)) return [`${path}: is not there`]
      return unknownTo(path, words).map((word) => `${path}: does not know ${word}`)
    }
    const files = words.map((word) => path.replaceAll(/<\w+>/g, kebab(word)))
    return files.filter((file) => !existsSync(file)).map((file) => `${file}: is not there`)
  })
}

describe.each(RECIPES)('the places of $title', ({ title, words, chance = {} }) => {
  const places = placesIn(guide, title)

  it('are all in the guide, and each of them knows every one', () => {
    expect(words.length).toBeGreaterThan(2)
    expect(places.length).toBeGreaterThan(2)
    expect(wrongWith(places, words)).toEqual([])
  })

  it('are those of the code: no file of it knows every one and is not in the guide', () => {
    const knowing = filesLike('{src,scripts}/**/*.{ts,sql}').filter((path) => unknownTo(path, words).length === 0)
    expect(knowing.filter((path) => !places.includes(path) && !(path in chance))).toEqual([])
  })

  it('would be missed, if one more were known to nobody', () => {
    const wrong = wrongWith(places, [...words, 'neverHeardOf'])
    for (const path of places) expect(wrong.join('\n')).toContain(path.replace(/<.*/, ''))
  })
})

describe('a field of a job', () => {
  it('that is called otherwise on its way is named with the reason', () => {
    const kept = membersOf('Spec', 'src/core/job.ts').map(({ name }) => name)
    for (const name of Object.keys(NOT_HANDED_ON)) expect(kept).toContain(name)
  })
})
