/** What a caller who is bound to queues may bring about. */
import type { JobFlow } from '../core/job.ts'
import type { Call } from './call.ts'
import { Objected, objection } from './problem.ts'

/** What is shared by all queues tells of the others, and holds for them, too. */
export function mustBeUnbound({ token }: Call, what: string, next = ''): void {
  if (token.queues === undefined) return
  throw new Objected(objection('FORBIDDEN', `The token is bound to queues, and ${what} is not${next}.`))
}

/**
 * Who is bound to queues enqueues there, and holds up nobody elsewhere: a key is shared by all queues whose jobs name it, so theirs are
 * those that begin with the name of one of their queues. On whose account a job takes turns is a matter of its own queue.
 */
export function mustBeTheirs({ token }: Call, queue: string, flow: Partial<JobFlow> | undefined): void {
  const { queues } = token
  if (queues === undefined) return
  if (!queues.includes(queue)) throw new Objected(objection('FORBIDDEN', `The token is not for queue ${queue}.`))
  const isTheirs = (key: string) => queues.some((name) => key === name || key.startsWith(`${name}/`))
  const foreign = flow?.keys?.find((key) => !isTheirs(key))
  if (foreign === undefined) return
  const own = queues.map((name) => `${name}/…`).join(', ')
  const message = `The token is bound to queues, and ${foreign} may be a key of others: it may name those that begin with ${own}.`
  throw new Objected(objection('FORBIDDEN', message))
}
