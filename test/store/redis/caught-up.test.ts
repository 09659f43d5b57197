/** A server that has caught up with its ledger knows what the entries told it, also where it is opened as it was measured before them. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Link } from '../../../src/store/redis/connection/link.ts'
import { type ScriptName, scriptTexts } from '../../../src/store/redis/script/scripts.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { describeOnRedis } from '../../support/with-redis.ts'
import { rawLink } from './raw.ts'

const META = '{pawl:0}:meta'

describeOnRedis('a Redis that catches up with its ledger', () => {
  let server: RedisServer
  let link: Link

  beforeAll(async () => {
    server = await startRedis([])
    link = await rawLink(server)
  })

  afterAll(async () => {
    await link.close()
    await server.stop()
  })

  const step = (script: ScriptName, ...args: readonly string[]) =>
    link.send(['EVAL', scriptTexts()[script], '1', META, ...args])

  it('keeps which jobs have left meanwhile, also when it is opened as it was measured before', async () => {
    const said = JSON.stringify([['HSET', 'meta', 'evicted', '7']])
    expect(await step('mark', '5')).toBe('yes')
    expect(await step('replay', '5', '7', 'other.7', '-', '100', said)).toBe('no')
    expect(await step('replay', '5', '1', 'other.1', '-', '100', said)).toBe('yes')
    expect(await step('open', '5', 'life', '1', 'other.1', '100', '1', '0', '-')).toBe('yes')
    expect(await link.send(['HGET', META, 'evicted'])).toBe('7')
  })
})
