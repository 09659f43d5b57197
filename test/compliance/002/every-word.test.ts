/** Every word of document 002 in every one of its states, over HTTP and over the bus: what its diagram does not list is refused with its rule. */
import { jetstreamManager } from '@nats-io/jetstream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { streamsOf } from '../../../src/bus/subjects.ts'
import { view } from '../../../src/core/dialects/view.ts'
import type { Pawl } from '../../../src/library/pawl.ts'
import { announce, onBus, TENANT } from '../../bus/bus-fixture.ts'
import { BOUNDLESS, type GatewayFixture, openGatewayFixture } from '../../gateway/gateway-fixture.ts'
import { eventually } from '../../support/eventually.ts'
import { describeOnNats } from '../../support/nats.ts'
import { fresh } from '../actor.ts'
import { COMES_TO, EVERY_STATE, EVERY_WORD, type State, type Word } from './every-word.ts'

interface Own {
  readonly job_id: string
  readonly topic: string
  /** Of its dispatch; of a lease that never was, where it has had none. */
  readonly fence: string
}

type Message = { readonly job_id: string } & Readonly<Record<string, unknown>>

/** Who speaks about jobs, in one way or the other. */
interface Speaking {
  readonly pawl: Pawl
  readonly words: readonly Word[]
  submit(own: Pick<Own, 'job_id' | 'topic'>): Promise<void>
  dispatched(topic: string, count: number): Promise<ReadonlyMap<string, string>>
  /** Undefined where it is accepted; else the code that it is refused with. */
  say(word: Word, own: Own): Promise<unknown>
}

const NOBODYS = '0.1.0123456789abcdef'
const WAY: Readonly<Record<State, readonly Word[]>> = {
  PENDING: [],
  SCHEDULED: [],
  DISPATCHED: [],
  RUNNING: ['running'],
  SUCCEEDED: ['running', 'SUCCEEDED'],
  FAILED: ['running', 'FAILED'],
  CANCELLED: ['cancelled'],
  DENIED: [],
  TIMEOUT: [],
}

/** As many jobs in one state as there are words, each brought there as the document has it. */
async function jobsIn(state: State, by: Speaking): Promise<readonly Own[]> {
  const topic = fresh(`job.${state.toLowerCase()}`)
  const isShort = state === 'TIMEOUT'
  await announce(by.pawl, topic, { retry: { attempts: 1 }, ...(isShort && { lease: '1s', heartbeat: '400ms' }) })
  const asked = by.words.map(() => ({ job_id: fresh('every'), topic }))
  for (const each of asked) await by.submit(each)
  if (state !== 'PENDING')
    for (const { job_id } of asked) await (state === 'DENIED' ? by.pawl.deny(job_id) : by.pawl.admit(job_id))
  const isOut = !['PENDING', 'SCHEDULED', 'DENIED'].includes(state)
  const fences = isOut ? await by.dispatched(topic, asked.length) : new Map<string, string>()
  const all = asked.map((each) => ({ ...each, fence: fences.get(each.job_id) ?? NOBODYS }))
  for (const each of all)
    for (const word of WAY[state]) expect([word, await by.say(word, each)]).toEqual([word, undefined])
  await eventually(`all are ${state}`, async () => {
    const states = await Promise.all(all.map(({ job_id }) => stateOf(by.pawl, job_id)))
    return states.every((each) => each === state)
  })
  return all
}

async function stateOf(pawl: Pawl, id: string): Promise<unknown> {
  const job = await pawl.get(id)
  return job && view(job, '002')['state']
}

/** Each word about a job of its own; whatever is refused, or the same again, leaves nothing in the log. */
async function comesTo(state: State, by: Speaking): Promise<void> {
  const jobs = await jobsIn(state, by)
  const found: Record<string, unknown> = {}
  for (const [i, own] of jobs.entries()) {
    const word = by.words[i] as Word
    const before = await by.pawl.events(own.job_id)
    const code = await by.say(word, own)
    const after = await by.pawl.events(own.job_id)
    const now = await stateOf(by.pawl, own.job_id)
    found[word] = code ?? (now === state ? '=' : now)
    if (code !== undefined || now === state) expect([word, now, after]).toEqual([word, state, before])
  }
  expect(found).toEqual(Object.fromEntries(by.words.map((word) => [word, COMES_TO[state][word]])))
}

