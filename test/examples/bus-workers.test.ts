import { expect, it } from 'vitest'
import { busOver, openMemory, Peer, TENANT } from '../bus/bus-fixture.ts'
import { spawned } from '../cli/pawl.ts'
import { eventually } from '../support/eventually.ts'
import { describeOnNats, startNats } from '../support/nats.ts'

describeOnNats('a worker in Python that speaks nothing but the bus', () => {
  it('runs what it is dispatched, through a NATS that is killed and comes back', async () => {
    await using nats = await startNats()
    await using pawl = await openMemory()
    await using _bus = await busOver(pawl, nats.url)
    await using peer = await Peer.at(nats.url)
    const args = ['examples/bus-worker.py', nats.url, 'job.chat.simple']
    await using worker = spawned('python3', args, { env: { PAWL_TENANT: TENANT } })
    const submit = async (job_id: string, env: Readonly<Record<string, string>> = {}) => {
      await peer.submit({ job_id, topic: 'job.chat.simple', env })
      await eventually(job_id, () => pawl.get(job_id))
      await pawl.admit(job_id)
    }
    const ended = (id: string) =>
      eventually(`the end of ${id}`, async () => {
        const job = await pawl.get(id)
        return job?.endedAt === undefined ? undefined : job
      })
    await submit('a')
    expect(await ended('a')).toMatchObject({ state: 'succeeded', result: { ptr: 'memory://a' } })
    await submit('b', { fail: 'broken' })
    expect(await ended('b')).toMatchObject({ state: 'failed', error: { code: 'ValueError', message: 'broken' } })
    expect((await pawl.events('a')).find(({ type }) => type === 'started')?.actor).toMatch(/^worker:python-/)
    await submit('c', { seconds: '3' })
    await eventually('the lease of c is renewed', async () => ((await pawl.get('c'))?.lease?.beats ?? 0) > 0)
    await nats.kill()
    await nats.restart()
    expect(await ended('c')).toMatchObject({ state: 'succeeded', attempt: 1 })
    await eventually('NATS again', () => submit('d').then(() => true), { withinMs: 30_000 })
    expect(await ended('d')).toMatchObject({ state: 'succeeded' })
    worker.child.kill('SIGTERM')
    expect((await worker.ended).code).toBe(0)
  })
})
