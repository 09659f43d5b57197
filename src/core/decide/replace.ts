/** `replace`: a duplicate brings a newer input, and with `debounce` moves the time. No state change. */

import type { Newer } from '../brought.ts'
import type { Replace } from '../command.ts'
import { type Draft, observe } from '../draft.ts'
import type { Job, Time } from '../job.ts'
import { debouncedTo, placeOf } from '../newer.ts'
import { quota } from '../quota.ts'
import { askedOf } from '../recast.ts'
import type { Ruling } from '../ruling.ts'

export function decideReplace(d: Draft, job: Job, command: Replace): Ruling {
  const { input } = command
  const place = placeOf(job, command)
  if (input !== undefined && input.name !== place) {
    const message = `Job ${job.id} is ${job.state} after ${job.attempt} attempts: a newer input is its ${place}.`
    return { code: 'REV_CONFLICT', message }
  }
  const before = place === 'next' ? job.newer?.next?.input : job.newer?.input
  const full = quota(job, input, before)
  if (full !== undefined) return full
  const { newer, runAt } = place === 'next' ? forNext(d, job, command) : forItself(d, job, command)
  observe(d, 'replaced', { newer, runAt })
  return undefined
}

interface Replaced {
  readonly newer: Newer
  readonly runAt: Time | undefined
}

function forItself(d: Draft, job: Job, command: Replace): Replaced {
  const { input } = command
  const brought = input && { input, rev: d.job.rev + 1, by: command.actor }
  const newer = { ...(brought ?? job.newer ?? NOTHING), next: undefined }
  return { newer, runAt: timeFor(d, command, job.spec.createdAt) }
}

function forNext(d: Draft, job: Job, command: Replace): Replaced {
  const { newer } = job
  const { input, runAt, since = d.at, flow = askedOf(job).flow, by = command.actor } = newer?.next ?? {}
  const next = {
    input: command.input ?? input,
    runAt: timeFor(d, command, since) ?? runAt,
    since,
    flow: command.flow ?? flow,
    by: command.input === undefined ? by : command.actor,
  }
  return { newer: { ...(newer ?? NOTHING), next }, runAt: undefined }
}

const NOTHING = { input: undefined }

/** Undefined: it stays as it was. */
function timeFor(d: Draft, { runAt, debounce }: Replace, first: Time): Time | undefined {
  if (runAt !== undefined) return Math.max(d.at, runAt)
  return debounce && debouncedTo(d.at, first, debounce)
}