const requestOf = ({ job_id, topic }: Pick<Own, 'job_id' | 'topic'>) => ({ job_id, topic, context_ptr: 'mem://in' })

describe('002 by its roles: every word in every state, over HTTP', () => {
  let home: GatewayFixture
  beforeAll(async () => {
    home = await openGatewayFixture({ caps: BOUNDLESS })
  })
  afterAll(() => home?.[Symbol.asyncDispose]())
  const JOBS = '/v1/dialects/002/jobs'
  const post = async (who: 'producer' | 'operator' | 'worker', path: string, body: object) => {
    const { status, body: told } = await home.ask(who, 'POST', path, body)
    return { code: status < 300 ? undefined : told['code'], told }
  }
  const speaking = (): Speaking => ({
    pawl: home.pawl,
    words: EVERY_WORD,
    submit: async (own) => expect((await post('producer', JOBS, requestOf(own))).code).toBeUndefined(),
    async dispatched(topic, limit) {
      const { told } = await post('worker', '/v1/dialects/002/dispatches', { worker_id: 'w1', topics: [topic], limit })
      type Dispatch = { readonly JobRequest: { readonly job_id: string }; readonly fence: string }
      return new Map((told['dispatches'] as Dispatch[]).map(({ JobRequest, fence }) => [JobRequest.job_id, fence]))
    },
    async say(word, own) {
      const { job_id, fence } = own
      if (word === 'accepted') return (await post('producer', JOBS, requestOf(own))).code
      if (word === 'other') return (await post('producer', JOBS, { ...requestOf(own), context_ptr: 'mem://else' })).code
      if (word === 'scheduled' || word === 'denied' || word === 'cancelled')
        return (await post('operator', `${JOBS}/${job_id}/${word}`, {})).code
      if (word === 'running') return (await post('worker', `${JOBS}/${job_id}/running`, { fence })).code
      return (await post('worker', `${JOBS}/${job_id}/result`, { status: word, fence })).code
    },
  })
  it.each(EVERY_STATE)('002:33 002:61 002:62 about a job that is %s', async (state) => {
    await comesTo(state, speaking())
  })
})

describeOnNats('002 over the bus: every word in every state', () => {
  const { setup, there, beat } = onBus()
  const speaking = async (): Promise<Speaking> => {
    const { peer, pawl } = setup
    const { subjects, connection } = peer
    const { streams } = await jetstreamManager(connection)
    const refused = new Map<string, unknown>()
    connection.subscribe(subjects.refused, {
      callback: (_, message) => {
        const told = message.json<{ readonly job_id: string; readonly code: string }>()
        refused.set(told.job_id, told.code)
      },
    })
    /** Published, and taken: what was refused of it is told before NATS lets it go. */
    const published = async (stream: 'words' | 'submissions', subject: string, message: Message) => {
      await peer.keep(subject, message)
      await eventually('it is taken', async () => (await streams.info(streamsOf(TENANT)[stream])).state.messages === 0)
      return refused.get(message.job_id)
    }
    return {
      pawl,
      words: EVERY_WORD.filter((word) => word !== 'scheduled' && word !== 'denied'),
      async submit(own) {
        await peer.submit(requestOf(own))
        await there(own.job_id)
      },
      async dispatched(topic, count) {
        await beat(topic, { free: count })
        const fences = new Map<string, string>()
        await eventually('all dispatches', async () => {
          for (const { job_id, fence } of await peer.dispatchesTo(topic, count)) fences.set(job_id, fence)
          return fences.size === count
        })
        return fences
      },
      async say(word, own) {
        const { job_id, fence } = own
        if (word === 'accepted') return await published('submissions', subjects.submit(own.topic), requestOf(own))
        const other = { ...requestOf(own), context_ptr: 'mem://else' }
        if (word === 'other') return await published('submissions', subjects.submit(own.topic), other)
        if (word === 'cancelled') return await published('words', subjects.cancel, { job_id })
        const mine = { job_id, fence, worker_id: 'w1' }
        if (word === 'running') return (await peer.ask(subjects.start, mine))['code']
        return await published('words', subjects.result, { ...mine, status: word })
      },
    }
  }
  it.each(EVERY_STATE)('002:33 002:61 002:62 about a job that is %s', async (state) => {
    await comesTo(state, await speaking())
  })
})
