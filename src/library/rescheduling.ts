/** From what a caller says about when and how urgently to what a job is told. */
import type { Priority, Time } from '../core/job.ts'
import type { Violation } from '../core/refusal.ts'
import type { RescheduleOptions } from './asked.ts'
import { delayFrom, priorityFrom, timeFrom } from './enqueue-options.ts'
import { Invalid } from './errors.ts'

interface When {
  readonly runAt: Time | undefined
  readonly priority: Priority | undefined
}

/** Nothing given: now. */
export function rescheduling(asked: Pick<RescheduleOptions, 'delay' | 'runAt' | 'priority'>, now: Time): When {
  const found: Violation[] = []
  const delayMs = delayFrom(asked.delay, found)
  const priority = asked.priority === undefined ? undefined : priorityFrom(asked.priority, found)
  if (found.length > 0) throw new Invalid('reschedule', found)
  const at = timeFrom(asked.runAt) ?? (delayMs === undefined ? undefined : now + delayMs)
  return { runAt: at ?? (priority === undefined ? now : undefined), priority }
}
