/** Hostile texts in the fields that whoever enqueues does not fill: those of workers, of people, of the clock; and where each is to be read. */
import { eventually } from '../support/eventually.ts'
import { soaking } from '../support/scale.ts'
import type { DashboardFixture } from './dashboard-fixture.ts'
import { VECTORS } from './vectors.ts'

const FIELDS = [
  'schedule',
  'worker',
  'host',
  'version',
  'token',
  'actor',
  'queue',
  'type',
  'child',
  'message',
  'code',
  'stack',
  'progress',
  'counter',
  'step',
  'kept',
  'signal',
  'wait',
  'result',
  'reason',
  'title',
  'about',
  'choice',
] as const

type Texts = Readonly<Record<(typeof FIELDS)[number], string>>

/** In the gate each field has a few of the texts and each text is in some field; in soak all are in all. */
export const ROUNDS = soaking ? VECTORS.length : 3

export const dealt = (round: number): Texts =>
  Object.fromEntries(
    FIELDS.map((field, n) => [
      field,
      VECTORS[(soaking ? round + n : round * FIELDS.length + n) % VECTORS.length] ?? '',
    ]),
  ) as Texts

/** As names may be, without control characters and commas; and of one deal alone. */
export const nameOf = (round: number, text: string): string =>
  `deal ${round} ${text.replaceAll(/[\u0000-\u001f\u007f,]/g, ' ').slice(0, 110)}`.trim()

/** A page, and what is to be read there as it was written. */
export interface Place {
  readonly path: string
  readonly texts: readonly string[]
  readonly as?: 'auditor'
}

type Say = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>

/** By the token of a name. */
async function sayer({ gateway }: DashboardFixture, name: string): Promise<Say> {
  const { secret } = await gateway.tokens.create({ name, scope: 'admin', tenant: 'default', queues: undefined })
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  return (method, path, body) =>
    eventually(`${method} ${path}`, async () => {
      const response = await fetch(gateway.url + path, { method, headers, body: JSON.stringify(body ?? {}) })
      const answer = (await response.json()) as Record<string, unknown>
      if (!response.ok) throw new Error(JSON.stringify(answer))
      return answer
    })
}

/** One of each field, told as those tell them whose fields they are. */
export async function sown(fixture: DashboardFixture, round: number): Promise<readonly Place[]> {
  const texts = dealt(round)
  const named = (field: keyof Texts) => nameOf(round, texts[field])
  const at = encodeURIComponent
  const token = named('token')
  const person = named('actor')
  const [schedule, worker, queue, type] = [named('schedule'), named('worker'), named('queue'), named('type')]
  await fixture.gateway.tokens.create({ name: token, scope: 'viewer', tenant: 'default', queues: undefined })
  const say = await sayer(fixture, person)
  const inputSchema = schemaOf(texts)
  await say('PUT', `/v1/types/${at(type)}`, { queue, inputSchema })
  const told = { queues: [queue], types: [type], host: texts.host, version: texts.version, concurrency: 2 }
  await say('PUT', `/v1/workers/${at(worker)}`, told)
  await say('PUT', `/v1/schedules/${at(schedule)}`, { every: '1h', type, queue, input: texts.kept })
  await say('POST', `/v1/schedules/${at(schedule)}/pause`)

  const child = named('child')
  const made = async (more: object = {}) =>
    String((await say('POST', '/v1/jobs', { type, queue, policy: { retry: { attempts: 1 } }, ...more }))['id'])
  const claimed = async (): Promise<Say> => {
    const answer = await say('POST', '/v1/claims', { workerId: worker, queues: [queue], limit: 1 })
    const [first] = answer['jobs'] as readonly { readonly job: { readonly id: string }; readonly fence: string }[]
    if (first === undefined) throw new Error('there is a job to claim')
    const word: Say = (_, command, body) =>
      say('POST', `/v1/jobs/${first.job.id}/${command}`, { fence: first.fence, ...Object(body) })
    await word('', 'start')
    return word
  }

  const done = await made()
  const doing = await claimed()
  await doing('', 'progress', { progress: { done: 1, message: texts.progress }, counters: { [named('counter')]: 7 } })
  await doing('', 'record', { step: { name: named('step'), value: texts.kept } })
  await doing('', 'complete', { result: texts.result })
  await made({ type: child, queue: `${queue}.`, parentId: done })
  const failed = await made()
  const failing = await claimed()
  await failing('', 'fail', { code: named('code'), message: texts.message, class: 'permanent', stack: texts.stack })
  const waiting = await made()
  await say('POST', `/v1/jobs/${waiting}/signal`, { name: named('signal') })
  const waits = await claimed()
  await waits('', 'wait', { name: named('wait'), timeout: '1h' })
  const cancelled = await made()
  await say('POST', `/v1/jobs/${cancelled}/cancel`, { reason: texts.reason })

  const job = (id: string, tab: string) => `/jobs/${id}?tab=${tab}`
  return [
    { path: job(done, 'events'), texts: [type, queue, texts.progress, named('counter'), `step ${named('step')}`] },
    { path: job(done, 'result'), texts: [texts.result] },
    { path: job(done, 'steps'), texts: [named('step'), quotedIn(texts.kept)] },
    { path: job(done, 'children'), texts: [child] },
    { path: job(failed, 'errors'), texts: [named('code'), texts.message, texts.stack, `on ${worker}`] },
    { path: job(waiting, 'events'), texts: [named('signal'), `for ${named('wait')}`, `worker:${worker}`] },
    { path: job(cancelled, 'events'), texts: [texts.reason, `admin:${person}`] },
    { path: `/schedules/${at(schedule)}`, texts: [schedule, type, queue, texts.kept] },
    { path: `/queues/${at(queue)}`, texts: [queue, worker] },
    { path: `/workers/${at(worker)}`, texts: [worker, texts.host, texts.version] },
    { path: `/new?type=${at(type)}`, texts: [texts.title, texts.about, texts.choice, `Enqueue ${type}`] },
    { path: '/tokens', texts: [token, person] },
    { path: `/audit?q=${at(person)}`, texts: [`admin:${person}`, schedule], as: 'auditor' },
  ]
}

const quotedIn = (text: string): string => JSON.stringify(text)

/** A form has of it names, titles and descriptions, of members and of groups, and what can be chosen. */
const schemaOf = ({ title, about, choice }: Texts) => ({
  type: 'object',
  title,
  description: about,
  properties: {
    plain: { type: 'string', title, description: about },
    [choice]: { type: 'number', description: choice },
    chosen: { type: 'string', enum: [choice, title] },
    group: { type: 'object', title: about, properties: { [title]: { type: 'boolean' } } },
  },
})
