/** A query while it is written: what is finished, what is taken up again, what is offered next. */
import { describe, expect, it } from 'vitest'
import { type Draft, draftOf, queryIn, takenUp, without, written } from '../../dashboard/src/jobs/draft.ts'
import { before, type Known, offersFor } from '../../dashboard/src/jobs/offers.ts'
import { quoted } from '../../dashboard/src/jobs/query.ts'
import { pathsIn, schemaIn } from '../../dashboard/src/new-job/json-schema.ts'
import { FIELD_NAMES, parseSearch } from '../../src/core/search.ts'

const EMPTY: Draft = { chips: [], text: '' }
const typed = (text: string) => [...text].reduce((draft, letter) => written(draft, draft.text + letter), EMPTY)

describe('what is written of a query', () => {
  it('is finished by a space, term by term, and is the same query', () => {
    const draft = typed('state:failed  type:"a b" -queue:c inp')
    expect(draft).toEqual({ chips: ['state:failed', 'type:"a b"', '-queue:c'], text: 'inp' })
    expect(draftOf(queryIn(draft)).chips).toEqual([...draft.chips, 'inp'])
  })

  it('is left as it stands while it cannot be read', () => {
    expect(typed('state:no_such_state code:x ')).toEqual({ chips: [], text: 'state:no_such_state code:x ' })
    expect(draftOf('stat:failed')).toEqual({ chips: [], text: 'stat:failed' })
  })

  it('is taken up again or away, and nothing else with it', () => {
    const draft = typed('state:failed code:x runs:>')
    expect(takenUp(draft, 0)).toEqual({ chips: ['code:x'], text: 'state:failed runs:>' })
    expect(takenUp(typed('state:failed crawl'), 0)).toEqual({ chips: ['crawl'], text: 'state:failed' })
    expect(without(draft, 1)).toEqual({ chips: ['state:failed'], text: 'runs:>' })
  })
})

describe('what is offered next', () => {
  const counts = [
    { queue: 'mail', type: 'send, now', state: 'failed', count: 3 },
    { queue: 'crawl', type: 'fetch page', state: 'queued', count: 90 },
  ] as const
  const known: Known = {
    tally: { at: '', counts },
    failures: [{ code: 'E_429', count: 7 }],
    keys: ['shop.example', 'smtp'],
    inputs: ['url', 'order.cents', 'order.currency'],
    words: [
      ['Completed', ['succeeded']],
      ['Waiting', ['waiting', 'parked']],
    ],
  }
  const offered = (text: string) => offersFor(text, known).map((offer) => offer.text)

  it('is every field of the grammar, and of a name begun those that go on so', () => {
    expect(offered('')).toEqual([...FIELD_NAMES.map((name) => `${name}:`), 'label.', 'input.'])
    expect(offered('-st')).toEqual(['-state:'])
    expect(offered('state:failed qu')).toEqual(['queue:'])
  })

  it('is a value with its count, those there are most of first', () => {
    expect(offersFor('queue:', known).map(({ text, note }) => [text, note])).toEqual([
      ['queue:crawl', '90'],
      ['queue:mail', '3'],
    ])
    expect(offered('code:')).toEqual(['code:E_429'])
    expect(offered('state:').slice(0, 2)).toEqual(['state:queued', 'state:failed'])
    expect(offered('state:failed,qu')).toEqual(['state:failed,queued'])
    expect(offered('reason:time')).toEqual(['reason:timeout'])
    expect(offered('is:pa')).toEqual(['is:paused'])
    expect(offered('key:s')).toEqual(['key:shop.example', 'key:smtp'])
  })

  it('is a member of the input, as the schema has it, and a value is still to come', () => {
    expect(offered('state:failed input.')).toEqual(['input.url:', 'input.order.cents:', 'input.order.currency:'])
    expect(offersFor('input.order.cu', known)).toMatchObject([{ text: 'input.order.currency:', isOpen: true }])
  })

  it('understands the words of a document for states', () => {
    expect(offered('state:Compl')).toEqual(['state:succeeded'])
    expect(offered('-state:Waiting')).toEqual(['-state:waiting,parked'])
    expect(offered('state:wait')).toEqual(['state:waiting'])
  })

  it('can be read, also where a name has spaces, commas or quotes', () => {
    expect(offered('type:"fe')).toEqual(['type:"fetch page"'])
    for (const text of offered('type:'))
      expect(parseSearch(text)).toMatchObject({ ok: true, terms: [{ field: 'type' }] })
    expect(before('state:failed type:"fetch p')).toBe('state:failed ')
    for (const name of ['a b', 'a,b', 'say "hi"', String.raw`back \ slash`, String.raw`\" both`])
      expect(parseSearch(`type:${quoted(name)}`)).toMatchObject({ terms: [{ values: [name] }] })
  })
})

describe('the members of an input', () => {
  it('are named by their paths, those of lists by those of their elements', () => {
    const schema = schemaIn({
      properties: {
        url: { type: 'string' },
        order: { properties: { cents: { type: 'number' }, lines: { items: { properties: { sku: {} } } } } },
        'no words': {},
      },
    })
    expect(pathsIn(schema)).toEqual(['url', 'order.cents', 'order.lines.sku'])
    expect(pathsIn(undefined)).toEqual([])
  })
})
