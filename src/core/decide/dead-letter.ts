/** `deadLetter`: any live job → `dead_lettered`, with a reason and the stage it was in. */
import type { DeadLetterNow } from '../command.ts'
import type { Draft } from '../draft.ts'
import { conclude, deadLettered, failureOf } from '../ending.ts'
import type { Job } from '../job.ts'
import type { Ruling } from '../ruling.ts'

export function decideDeadLetter(d: Draft, job: Job, command: DeadLetterNow): Ruling {
  const { reason, stage } = command
  const message = command.message ?? `Dead-lettered by ${command.actor}.`
  const error =
    command.message === undefined && job.lastFailure !== undefined
      ? job.lastFailure
      : failureOf(d, reason, message, stage)
  conclude(d, deadLettered(reason, { ...error, stage }))
  return undefined
}
