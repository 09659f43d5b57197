/** Acts of whoever has the store at hand go into its audit log; a gateway sees to that by itself. */
import { hostname } from 'node:os'
import { type Act, AuditLog } from '../engine/audit.ts'
import type { Engine } from '../engine/engine.ts'
import { isGateway, type Session } from './session.ts'

/** To be said before the act. */
export async function audited(
  { url, actor }: Session,
  engine: Engine,
  tenant: string,
  act: Omit<Act, 'by' | 'address' | 'agent' | 'token'>,
): Promise<void> {
  if (isGateway(url)) return
  await new AuditLog(engine, { address: hostname(), agent: 'pawl' }).append(tenant, { ...act, by: actor })
}
