import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  areTypes,
  isRouted,
  needOf,
  needText,
  servedBy,
  servedWords,
  withoutRoute,
  withType,
} from '../../src/core/needs.ts'
import { given } from './given.ts'

const names = fc.constantFrom('a', 'b', 'pool', 'can', 'a b', 'pool a')
const routes = fc.record({
  pool: fc.option(names, { nil: undefined }),
  capabilities: fc.uniqueArray(names, { maxLength: 3 }),
})
const types = fc.option(names, { nil: undefined })

describe('what a job needs', () => {
  it('is one text, whatever order it was said in, and can be told again', () => {
    fc.assert(
      fc.property(routes, types, ({ pool, capabilities }, type) => {
        const text = needText({ type, pool, capabilities })
        expect(needText({ type, pool, capabilities: [...capabilities, ...capabilities].reverse() })).toBe(text)
        expect(needOf(text)).toEqual({ type, pool, capabilities: capabilities.toSorted() })
        expect(withoutRoute(text)).toBe(type)
        expect(withType(text, 'mine')).toBe(needText({ type: 'mine', pool, capabilities }))
        expect(isRouted(needOf(text))).toBe(text !== type)
      }),
    )
    expect(needText({ type: 'mail', pool: undefined, capabilities: [] })).toBe('mail')
  })

  it('is a type or has words that no type is', () => {
    expect(areTypes(['mail', 'a b', 'pool'])).toBe(true)
    expect(areTypes(servedWords(['mail'], { pool: 'code', capabilities: undefined }) ?? [])).toBe(false)
  })

  it('is served by who knows the type, is in the pool and can do all of it, and by nobody else', () => {
    const claims = fc.record({
      types: fc.option(fc.uniqueArray(names), { nil: undefined }),
      pool: fc.option(names, { nil: undefined }),
      capabilities: fc.option(fc.uniqueArray(names), { nil: undefined }),
    })
    fc.assert(
      fc.property(routes, types, claims, (route, type, { types: known, ...able }) => {
        const need = needText({ type, ...route })
        if (need === undefined) return
        const expected =
          (type === undefined || known === undefined || known.includes(type)) &&
          (route.pool === undefined || route.pool === able.pool) &&
          route.capabilities.every((each) => able.capabilities?.includes(each))
        expect(servedBy(servedWords(known, able))(need)).toBe(expected)
      }),
    )
  })

  it('is whatever type it names for a claim that names none, and no route is its', () => {
    const served = servedBy(servedWords(undefined, { pool: undefined, capabilities: undefined }))
    expect(served('mail')).toBe(true)
    expect(served(needText({ type: 'mail', pool: 'code', capabilities: [] }) as string)).toBe(false)
  })

  it('is said when it is let in, gains the type when that is unknown, and is asked anew of a second chance', () => {
    const route = { pool: 'code', capabilities: ['gpu', 'cuda'] }
    const admit = { type: 'admit', rule: 'r', policyHash: 'h' } as const
    const letIn = () => given({ admission: true }).does({ ...admit, route })
    expect(needOf(letIn().record.needs)).toEqual({ type: undefined, pool: 'code', capabilities: ['cuda', 'gpu'] })
    const unknown = () => letIn().claims().does({ type: 'release', fence: 'mine', reason: 'unknown_type' })
    expect(needOf(unknown().record.needs)).toEqual({ type: 'crawl.page', pool: 'code', capabilities: ['cuda', 'gpu'] })
    const again = () => unknown().does({ type: 'cancel', mode: 'hard' }, { type: 'reopen' })
    expect(again().record).toMatchObject({ state: 'pending', needs: 'crawl.page' })
    expect(again().does(admit).record.needs).toBe('crawl.page')
    const elsewhere = again().does({ ...admit, route: { pool: 'spare', capabilities: [] } })
    expect(needOf(elsewhere.record.needs)).toEqual({ type: 'crawl.page', pool: 'spare', capabilities: [] })
  })

  it('is refused where it is no route', () => {
    const refused = (route: unknown) =>
      given({ admission: true }).when({ type: 'admit', rule: 'r', policyHash: 'h', route }).refused('INVALID')
    for (const route of [7, {}, { capabilities: 'gpu' }, { capabilities: Array(9).fill('x') }]) refused(route)
    refused({ pool: 'a\tb', capabilities: [] })
    refused({ pool: 'code', capabilities: ['gpu', 'a\nb'] })
  })

  it('of a bound job is its type and its route', () => {
    const admit = { type: 'admit', rule: 'r', policyHash: 'h', route: { pool: 'code', capabilities: [] } } as const
    expect(needOf(given({ dialect: '002' }).does(admit).record.needs)).toEqual({
      type: 'crawl.page',
      pool: 'code',
      capabilities: [],
    })
  })
})
