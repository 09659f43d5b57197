import { afterAll, expect, it } from 'vitest'
import { Peer } from '../bus/bus-fixture.ts'
import { folder, json, spawned, started } from '../cli/pawl.ts'
import { eventually } from '../support/eventually.ts'
import { describeOnNats, startNats } from '../support/nats.ts'

const home = folder()
afterAll(() => home[Symbol.dispose]())

interface Shown {
  readonly state: string
  readonly JobResult?: object
}

const WORKERS = [
  ['Python', ['python3', 'examples/bus-worker.py'], 'ValueError'],
  ['bash', ['bash', 'examples/bus-worker.sh'], 'exit_3'],
] as const

describeOnNats('a worker that speaks nothing but the bus', () => {
  it.each(WORKERS)(
    'in %s runs what pawl serve dispatches, through a NATS that is killed and comes back',
    async (language, [program, script], code) => {
      await using nats = await startNats()
      const file = home.at(`${language}.db`)
      const words = `serve --no-auth --port 0 --json --policy examples/policies --bus ${nats.url} --url ${file}`
      await using pawl = started(words.split(' '))
      const { url } = JSON.parse(await pawl.line(/url/)) as { readonly url: string }
      await using peer = await Peer.at(nats.url, 'default')
      await using worker = spawned(program, [script, nats.url, 'job.chat.simple'], { group: true })
      const shown = async (id: string) => (await (await fetch(`${url}/v1/dialects/002/jobs/${id}`)).json()) as Shown
      const submit = (job_id: string, env: Readonly<Record<string, string>> = {}) =>
        peer.submit({ job_id, topic: 'job.chat.simple', env })
      const ended = (id: string) =>
        eventually(`the end of ${id}`, async () => {
          const job = await shown(id)
          return job.JobResult !== undefined && job
        })
      await submit('a', { text: 'it\'s "quoted", \\ and été' })
      expect(await ended('a')).toMatchObject({ state: 'SUCCEEDED', JobResult: { result_ptr: 'memory://a' } })
      await submit('b', { fail: 'broken' })
      expect(await ended('b')).toMatchObject({
        state: 'FAILED',
        JobResult: { error_code: code, error_message: expect.stringContaining('broken') },
      })
      await submit('c', { seconds: '3' })
      await eventually('c runs', async () => (await shown('c')).state === 'RUNNING')
      await nats.kill()
      await nats.restart()
      expect(await ended('c')).toMatchObject({ state: 'SUCCEEDED' })
      await eventually('NATS again', () => submit('d').then(() => true), { withinMs: 30_000 })
      await ended('d')
      const { workers } = await json<{ readonly workers: readonly object[] }>(['workers', 'ls', '--url', url])
      expect(workers).toMatchObject([
        { workerId: expect.stringContaining(language.toLowerCase()), pool: 'job.chat.simple', via: 'bus' },
      ])
      worker.child.kill('SIGTERM')
      expect((await worker.ended).code).toBe(0)
    },
  )
})
