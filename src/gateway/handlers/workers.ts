/** Workers: each tells that it is there; who has been silent for long is not listed as present. */
import type { z } from 'zod'
import { type Handler, json } from '../call.ts'
import type { worker } from '../contract/schemas.ts'

const PRESENT_MS = 60_000
const keyOf = (tenant: string, worker: string): string => JSON.stringify([tenant, worker])

export const listWorkers: Handler = async (call, { engine }) => {
  const found: unknown[] = []
  let after = ''
  for (;;) {
    const [page] = await engine.settings([{ op: 'list', collection: 'worker', after, limit: 500 }])
    const settings = page?.settings ?? []
    for (const { key, text, updatedAt } of settings) {
      const [tenant, workerId] = JSON.parse(key) as readonly [string, string]
      if (tenant !== call.token.tenant) continue
      found.push({
        workerId,
        ...(JSON.parse(text) as object),
        seenAt: new Date(updatedAt).toISOString(),
        present: engine.now() - updatedAt < PRESENT_MS,
      })
    }
    const last = settings.at(-1)
    if (last === undefined || settings.length < 500) return json(200, { workers: found })
    after = last.key
  }
}

export const reportWorker: Handler = async (call, { engine }) => {
  const text = JSON.stringify(call.body as z.output<typeof worker>)
  const key = keyOf(call.token.tenant, call.params['worker'] ?? '')
  const [answer] = await engine.settings([{ op: 'put', collection: 'worker', key, text, rev: undefined }])
  return json(200, { workerId: call.params['worker'], seenAt: new Date(answer?.now ?? engine.now()).toISOString() })
}
