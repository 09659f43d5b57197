/** The few small documents that can be read and written over HTTP: queues, workers, the types they run, schedules and policies. */
import type { Policy } from '../core/policy.ts'
import type { Setting, SettingAnswer, SettingOperation } from '../store/store.ts'
import type { Http } from './http.ts'
import { pathTo } from './path.ts'
import { remotePolicy } from './policies.ts'
import { checked } from './refused.ts'
import { type ScheduleOverHttp, scheduleText, scheduleWords } from './schedule-words.ts'
import { policyToWire } from './words.ts'

export async function remoteSettings(
  http: Http,
  operations: readonly SettingOperation[],
  now: number,
): Promise<readonly SettingAnswer[]> {
  const answers: SettingAnswer[] = []
  for (const operation of operations) {
    if (operation.op === 'list' && operation.collection === 'worker') {
      answers.push({ now, status: 'ok', settings: await workersAfter(http, operation.after, operation.limit) })
      continue
    }
    if (operation.op === 'list' && operation.collection === 'schedule') {
      answers.push({ now, status: 'ok', settings: await schedulesAfter(http, operation.after, operation.limit, now) })
      continue
    }
    if (operation.collection === 'policy') {
      answers.push(await remotePolicy(http, operation, now))
      continue
    }
    const text = await documentOf(http, operation)
    const found = text === undefined || operation.op === 'list' ? [] : [settingOf(operation.key, text, now)]
    answers.push({ now, status: 'ok', settings: found })
  }
  return answers
}

const settingOf = (key: string, text: string, now: number): Setting => ({ key, text, rev: 1, updatedAt: now })

/** The document's text, read or written; undefined where there is none. */
async function documentOf(http: Http, operation: SettingOperation): Promise<string | undefined> {
  const { collection, op } = operation
  switch (`${collection} ${op}` as const) {
    case 'queue get':
      return JSON.stringify(await asked(http, 'GET', pathTo('queues', nameIn(operation))))
    case 'queue put': {
      const paused = (JSON.parse(textOf(operation)) as { readonly paused?: boolean }).paused === true
      await asked(http, 'POST', pathTo('queues', nameIn(operation), paused ? 'pause' : 'resume'), {})
      return textOf(operation)
    }
    case 'worker put':
      await asked(http, 'PUT', pathTo('workers', nameIn(operation)), JSON.parse(textOf(operation)))
      return textOf(operation)
    case 'type get': {
      const { status, body } = await http.request('GET', pathTo('types', nameIn(operation)))
      if (status === 404) return undefined
      const { queue, policy, inputSchema } = checked(status, body)
      return JSON.stringify({ queue, policy, inputSchema })
    }
    case 'type put': {
      const { policy, ...rest } = JSON.parse(textOf(operation)) as { readonly policy: Policy }
      await asked(http, 'PUT', pathTo('types', nameIn(operation)), { ...rest, policy: policyToWire(policy) })
      return textOf(operation)
    }
    case 'schedule get': {
      const { status, body } = await http.request('GET', pathTo('schedules', nameIn(operation)))
      if (status === 404) return undefined
      const found: unknown = checked(status, body)
      return scheduleText(found as ScheduleOverHttp)
    }
    case 'schedule put':
      await asked(http, 'PUT', pathTo('schedules', nameIn(operation)), scheduleWords(textOf(operation)))
      return textOf(operation)
    case 'schedule remove':
      await asked(http, 'DELETE', pathTo('schedules', nameIn(operation)))
      return undefined
    default:
      throw new Error(`pawl: ${collection} documents cannot be ${op === 'list' ? 'listed' : 'changed'} over HTTP.`)
  }
}

/** Of the token's tenant, in the order of their names, as they would stand in a store. */
async function workersAfter(http: Http, after: string, limit: number): Promise<readonly Setting[]> {
  const [tenant = '', name] = namesIn(after)
  const query = new URLSearchParams({ limit: String(limit), ...(name !== undefined && { cursor: name }) })
  const { workers } = (await asked(http, 'GET', `/v1/workers?${query}`)) as {
    readonly workers: readonly SeenOverHttp[]
  }
  return workers.map(({ workerId, seenAt, present: _, ...words }) => ({
    ...settingOf(JSON.stringify([tenant, workerId]), JSON.stringify(words), Date.parse(seenAt)),
  }))
}

/** As they would stand in a store. */
async function schedulesAfter(http: Http, after: string, limit: number, now: number): Promise<readonly Setting[]> {
  const [tenant = '', name] = namesIn(after)
  const query = new URLSearchParams({ limit: String(limit), ...(name !== undefined && { cursor: name }) })
  const { schedules } = (await asked(http, 'GET', `/v1/schedules?${query}`)) as {
    readonly schedules: readonly ScheduleOverHttp[]
  }
  return schedules.map((schedule) => settingOf(JSON.stringify([tenant, schedule.name]), scheduleText(schedule), now))
}

interface SeenOverHttp {
  readonly workerId: string
  readonly seenAt: string
  readonly present: boolean
}

async function asked(http: Http, method: string, path: string, document?: unknown): Promise<unknown> {
  const { status, body } = await http.request(
    method,
    path,
    document === undefined ? undefined : JSON.stringify(document),
  )
  return checked(status, body)
}

/** Tenant and name of a key. What all keys of a tenant begin with is not one. */
const namesIn = (after: string): readonly string[] =>
  after === '' ? [] : (JSON.parse(after.endsWith(',') ? `${after.slice(0, -1)}]` : after) as string[])

const textOf = (operation: SettingOperation): string => (operation.op === 'put' ? operation.text : '')

/** Keys are JSON of [tenant, name]; the tenant comes from the token. */
function nameIn(operation: SettingOperation): string {
  const parsed: unknown = operation.op === 'list' ? [] : JSON.parse(operation.key)
  return Array.isArray(parsed) ? String(parsed[1]) : ''
}
