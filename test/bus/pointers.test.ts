/** Pointers over the bus: kept and handed on as they came, and in no log and no refusal, whatever is wrong with what they came with. */
import { expect, it } from 'vitest'
import { linesTo } from '../../src/system/log.ts'
import { eventually } from '../support/eventually.ts'
import { describeOnNats } from '../support/nats.ts'
import { onBus } from './bus-fixture.ts'

const SECRET = 'X-Signature=s3cr3t-of-a-pointer'
const IN = `https://memory.example/in?${SECRET}`
const OUT = `https://memory.example/out?${SECRET}`

describeOnNats('a pointer over the bus', () => {
  const lines: string[] = []
  const log = linesTo(
    (line) => lines.push(line),
    () => 0,
  )
  const { setup, there, refusals, refused, beat } = onBus({ log })

  /** A job with a pointer that is somebody's, and its end. */
  const walked = async (job_id: string, result: object) => {
    const topic = `job.${job_id}`
    await setup.peer.submit({ job_id, topic, context_ptr: IN })
    await there(job_id)
    await setup.pawl.admit(job_id)
    await beat(topic)
    const dispatch = await setup.peer.begun(topic, 'w1')
    const own = { job_id, fence: dispatch.fence, worker_id: 'w1' }
    await setup.peer.keep(setup.peer.subjects.result, { ...own, ...result })
    const ended = await eventually('its end', async () => {
      const job = await there(job_id)
      return job.endedAt !== undefined && job
    })
    return { topic, dispatch, own, ended }
  }

  it('comes to the worker and into the record as it was', async () => {
    const { dispatch, ended } = await walked('whole', { status: 'SUCCEEDED', result_ptr: OUT })
    expect(dispatch).toMatchObject({ JobRequest: { context_ptr: IN } })
    expect(ended).toMatchObject({ spec: { contextPtr: IN }, result: { ptr: OUT } })
  })

  it('is in no log and in no refusal, whatever is wrong with the message it comes in', async () => {
    const { peer } = setup
    const subject = peer.subjects.submit('job.bad')
    const bad = { job_id: 'bad', topic: 'job.bad', context_ptr: IN }
    const wrong = [
      JSON.stringify(bad).slice(0, -1),
      { ...bad, priority: 'soon' },
      { ...bad, context_ptr: IN.repeat(100) },
      { ...bad, context_ptr: { url: IN } },
      { ...bad, colour: IN },
      { ...bad, topic: 'job.good' },
      { context_ptr: IN },
    ]
    for (const message of wrong) await peer.keep(subject, message)
    await eventually('all are refused', async () => (await refusals()).length === wrong.length)
    await walked('mine', { status: 'SUCCEEDED', result_ptr: OUT })
    await peer.submit({ job_id: 'mine', topic: 'job.mine', context_ptr: `${IN}&more` })
    expect(await refused('mine')).toMatchObject({ code: 'ID_TAKEN' })
    const { own } = await walked('late', { status: 'SUCCEEDED', result_ptr: OUT })
    const late = [
      { ...own, status: 'SUCCEEDED', result_ptr: `${OUT}&x` },
      { ...own, status: 'FAILED', error_code: 'E_LATE', error_message: 'late', fence: '0.1.00000000000000ff' },
      { ...own, status: 'SUCCEEDED', result_ptr: [OUT] },
      { ...own, status: 'SUCCEEDED', colour: OUT },
    ]
    for (const message of late) await peer.keep(peer.subjects.result, message)
    const all = await eventually('all are refused', async () => {
      const found = await refusals()
      return found.length === wrong.length + 1 + late.length && found
    })
    expect(new Set(all.map(({ code }) => code))).toEqual(new Set(['INVALID', 'ID_TAKEN', 'STALE_FENCE']))
    expect(JSON.stringify(all)).not.toContain(SECRET)
    const answer = await peer.ask(peer.subjects.start, { ...own, context_ptr: IN })
    expect(answer).toMatchObject({ ok: false, code: 'INVALID' })
    expect(JSON.stringify(answer)).not.toContain(SECRET)
    expect(lines.filter((line) => line.includes('succeeded'))).not.toEqual([])
    expect(lines.filter((line) => line.includes(SECRET))).toEqual([])
  })

  it('is in no log when the store is gone from under the bus, and everything that is tried fails', async () => {
    const { own } = await walked('left', { status: 'SUCCEEDED', result_ptr: OUT })
    await setup.pawl[Symbol.asyncDispose]()
    const since = lines.length
    await setup.peer.submit({ job_id: 'lost', topic: 'job.lost', context_ptr: IN })
    await setup.peer.keep(setup.peer.subjects.result, { ...own, status: 'SUCCEEDED', result_ptr: OUT })
    const failed = (name: string) => lines.slice(since).some((line) => line.includes(name))
    await eventually('both are tried', () => failed('"service":"bus submit"') && failed('"service":"bus result"'))
    expect(lines.filter((line) => line.includes(SECRET))).toEqual([])
  })
})
