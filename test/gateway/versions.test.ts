/** Deployments: versions of workers that were seen for the first time, as the dashboard's charts mark them. */
import { describe, expect, it } from 'vitest'
import { Traffic } from '../../src/gateway/traffic/traffic.ts'
import { Versions } from '../../src/gateway/traffic/versions.ts'
import { defineJob } from '../../src/library/define-job.ts'
import { open } from '../../src/open.ts'
import { realClock } from '../../src/system/clock.ts'
import { silentLog } from '../../src/system/log.ts'
import { realTimers } from '../../src/system/timers.ts'
import { eventually } from '../support/eventually.ts'

const job = defineJob({ type: 'works', run: () => undefined })

describe('versions of workers', () => {
  it('are deployments once they are seen for the first time, except those that were there before anybody looked', async () => {
    await using pawl = await open('memory:', { log: 'silent' })
    const { engine } = pawl
    let ms = 0
    const clock = { ...realClock, monotonicMs: () => ms }
    const traffic = new Traffic({ engine, clock, timers: realTimers, log: silentLog })
    const round = async () => {
      ms += 10_000
      await traffic.runOnce()
    }
    const told = () => traffic.of('default')?.versions.since(0) ?? []
    await using _old = pawl.work([job], { version: 'v1' })
    await eventually('v1 is present', async () => (await pawl.engine.settings([LISTED]))[0]?.settings.length === 1)
    await round()
    expect(told()).toEqual([])
    await using _new = pawl.work([job], { version: 'v2' })
    await using _again = pawl.work([job], { version: 'v2' })
    await using _nameless = pawl.work([job])
    await eventually('v2 is seen', async () => {
      await round()
      return told().length > 0
    })
    const once = told()
    expect(once).toMatchObject([{ version: 'v2' }])
    await round()
    await traffic[Symbol.asyncDispose]()
    await using second = new Traffic({ engine, clock: realClock, timers: realTimers, log: silentLog })
    await second.runOnce()
    expect(second.of('default')?.versions.since(0)).toEqual(once)
  })

  it('are told by when they came, and so many are remembered', () => {
    const versions = new Versions()
    for (let n = 0; n < 101; n += 1) versions.see(`v${n}`, n)
    expect(versions.since(98).map(({ version }) => version)).toEqual(['v98', 'v99', 'v100'])
    expect(versions.packed()).toHaveLength(100)
    expect(versions.see('v100', 200)).toBe(false)
    expect(Versions.from(versions.packed()).packed()).toEqual(versions.packed())
  })

  it('are of a length that a gateway takes', async () => {
    await using pawl = await open('memory:', { log: 'silent' })
    expect(() => pawl.work([job], { version: 'v'.repeat(10_000) })).toThrow(/version: 10000 characters/)
  })
})

const LISTED = { op: 'list', collection: 'worker', after: '', limit: 10 } as const
