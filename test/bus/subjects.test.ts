import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { squadOf } from '../../src/bus/squad.ts'
import { consumerOf, everyOne, streamsOf, subjectsOf, tokenOf, turnOf } from '../../src/bus/subjects.ts'

const subjects = subjectsOf('acme')
const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 128 })

describe('subjects', () => {
  it('keep the dots of a name, and nothing else that means something to NATS', () => {
    expect(subjects.submit('job.chat.simple')).toBe('pawl.acme.submit.job.chat.simple')
    expect(subjects.dispatch(squadOf({ pool: 'a b*c>d' }))).toBe('pawl.acme.dispatch.any.a=20b=2Ac=3Ed')
    expect(subjects.dispatch(squadOf({ pool: '.a..b.' }))).toBe('pawl.acme.dispatch.any.=2Ea.=2Eb=2E')
    expect(subjects.event('dead_lettered', 'été')).toBe('pawl.acme.event.dead_lettered.=C3=A9t=C3=A9')
    expect(subjectsOf('a.b').result).toBe('pawl.a=2Eb.result')
    expect(everyOne(subjects.submit)).toBe('pawl.acme.submit.>')
    expect(turnOf('acme').squad(squadOf({ pool: 'x.y' }))).toBe('pawl.acme.turn.squad.any.x.y')
  })

  it('are told apart exactly where names are', () => {
    fc.assert(
      fc.property(name, name, (a, b) => {
        const subject = subjects.submit(a)
        expect(subject).toMatch(/^pawl(\.[A-Za-z0-9_=-]+)+$/)
        expect(subject === subjects.submit(b)).toBe(a === b)
        expect(tokenOf(a) === tokenOf(b)).toBe(a === b)
      }),
    )
  })

  it('of a squad are the same in whichever order its workers tell of themselves, and no other squad has them', () => {
    const squads = [
      { pool: 'code' },
      { pool: 'code', capabilities: ['gpu'] },
      { pool: 'code', topics: ['gpu'] },
      { pool: 'code', topics: ['code', 'job.b'], capabilities: ['gpu', 'big'] },
      { pool: 'code.gpu' },
    ].map(squadOf)
    const names = squads.flatMap((squad) => [subjects.dispatch(squad), consumerOf('acme', squad).name])
    expect(new Set(names).size).toBe(names.length)
    const [first = '', next] = [
      subjects.dispatch(squads[3] ?? squadOf({ pool: '' })),
      consumerOf('acme', squadOf({ pool: 'code' })).next,
    ]
    expect(
      subjects.dispatch(squadOf({ pool: 'code', topics: ['job.b', 'code'], capabilities: ['big', 'gpu', 'big'] })),
    ).toBe(first)
    expect(subjects.dispatch(squadOf({ pool: 'code', topics: ['code'], capabilities: [] }))).toBe(
      'pawl.acme.dispatch.any.code',
    )
    expect(next).toBe('$JS.API.CONSUMER.MSG.NEXT.PAWL_acme_dispatches.code')
  })

  it('of streams and consumers are names that a folder can have', () => {
    expect(streamsOf('acme').words).toBe('PAWL_acme_words')
    expect(tokenOf('job.chat')).toBe('job=2Echat')
    expect(tokenOf('é'.repeat(128)).length).toBeLessThan(200)
    expect(tokenOf(`${'é'.repeat(127)}a`)).not.toBe(tokenOf('é'.repeat(128)))
  })
})
