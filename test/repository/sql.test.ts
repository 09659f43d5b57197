/** Every function and view of Postgres says who calls it, by which index it finds what it reads, and what it locks. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, it } from 'vitest'
import { statementsIn } from '../../src/store/postgres/connection/statements.ts'
import { ledgerStatementsIn } from '../../src/store/postgres/ledger/statements.ts'
import { filesLike } from '../support/source.ts'

const ADAPTER = 'src/store/postgres'
/** Whoever needs the time calls it: a list would be long and tell nothing. */
const BY_EVERYBODY = ['clock']

const read = (path: string) => readFileSync(path, 'utf8')
const definitions = filesLike(`${ADAPTER}/*/*.sql`)
  .filter((path) => !path.includes('/schema/'))
  .map((path) => {
    const text = read(path)
    const header = /^(?:--.*\n)+/.exec(text)?.[0].replaceAll(/^-- ?/gm, '').replaceAll('\n', ' ') ?? ''
    return { name: basename(path, '.sql'), header, body: text.replaceAll(/--.*$/gm, '') }
  })
type Definition = (typeof definitions)[number]
const modules = filesLike(`${ADAPTER}/**/*.ts`)
  .filter((path) => !path.endsWith('/statements.ts'))
  .map((path) => ({ name: basename(path), text: read(path) }))

const statements = [...Object.entries(statementsIn('pawl')), ...Object.entries(ledgerStatementsIn('pawl'))]

/** A function is called; a view is read from, or walked by its name. */
const mentions = (body: string, { name, body: own }: Definition): boolean =>
  new RegExp(
    own.includes(' or replace view ')
      ? `\\bpawl\\.${name}\\b|\\b(?:from|join) ${name}\\b|'${name}', 'id'`
      : `\\b${name}\\(`,
  ).test(body)

function callersOf(definition: Definition): readonly string[] {
  const { name } = definition
  const asking = statements
    .filter(([, text]) => typeof text === 'string' && text.includes(`"pawl".${name}(`))
    .map(([key]) => key)
  const inSql = definitions
    .filter((each) => each.name !== name && mentions(each.body, definition))
    .map((each) => each.name)
  const inModules = modules
    .filter(({ text }) => asking.some((key) => new RegExp(`tatements\\)?\\.${key}\\b`).test(text)))
    .map((each) => each.name)
  return [...inModules, ...inSql]
}

it.each(definitions)('$name names its callers, its indexes and its locks', ({ header }) => {
  expect(header).toMatch(/\bCaller: .+\. Index: .+\. Locks: .+\./)
})

it.each(definitions.filter(({ name }) => !BY_EVERYBODY.includes(name)))('$name is called by those it names', (each) => {
  const said = /\bCaller: (.*?)\. Index: /.exec(each.header)?.[1] ?? ''
  const named = [...said.matchAll(/`([^`]+)`/g)].map(([, caller]) => caller)
  expect(named.toSorted()).toEqual(callersOf(each).toSorted())
})
