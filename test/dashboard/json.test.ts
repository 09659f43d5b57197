/** What a form is made of, and what is typed into it, whatever that is. */
import { describe, expect, it } from 'vitest'
import { beginningOf, complaintsAbout, isForm, membersOf, schemaIn } from '../../dashboard/src/new-job/json-schema.ts'
import { Digits, jsonText, parsedFrom } from '../../dashboard/src/words/json.ts'

describe('a schema that is odd', () => {
  const kinds = (schema: unknown) => {
    const read = schemaIn(schema)
    return read === undefined ? undefined : Object.fromEntries(membersOf(read).map(({ name, kind }) => [name, kind]))
  }

  it.each([[true], [null], ['object'], [[{ type: 'object' }]], [7]])('is no form where it is %j', (schema) => {
    expect(isForm(schemaIn(schema))).toBe(false)
  })

  it('asks as JSON for what no field can hold', () => {
    const properties = {
      anything: true,
      nothing: null,
      either: { type: ['string', 'null'] },
      several: { anyOf: [{ type: 'string' }, { type: 'number' }] },
      elsewhere: { $ref: '#/definitions/x' },
      list: { type: 'array', items: { type: 'string' } },
      named: { type: 'string', title: { en: 'a title' }, description: 7, minLength: 'long' },
      chosen: { enum: 'red' },
      empty: { enum: [] },
      open: { type: 'object', properties: [] },
    }
    const schema = { type: 'object', properties, required: 'named', default: { named: 'x' } }
    expect(kinds(schema)).toEqual({
      ...Object.fromEntries(Object.keys(properties).map((name) => [name, 'json'])),
      named: 'text',
    })
    const read = schemaIn(schema) ?? {}
    expect(membersOf(read).every(({ schema: { title } }) => title === undefined)).toBe(true)
    expect(complaintsAbout(read, { named: '' })).toEqual([])
    expect(beginningOf(read)).toEqual({})
  })
})

describe('a number that is typed', () => {
  it.each(['12345678901234567890', '-0.1234567890123456789', '1e2', '123456789012345', '12345678901234567890e-3'])(
    'is sent as %s',
    (digits) => {
      const parsed = parsedFrom(`{ "n": [${digits}], "text": "${digits}" }`)
      expect(parsed.ok && jsonText(parsed.value)).toBe(`{"n":[${digits === '1e2' ? 100 : digits}],"text":"${digits}"}`)
    },
  )

  it('is judged as a number', () => {
    const schema = { type: 'object', properties: { n: { type: 'integer', maximum: 10 } } }
    expect(complaintsAbout(schema, { n: new Digits('12345678901234567890') })).toEqual(['n must be 10 or less'])
    expect(complaintsAbout(schema, new Digits('12345678901234567890'))).toEqual(['the input must be an object'])
  })
})
