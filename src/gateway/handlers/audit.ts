/** `GET /audit`: what was done to the installation, by whom, from where; and how handlers tell of it. */
import type { z } from 'zod'
import type { Act } from '../../engine/audit.ts'
import { type Call, type Handler, json, type Parts } from '../call.ts'
import type { pageQuery } from '../contract/queries.ts'
import { toWire } from '../contract/wire.ts'
import { Objected, objection } from '../problem.ts'

const AGENT_LENGTH = 200

export const listAudit: Handler = async (call, { audit }) => {
  const { limit, cursor } = call.query as z.output<typeof pageQuery>
  const page = await audit.page(call.token.tenant, beforeIn(cursor), limit)
  return json(200, { entries: page.entries.map((entry) => toWire(entry)), cursor: page.cursor?.toString() })
}

/** Said before the act: nothing is done that is not told. */
export function audited(
  call: Call,
  { audit }: Parts,
  act: Pick<Act, 'act' | 'about' | 'count' | 'reason'>,
): Promise<void> {
  const { token, address, headers } = call
  return audit.append(token.tenant, {
    ...act,
    by: `${token.scope}:${token.name}`,
    token: token.id,
    address,
    agent: headers.get('user-agent')?.slice(0, AGENT_LENGTH),
  })
}

function beforeIn(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined
  if (/^[1-9]\d{0,14}$/.test(cursor)) return Number(cursor)
  throw new Objected(
    objection('MALFORMED', 'The cursor is not one of ours.', [
      { field: 'query.cursor', rule: 'must be the cursor of an earlier page' },
    ]),
  )
}
