/**
 * The functions and views: a file each, beside the TypeScript that calls them, re-applied whole when any of them has
 * changed. One call is one round trip, and the plan is kept by the server whatever pools in between. A function holds a
 * statement, never a rule. Planner switches are attached to whatever reads because the look-up by an index must be the only
 * possible plan, also on a table that was never analyzed, or only while it was empty.
 *
 * Two versions of pawl work on one database during a deploy, so what a function is called with and answers never changes
 * under its name: `create or replace` refuses another answer, and the recorded calls of earlier editions are repeated by a
 * test. What nobody calls any more is dropped by a numbered migration, one edition later.
 */
import { createHash } from 'node:crypto'
import { assert } from '../../../core/assert.ts'
import { type Blueprint, textsOf } from './blueprint.ts'
import { filled } from './constants.ts'
import { inSchema } from './identifiers.ts'

/**
 * The edition of the store's functions and views: code with an earlier one does not put back its own over those of a later one. Raised with the
 * first change after a release, and cut then (`scripts/edition.ts`): code refuses functions of its own edition that are not its own
 * to the letter.
 */
export const EDITION = 4

interface Definition {
  readonly name: string
  readonly kind: 'function' | 'view'
  readonly text: string
  /** Files that must be applied before this one: a view's parts, types of a signature. A function's body is only read when it is called. */
  readonly after: readonly string[]
}

export interface Functions {
  /** All of them for the schema asked for, in an order in which they can be made. */
  readonly sql: string
  readonly checksum: string
}

export function functionsIn(blueprint: Blueprint, schema: string): Functions {
  const text = definitions(blueprint)
    .map((each) => each.text)
    .join('\n')
  const checksum = createHash('sha256').update(text).digest('hex')
  return { sql: inSchema(`set local check_function_bodies = off;\n${text}`, schema), checksum }
}

/**
 * Our functions by who may call them. `granted`: the installation's role; `inner`: nobody but the owner. A function with a
 * search path runs as its owner (`wall.sql`), so what it calls needs no grant; one without runs as its caller, so what it calls
 * is granted too. Every function is in one of the lists: one that is in neither would stay open to everybody.
 */
export function functionNames(blueprint: Blueprint): {
  readonly granted: readonly string[]
  readonly inner: readonly string[]
} {
  const all = definitions(blueprint)
  const granted = new Set<string>()
  const grantCalled = (text: string): void => {
    const called = all.filter(({ name }) => new RegExp(`\\bpawl"?\\.${name}\\(`).test(text) && !granted.has(name))
    for (const { name } of called) granted.add(name)
    for (const each of called) if (!each.text.includes('set search_path')) grantCalled(each.text)
  }
  textsOf(blueprint.statements('pawl')).forEach(grantCalled)
  for (const { name, text } of all) if (blueprint.views.includes(name)) grantCalled(text)
  // No views: the wall goes by name, and would shut a function of the owner's that is called like one.
  const names = all.filter(({ kind }) => kind === 'function').map(({ name }) => name)
  return { granted: [...granted], inner: names.filter((name) => !granted.has(name)) }
}

export const viewNames = (blueprint: Blueprint): readonly string[] =>
  definitions(blueprint)
    .filter(({ kind }) => kind === 'view')
    .map(({ name }) => name)

function definitions({ files: filesOf }: Blueprint): readonly Definition[] {
  const files = [...filesOf()].filter(([place]) => !place.startsWith('schema/'))
  return inOrder(files.map(([place, text]) => definition(place, filled(text))))
}

function definition(place: string, text: string): Definition {
  const [, kind, name] = /^create or replace (function|view) pawl\.(\w+)/m.exec(text) ?? []
  assert(kind === 'function' || kind === 'view', `${place} makes a function or a view`)
  assert(name !== undefined && `/${place}`.endsWith(`/${name}.sql`), `${place} is named after what it makes`)
  const outside = text.replaceAll(/--.*$/gm, '').replaceAll(/\$\$[\s\S]*?\$\$/g, '')
  const after = [...outside.matchAll(/\bpawl\.(\w+)/g)]
    .map(([, other]) => other ?? '')
    .filter((other) => other !== name)
  return { name, kind, text, after }
}

function inOrder(all: readonly Definition[]): readonly Definition[] {
  const ordered = new Set<Definition>()
  const visit = (each: Definition, path: readonly Definition[]): void => {
    assert(!path.includes(each), `${each.name} does not come after itself`)
    for (const other of all) if (each.after.includes(other.name)) visit(other, [...path, each])
    ordered.add(each)
  }
  for (const each of all) visit(each, [])
  return [...ordered]
}
