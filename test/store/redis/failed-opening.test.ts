/** An opening that fails leaves nothing behind that keeps its process. */
import { spawn } from 'node:child_process'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { describeOnRedis } from '../../support/with-redis.ts'

const at = (path: string) => JSON.stringify(new URL(path, import.meta.url))

describeOnRedis('a Redis whose ledger fails', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis([])
  })
  afterAll(() => server.stop())

  it.each(['ledger', 'redis'])(
    'is not opened where answers wait for the %s, and the process ends by itself',
    async (ack) => {
      const script = `
      import { openRedisStore } from ${at('../../../src/store/redis/redis.ts')}
      import { noLedger } from ${at('./no-ledger.ts')}
      const [url, ack] = process.argv.slice(1)
      await openRedisStore({ url, ack, ledger: noLedger }).catch((error) => console.log(error.message))`
      const child = spawn(process.execPath, ['--input-type=module', '-e', script, server.url, ack], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      onTestFinished(() => void child.kill('SIGKILL'))
      let said = ''
      child.stdout.on('data', (text: Buffer) => {
        said += text.toString()
      })
      await eventually('the opening to fail', () => said !== '')
      expect(said).toBe('there is no ledger\n')
      await eventually('the process to end', () => child.exitCode !== null)
      expect(child.exitCode).toBe(0)
    },
  )
})
