/** Which jobs have made each change last: told with the traffic to whoever asks, and kept over restarts. */
import { describe, expect, it } from 'vitest'
import type { TrafficAnswer } from '../../src/gateway/contract/answers.ts'
import { changeKey } from '../../src/gateway/traffic/keys.ts'
import { Traffic } from '../../src/gateway/traffic/traffic.ts'
import { defineJob } from '../../src/library/define-job.ts'
import { open } from '../../src/open.ts'
import { realClock } from '../../src/system/clock.ts'
import { silentLog } from '../../src/system/log.ts'
import { realTimers } from '../../src/system/timers.ts'
import { eventually } from '../support/eventually.ts'
import { openGatewayFixture } from './gateway-fixture.ts'

const FRESH = { clock: realClock, timers: realTimers, log: silentLog }
const job = defineJob<'works', { readonly n: number }, undefined>({ type: 'works', run: () => undefined })

describe('who has taken a way last', () => {
  it('is told by change, the newest first, ten at most, and is there after a restart', async () => {
    await using pawl = await open('memory:', { log: 'silent' })
    const { engine } = pawl
    const first = new Traffic({ engine, ...FRESH })
    await first.runOnce()
    const ids: string[] = []
    for (let n = 0; n < 12; n += 1) {
      const { id } = await pawl.enqueue(job, { n })
      ids.push(id)
    }
    await first.runOnce()
    const { id } = await pawl.enqueue(job, { n: 12 })
    await pawl.cancel(id, { actor: 'ann' })
    await first.runOnce()
    const last = [...ids.slice(-9), id].toReversed()
    const told = (traffic: Traffic) => ({
      enqueued: traffic.of('default')?.takers.of(changeKey('enqueued', undefined, 'queued')),
      cancelled: traffic.of('default')?.takers.of(changeKey('cancelled', 'queued', 'cancelled')),
    })
    const before = told(first)
    expect(before.enqueued?.map((each) => each.id)).toEqual(last)
    expect(before.cancelled).toMatchObject([{ id, type: 'works', queue: 'default', by: 'ann' }])
    await first[Symbol.asyncDispose]()
    await using second = new Traffic({ engine, ...FRESH })
    await second.runOnce()
    expect(told(second)).toEqual(before)
  })

  it('is told where it is asked for, and of a queue only to those who may hear of it', async () => {
    await using fixture = await openGatewayFixture({ tenant: 'acme' })
    const ask = async (path: string, who = 'viewer') =>
      JSON.parse((await fixture.ask(who, 'GET', path)).text) as TrafficAnswer
    const { secret } = await fixture.gateway.tokens.create({
      name: 'mail only',
      scope: 'viewer',
      tenant: 'acme',
      queues: ['mail'],
    })
    await eventually('it counts', async () => (await ask('/v1/traffic')).since < (await ask('/v1/traffic')).at)
    for (const queue of ['mail', 'crawl']) await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'a', queue })
    const told = async (who?: string) =>
      (await ask('/v1/traffic?jobs=true', who)).takers?.find(({ event }) => event === 'enqueued')?.jobs.length
    await eventually('both are told', async () => (await told()) === 2)
    expect(await told(secret)).toBe(1)
    expect((await ask('/v1/traffic')).takers).toBeUndefined()
  })
})
