/** A gateway on a free port over a store in memory, with a token of every scope for two tenants. */
import type { Engine } from '../../src/engine/engine.ts'
import type { Scope } from '../../src/gateway/contract/route.ts'
import { SCOPES } from '../../src/gateway/contract/token-schema.ts'
import { type Gateway, type GatewayOptions, startGateway } from '../../src/gateway/serve.ts'
import type { Pawl } from '../../src/library/pawl.ts'
import { type OpenOptions, open } from '../../src/open.ts'

export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Record<string, unknown>
}

export interface GatewayFixture extends AsyncDisposable {
  readonly pawl: Pawl
  readonly gateway: Gateway
  readonly secrets: Readonly<Record<string, Readonly<Record<Scope, string>>>>
  /** `who` is a scope of tenant `acme`, a secret, or nothing. */
  ask(
    who: Scope | string | undefined,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answered>
}

/** As much as anybody likes, a thousand times a second: for tests that are about something else. */
export const BOUNDLESS = {
  itemsPerSecond: 1e9,
  itemsAtOnce: 1e9,
  refusalsPerSecond: 1e9,
  failures: 1e9,
  failuresPerAddress: 1e9,
} as const

export async function openGatewayFixture(
  options: Partial<GatewayOptions> = {},
  over: (engine: Engine) => Engine = (engine) => engine,
  opened: OpenOptions = {},
): Promise<GatewayFixture> {
  const pawl = await open('memory:', { tenant: 'acme', log: 'silent', ...opened })
  const gateway = await startGateway({ engine: over(pawl.engine), port: 0, ...options })
  const secrets: Record<string, Record<Scope, string>> = {}
  for (const tenant of ['acme', 'rival']) {
    const own = {} as Record<Scope, string>
    for (const scope of SCOPES) {
      own[scope] = (await gateway.tokens.create({ name: scope, scope, tenant, queues: undefined })).secret
    }
    secrets[tenant] = own
  }
  return {
    pawl,
    gateway,
    secrets,
    async ask(who, method, path, body, headers = {}) {
      const secret = who === undefined ? undefined : (secrets['acme']?.[who as Scope] ?? who)
      const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
      const response = await fetch(gateway.url + path, {
        method,
        headers: {
          ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
          ...(text === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(text === undefined ? {} : { body: text }),
      })
      const answer = await response.text()
      return { status: response.status, headers: response.headers, text: answer, body: parsed(answer) }
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      await pawl[Symbol.asyncDispose]()
    },
  }
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}
