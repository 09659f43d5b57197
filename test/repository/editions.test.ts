/**
 * Code opens a schema whose functions are of its own edition only where they are, to the letter, its own: whoever changes one after
 * a release raises the edition, or processes of the release before refuse to open. So the code and the fixture of its
 * edition say the same, and an edition that was released is never cut again.
 */
import { statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { statementsIn } from '../../src/store/postgres/connection/statements.ts'
import { EDITION } from '../../src/store/postgres/schema/functions.ts'
import { schemaScript } from '../../src/store/postgres/schema/migrate.ts'
import {
  changedSignatures,
  editionNumbers,
  FOLDER,
  readEdition,
  signaturesIn,
} from '../store/postgres/editions/edition.ts'
import { statementNames } from '../store/postgres/editions/statement-names.ts'
import { filesLike } from '../support/source.ts'

const CUT = 'a function or a statement has changed: `node scripts/edition.ts`, after raising EDITION if it was released'
const MOST_BYTES = 500_000

const schema = schemaScript('pawl')
const { statements } = statementNames(statementsIn('pawl'))

describe('the edition of the code', () => {
  it('is the last that was cut', () => {
    expect(editionNumbers().at(-1), CUT).toBe(EDITION)
  })

  it('was cut with the functions that the code has', () => {
    expect(readEdition(EDITION).schema === schema, CUT).toBe(true)
  })

  it('was cut with the statements that the code has, and each of them was recorded', () => {
    const cut = readEdition(EDITION)
    expect(cut.statements, CUT).toEqual(statements)
    const said = new Set(cut.calls.map(([, , statement]) => statement))
    expect(Object.keys(statements).filter((name) => !said.has(name))).toEqual([])
  })
})

describe.each(editionNumbers())('a function of edition %i', (number) => {
  it('is called and answers today as it did then, if there is one of its name', () => {
    expect(changedSignatures(readEdition(number).schema, schema)).toEqual([])
  })

  it('takes little room', () => {
    const bytes = filesLike(`${FOLDER}/${number}/*`).map((path) => statSync(path).size)
    expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(MOST_BYTES)
  })
})

describe('a signature', () => {
  it('is known of every function', () => {
    const made = schema.match(/^create or replace function /gm) ?? []
    expect(signaturesIn(schema).size).toBe(made.length)
    expect(signaturesIn(schema).get('feed_end')).toBe('() returns table (now_ms bigint, pos bigint, purged bigint)')
  })

  it('has changed where a parameter, its type or an answer has, and not where a body has', () => {
    const changed = (from: string, to: string) => {
      expect(schema).toContain(from)
      return changedSignatures(schema, schema.replace(from, to))
    }
    expect(changed('feed_page(after_pos bigint', 'feed_page(from_pos bigint')).toEqual(['feed_page'])
    expect(changed('feed_page(after_pos bigint', 'feed_page(after_pos int')).toEqual(['feed_page'])
    expect(changed('pos bigint, purged bigint)', 'pos bigint)')).toEqual(['feed_end'])
    expect(changed('order by e.pos limit entries', 'order by e.pos limit 1')).toEqual([])
  })
})
