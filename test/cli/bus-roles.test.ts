/**
 * A platform whose every role is a process of its own, two of each, over one store and one bus: one of each is killed while jobs go through,
 * and nothing is lost, done twice or begun by two.
 */
import { expect, it } from 'vitest'
import { TENANT } from '../bus/bus-fixture.ts'
import { openFlow, type Platform } from '../bus/flow.ts'
import { eventually } from '../support/eventually.ts'
import { describeOnNats, startNats } from '../support/nats.ts'
import { scaled } from '../support/scale.ts'
import { type Running, started, WHOLE_FILE_MS } from './pawl.ts'

const LONG_MS = scaled(100_000, WHOLE_FILE_MS)
const ROLES = ['gateway', 'scheduler', 'reconciler'] as const
type Role = (typeof ROLES)[number]

describeOnNats('the roles of a platform on a bus', () => {
  it(
    'are processes of their own, two of each: one of each is killed, and nothing is lost',
    async () => {
      await using nats = await startNats()
      const bus = ['--bus', `${TENANT}=${nats.url}`]
      const running = new Map<Role, Running[]>()
      const begin = async (role: Role, file: string, policy: string) => {
        const own = {
          gateway: ['--no-auth', '--port', '0', ...bus],
          scheduler: ['--policy', policy, ...bus],
          reconciler: [],
        } as const
        const words = ['serve', '--role', role, '--json', '--url', file, ...own[role]]
        const process = started(words, { longestMs: LONG_MS })
        running.set(role, [...(running.get(role) ?? []), process])
        await process.line(/store/)
      }
      const platform: Platform = async (file, policy) => {
        const stack = new AsyncDisposableStack()
        stack.defer(async () => {
          await Promise.all([...running.values()].flat().map((each) => each[Symbol.asyncDispose]()))
        })
        // The first makes the store; the others come together.
        await begin('gateway', file, policy)
        await Promise.all(
          [...ROLES, 'scheduler' as const, 'reconciler' as const].map((role) => begin(role, file, policy)),
        )
        return stack
      }
      const jobs = scaled(60, 3_000)
      await using flow = await openFlow({ platform, outside: nats.url, jobs, workers: scaled(6, 40) })
      const submitting = flow.submit()
      await eventually('some are through', async () => (await flow.ended()) >= jobs / 6, { withinMs: 60_000 })
      for (const role of ROLES) {
        const [first] = running.get(role) ?? []
        first?.child.kill('SIGKILL')
        expect((await first?.ended)?.code, `${role} is killed`).toBeNull()
      }
      await submitting
      await flow.settled(LONG_MS)
      for (const role of ROLES) {
        const [, last] = running.get(role) ?? []
        last?.child.kill('SIGTERM')
        expect((await last?.ended)?.code, `${role} ends in order`).toBe(0)
      }
    },
    LONG_MS,
  )
})
