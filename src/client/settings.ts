/** The few small documents that can be read and written over HTTP: queues and workers. */
import type { Wire } from '../gateway/contract/wire.ts'
import type { SettingAnswer, SettingOperation } from '../store/store.ts'
import type { Http } from './http.ts'
import { GatewayRefused, refusalOf } from './refused.ts'

export async function remoteSettings(
  http: Http,
  operations: readonly SettingOperation[],
  now: number,
): Promise<readonly SettingAnswer[]> {
  const answers: SettingAnswer[] = []
  for (const operation of operations) answers.push(await one(http, operation, now))
  return answers
}

async function one(http: Http, operation: SettingOperation, now: number): Promise<SettingAnswer> {
  const none: SettingAnswer = { now, status: 'ok', settings: [] }
  if (operation.collection === 'queue' && operation.op !== 'list') {
    const queue = nameIn(operation.key)
    const path = `/v1/queues/${encodeURIComponent(queue)}`
    if (operation.op === 'get') {
      const { status, body } = await http.request('GET', path)
      return status === 200
        ? { ...none, settings: [{ key: operation.key, text: JSON.stringify(body), rev: 1, updatedAt: now }] }
        : none
    }
    if (operation.op === 'put') {
      const paused = (JSON.parse(operation.text) as { readonly paused?: boolean }).paused === true
      const { status, body } = await http.request('POST', `${path}/${paused ? 'pause' : 'resume'}`, '{}')
      if (status >= 400) throw new GatewayRefused(status, refusalOf(body as Wire))
      return { ...none, settings: [{ key: operation.key, text: operation.text, rev: 1, updatedAt: now }] }
    }
  }
  if (operation.collection === 'worker' && operation.op === 'put') {
    await http.request('PUT', `/v1/workers/${encodeURIComponent(nameIn(operation.key))}`, operation.text)
    return { ...none, settings: [{ key: operation.key, text: operation.text, rev: 1, updatedAt: now }] }
  }
  // Types are announced by workers that have the store at hand; over HTTP a job's own words say everything.
  if (operation.collection === 'type') return none
  throw new Error(
    `pawl: ${operation.collection} documents cannot be ${operation.op === 'list' ? 'listed' : 'changed'} over HTTP this way.`,
  )
}

/** Keys are JSON of [tenant, name]; the tenant comes from the token. */
const nameIn = (key: string): string => {
  const parsed: unknown = JSON.parse(key)
  return Array.isArray(parsed) ? String(parsed[1]) : key
}
