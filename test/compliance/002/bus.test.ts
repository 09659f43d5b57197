/** Document 002 where it speaks of a bus: requests, dispatches and results are messages under subjects, and nothing else is said. */
import { expect, it } from 'vitest'
import { dialectLog, dialectView } from '../../../src/contract.ts'
import { namedByStart } from '../../../src/engine/named-by-start.ts'
import { onBus } from '../../bus/bus-fixture.ts'
import { eventually } from '../../support/eventually.ts'
import { describeOnNats } from '../../support/nats.ts'

interface Dispatched {
  readonly subject: string
  readonly said: { readonly job_id: string; readonly fence: string; readonly JobRequest: object }
}

describeOnNats('002 over a bus', () => {
  const { setup, there, beat } = onBus()

  /** Submitted under its topic, admitted, and given to one of two pools that have room. */
  async function dispatched(job_id: string, topic: string): Promise<Dispatched> {
    const { connection } = setup.peer
    const listening = connection.subscribe('pawl.acme.dispatch.>', { max: 1 })
    await setup.peer.keep(`pawl.acme.submit.${topic}`, { job_id, topic, context_ptr: 'mem://in' })
    await there(job_id)
    await setup.pawl.admit(job_id)
    for (const pool of ['job.other', topic]) await beat(pool)
    for await (const message of listening) return { subject: message.subject, said: message.json() }
    throw new Error('nothing was dispatched')
  }

  const statesOf = async (id: string) => {
    const { id: ours } = await there(id)
    return dialectLog(await setup.pawl.events(ours), '002').map(({ state, actor }) => [state, actor])
  }

  it.each([
    ['002:5 002:41', 'job.code.llm', 'SUCCEEDED', { result_ptr: 'mem://out', execution_ms: 5 }],
    [
      '002:5 002:42',
      'job.chat.simple',
      'FAILED',
      { error_code: 'no_gpu', error_message: 'none left', execution_ms: 5 },
    ],
  ])(
    '%s the subject of %s is its pool’s; the worker starts, and publishes JobResult status=%s',
    async (_, topic, status, more) => {
      const job_id = `on-${topic}`
      const { subject, said } = await dispatched(job_id, topic)
      // Between the two: which of the pool's workers compete for it.
      expect(subject).toMatch(new RegExp(`^pawl\\.acme\\.dispatch\\.[^.]+\\.${topic.replaceAll('.', '\\.')}$`))
      expect(said).toMatchObject({ job_id, JobRequest: { job_id, topic } })
      const mine = { job_id, worker_id: 'w1', fence: said.fence }
      expect(await setup.peer.ask('pawl.acme.start', mine)).toMatchObject({ ok: true })
      await setup.peer.keep('pawl.acme.result', { ...mine, status, ...more })
      const ended = await eventually('its end', async () => {
        const found = await there(job_id)
        return found.endedAt !== undefined && found
      })
      const shown = dialectView(await namedByStart(setup.pawl.engine, ended), '002')
      expect(shown['JobResult']).toEqual({ job_id: ended.id, status, worker_id: 'w1', ...more })
      expect(await statesOf(job_id)).toEqual([
        ['PENDING', 'producer:bus'],
        ['SCHEDULED', 'operator'],
        ['DISPATCHED', 'system:scheduler'],
        ['RUNNING', 'worker:w1'],
        [status, 'worker:w1'],
      ])
    },
  )
})
