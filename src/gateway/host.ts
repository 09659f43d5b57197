/** An application that the gateway is part of, and that knows its callers by itself. */
import { DEFAULT_TENANT } from '../core/job.ts'
import type { Scope } from './contract/route.ts'
import type { Token } from './token.ts'

/** Who somebody is whom the application has let in. */
export interface Access {
  /** For the audit log; whoever has the same name has one share of what the gateway can do. */
  readonly name: string
  /** What they may: as that of a token. */
  readonly scope: Scope
  /**
   * Whose jobs they see.
   * @default 'default'
   */
  readonly tenant?: string | undefined
  /**
   * The only queues they may touch. Who enqueues under limit keys may name those that begin with one of these and a slash.
   * @default all
   */
  readonly queues?: readonly string[] | undefined
}

/** Who asks; undefined where the application does not know them: then a token of the gateway's is looked for. */
export type Authorize = (request: Request, env: unknown) => Access | undefined | Promise<Access | undefined>

/** As if they had shown a token. */
export const guest = ({ name, scope, tenant = DEFAULT_TENANT, queues }: Access): Token => ({
  id: `host:${tenant}:${scope}:${name}`,
  name,
  scope,
  tenant,
  queues,
  createdAt: 0,
  expiresAt: undefined,
  revokedAt: undefined,
})
