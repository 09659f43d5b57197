/** Policies over HTTP, as they would stand in a store. */
import type { Setting, SettingAnswer, SettingOperation } from '../store/store.ts'
import type { Http } from './http.ts'
import { pathTo } from './path.ts'
import { checked } from './refused.ts'

interface PolicyOverHttp {
  readonly name: string
  readonly text?: string
  readonly rev: number
  readonly by: string
  readonly setAt: string
  readonly faults: readonly string[]
}

export async function remotePolicy(http: Http, operation: SettingOperation, now: number): Promise<SettingAnswer> {
  if (operation.op === 'list') return { now, status: 'ok', settings: await policiesAfter(http, operation) }
  const name = nameIn(operation.key)
  // Whoever has the store sees to what schedulers look at.
  if (name === undefined) return { now, status: 'ok', settings: [] }
  const path = pathTo('policies', name)
  const { status, body } = await asked(http, operation, path)
  if (status === 404) return { now, status: operation.op === 'get' ? 'ok' : 'conflict', settings: [] }
  if (status === CHANGED) {
    const { rev } = body as { readonly rev: number }
    const there = { key: operation.key, text: '', rev, updatedAt: now }
    return { now, status: 'conflict', settings: rev === 0 ? [] : [there] }
  }
  const found = policyIn(checked(status, body))
  return { now, status: 'ok', settings: operation.op === 'remove' ? [] : [settingOf(operation.key, found)] }
}

/** Another revision is there. */
const CHANGED = 409

function asked(http: Http, operation: Exclude<SettingOperation, { op: 'list' }>, path: string) {
  switch (operation.op) {
    case 'get':
      return http.request('GET', path)
    case 'put': {
      const { text } = JSON.parse(operation.text) as { readonly text: string }
      return http.request('PUT', path, JSON.stringify({ text, rev: operation.rev }))
    }
    case 'remove':
      return http.request('DELETE', operation.rev === undefined ? path : `${path}?rev=${operation.rev}`)
  }
}

async function policiesAfter(
  http: Http,
  { after, limit }: Extract<SettingOperation, { op: 'list' }>,
): Promise<readonly Setting[]> {
  const { status, body } = await http.request('GET', '/v1/policies')
  const policies = checked(status, body)['policies'] as readonly PolicyOverHttp[]
  const [tenant = '', last] = JSON.parse(after.endsWith(',') ? `${after.slice(0, -1)}]` : after) as string[]
  const names = policies.map(({ name }) => name).filter((name) => last === undefined || name > last)
  const found: Setting[] = []
  for (const name of names.slice(0, limit)) {
    const one = await http.request('GET', pathTo('policies', name))
    if (one.status === 404) continue
    found.push(settingOf(JSON.stringify([tenant, name]), policyIn(checked(one.status, one.body))))
  }
  return found
}

/** The key is the tenant's name and its own; which tenant comes from the token. Undefined: it is nobody's policy. */
const nameIn = (key: string): string | undefined =>
  key.startsWith('[') ? String((JSON.parse(key) as readonly unknown[])[1]) : undefined

const settingOf = (key: string, { text = '', rev, by, setAt, faults }: PolicyOverHttp): Setting => ({
  key,
  text: JSON.stringify({ text, by, faults }),
  rev,
  updatedAt: Date.parse(setAt),
})

const policyIn = (told: unknown): PolicyOverHttp => told as PolicyOverHttp
