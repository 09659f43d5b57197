/** The body that asks for a new token. */
import { z } from 'zod'
import { AT_ONCE } from '../../core/limits.ts'
import { listOf, membersOnly } from './collections.ts'
import { duration, name } from './fields.ts'

export const SCOPES = ['producer', 'worker', 'operator', 'viewer', 'admin', 'auditor', 'metrics'] as const
export const newToken = membersOnly({
  name: name,
  scope: z.enum(SCOPES),
  queues: listOf(name, { most: AT_ONCE.queues }).optional().describe('for workers: the only queues they may touch'),
  tenant: name.optional().describe('of an admin’s own tenant unless given'),
  expiresIn: duration.optional(),
}).refine(({ scope, queues }) => queues === undefined || scope === 'worker', {
  path: ['queues'],
  message: 'only a worker’s token can be bound to queues',
})
