/** `strip`: the texts beside a job that has ended go, unless it may run again and would need them. */
import type { Strip } from '../command.ts'
import { type Draft, observe } from '../draft.ts'
import type { Job, State } from '../job.ts'
import type { Ruling } from '../ruling.ts'
import { strippedIn } from '../stripped.ts'

export function decideStrip(d: Draft, job: Job, { evenOf }: Strip): Ruling {
  const states: readonly State[] = strippedIn(evenOf === undefined ? [] : [evenOf])
  if (!states.includes(job.state)) {
    const message = `Job ${job.id} is ${job.state}: it may run again, and would need its bodies. Name the state to remove them all the same.`
    return { code: 'ILLEGAL_TRANSITION', message }
  }
  observe(d, 'stripped', {})
  return undefined
}
