/** A platform as it is operated: `pawl serve` with a policy, a safety kernel and a bus, all roles in one process or each in its own. */
import { afterAll, expect, it } from 'vitest'
import { Peer, policyFolder, TENANT } from '../bus/bus-fixture.ts'
import { eventually } from '../support/eventually.ts'
import { describeOnNats, startNats } from '../support/nats.ts'
import { startKernel } from '../support/safety-kernel.ts'
import { folder, started } from './pawl.ts'

const home = folder()
const rules = policyFolder('rules:\n  - { id: all, decision: allow }\n')
afterAll(() => {
  home[Symbol.dispose]()
  rules[Symbol.dispose]()
})

const HTTP = '--no-auth --port 0'.split(' ')
const TOPIC = 'job.chat'

describeOnNats('a platform on a bus with a safety kernel', () => {
  it.each([
    ['all roles in one process', [{ serves: true, judges: true, role: [] }]],
    [
      'each role in a process of its own',
      [
        { serves: true, judges: false, role: ['--role', 'gateway'] },
        { serves: false, judges: true, role: ['--role', 'scheduler'] },
      ],
    ],
  ])('has %s: what the kernel rejects is DENIED, what it lets pass is run', async (how, processes) => {
    await using nats = await startNats()
    await using kernel = await startKernel()
    await using stack = new AsyncDisposableStack()
    const url = home.at(`${how.replaceAll(' ', '-')}.db`)
    let http = ''
    for (const { serves, judges, role } of processes) {
      const judging = judges ? ['--policy', rules.path, '--kernel', kernel.url] : []
      const bus = ['--bus', `${TENANT}=${nats.url}`]
      const own = [
        'serve',
        '--json',
        '--url',
        url,
        '--tenant',
        TENANT,
        ...role,
        ...(serves ? HTTP : []),
        ...judging,
        ...bus,
      ]
      const told = await stack.use(started(own)).line(/store/)
      if (serves) http = String((JSON.parse(told) as { readonly url: string }).url)
    }
    await using peer = await Peer.at(nats.url)
    const shown = async (path: string): Promise<Record<string, unknown>> =>
      (await (await fetch(`${http}/v1/dialects/002/jobs/${path}`)).json()) as Record<string, unknown>
    const comesTo = (id: string, state: string) =>
      eventually(`${id} is ${state}`, async () => (await shown(id))['state'] === state)
    const moves = async (id: string) => {
      const { states } = await shown(`${id}/states`)
      return (states as readonly Record<string, unknown>[]).map(({ state, actor }) => [state, actor])
    }
    await peer.submit({ job_id: 'unsafe', topic: TOPIC, env: { unsafe: 'true' } })
    await peer.submit({ job_id: 'safe', topic: TOPIC, env: { unsafe: 'false' } })
    await comesTo('unsafe', 'DENIED')
    await comesTo('safe', 'SCHEDULED')
    const accepted = [
      ['PENDING', 'producer:bus'],
      ['SCHEDULED', 'system:scheduler'],
    ]
    expect(await moves('unsafe')).toEqual([...accepted, ['DENIED', 'system:scheduler']])
    expect(await shown('unsafe')).toMatchObject({
      JobResult: { status: 'DENIED', error_code: 'unsafe', error_message: 'no' },
    })
    await peer.ask(peer.subjects.heartbeat, { worker_id: 'w1', pool: TOPIC, free: 2 })
    const { job_id, fence } = await peer.begun(TOPIC, 'w1')
    expect(job_id).toBe('safe')
    await peer.keep(peer.subjects.result, { job_id, fence, worker_id: 'w1', status: 'SUCCEEDED' })
    await comesTo('safe', 'SUCCEEDED')
    expect(await moves('safe')).toEqual([
      ...accepted,
      ['DISPATCHED', 'system:scheduler'],
      ['RUNNING', 'worker:w1'],
      ['SUCCEEDED', 'worker:w1'],
    ])
    const denied = await eventually(
      'it is told of',
      async () => (await peer.told(peer.subjects.event('denied', TOPIC)))[0],
    )
    expect(denied).toMatchObject({ type: 'pawl.job.denied', data: { payload: { verdict: { rule: 'unsafe' } } } })
    expect(kernel.asked.map(({ topic, env }) => [topic, env['unsafe']])).toEqual([
      [TOPIC, 'true'],
      [TOPIC, 'false'],
    ])
  })
})
