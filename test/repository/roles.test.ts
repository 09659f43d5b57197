/** `npm run compliance` counts the roles of document 002: each by the lines its tests cite, for each way they are reached. */
import { describe, expect, it } from 'vitest'
import { rolesIn } from '../../scripts/roles.ts'

const result = (group: string, title: string, status = 'passed') => ({ ancestorTitles: [group], title, status })
const all = ['002:37 002:38 002:41 002:45 a way to an end', '002:43 002:58 what is stale']
const whole = ['002 by its roles', '002 over the bus'].flatMap((group) => all.map((title) => result(group, title)))
const ONE = 'gateway 1/1, scheduler 1/1, safety kernel 1/1, worker 1/1, reconciler 1/1'

describe('the roles', () => {
  it('are counted by the lines that tests cite, over HTTP and over the bus', () => {
    const others = [result('002 memory', '002:37 not by a role'), result('002 over the bus', '002:370 another line')]
    const found = rolesIn([...whole, ...others, result('002 over a bus', '002:57 a worker', 'failed')], undefined)
    expect(found).toEqual({
      lines: [`roles over HTTP: ${ONE}`, `roles over the bus: ${ONE.replace('worker 1/1', 'worker 1/2')}`],
      whole: false,
    })
    expect(rolesIn(whole, undefined).whole).toBe(true)
  })

  it('are missed where no test is about one of them', () => {
    const found = rolesIn(
      whole.filter(({ title }) => !title.includes('002:43')),
      undefined,
    )
    expect(found.whole).toBe(false)
    expect(found.lines[0]).toContain('reconciler 0/0')
  })

  it('are not counted over a bus that is not here, which is said', () => {
    const skipped = whole.map((each) =>
      each.ancestorTitles[0]?.includes('bus') ? { ...each, status: 'skipped' } : each,
    )
    expect(rolesIn(skipped, 'nats-server is not here.')).toEqual({
      lines: [`roles over HTTP: ${ONE}`, 'roles over the bus: not counted. nats-server is not here.'],
      whole: true,
    })
  })
})
