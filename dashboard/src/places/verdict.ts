/** One sentence on how it goes, made by rules from data; and what needs a person, most urgent first. */
import type { Queue, State, TallyAnswer, TrafficAnswer, Worker } from '../api/wire.ts'
import type { Family } from '../machine/families.ts'
import { count, inWords, plural, rate, span } from '../words/format.ts'
import { isAlone } from '../workers/serving.ts'

export interface Need {
  readonly text: string
  readonly href: string
  readonly family: Family
}

export interface Around {
  readonly counts: TallyAnswer['counts']
  readonly terminal: readonly State[]
  readonly queues: readonly Queue[]
  readonly workers: readonly Worker[]
  readonly traffic: TrafficAnswer | undefined
  /** Names of limit keys. */
  readonly brokenKeys: readonly string[]
  /** Names of schedules that have missed times. */
  readonly missed: readonly string[]
  /** What the gateway says is wrong with its store or clock. */
  readonly trouble: string | undefined
  readonly now: number
}

export interface Verdict {
  readonly sentence: string
  readonly facts: string
  readonly needs: readonly Need[]
}

const OLD_MS = 5 * 60_000
const STILL_MS = 60_000
const PAUSED_LONG_MS = 60 * 60_000

export function verdictOf(around: Around): Verdict {
  const needs = needsOf(around)
  const still = standsStill(around)
  return { needs, sentence: still ?? sentenceFor(needs.length), facts: factsOf(around) }
}

const sentenceFor = (needs: number): string =>
  needs === 0 ? 'Work flows.' : `Work flows. ${inWords(needs)} ${needs === 1 ? 'thing needs' : 'things need'} a person.`

function needsOf({ counts, queues, workers, brokenKeys, missed, trouble, now }: Around): readonly Need[] {
  const waits = queues.filter(({ paused }) => !paused).map((queue) => ({ ...queue, waitedMs: waitedMs(queue, now) }))
  const alone = waits.filter(({ queue, waitedMs: ms }) => ms > 0 && isAlone(workers, queue))
  const old = waits.filter((each) => each.waitedMs > OLD_MS && !alone.includes(each))
  const held = queues.filter(
    ({ paused, pausedSince }) => paused && now - Date.parse(pausedSince ?? '') > PAUSED_LONG_MS,
  )
  const pending = sum(counts, 'pending')
  const letters = sum(counts, 'dead_lettered')
  const all: readonly (Need | false)[] = [
    trouble !== undefined && { text: trouble, href: '/', family: 'bad' },
    alone.length > 0 && {
      text:
        alone.length === 1 ? `queue ${alone[0]?.queue} has no worker` : `${count(alone.length)} queues have no worker`,
      href: '/queues',
      family: 'bad',
    },
    old.length > 0 && { text: `${plural(old.length, 'queue')} behind by over 5 min`, href: '/queues', family: 'again' },
    pending > 0 && { text: `${count(pending)} to decide on`, href: '/approvals', family: 'idle' },
    brokenKeys.length > 0 && {
      text: brokenKeys.length === 1 ? `key ${brokenKeys[0]} is broken` : `${count(brokenKeys.length)} keys are broken`,
      href: '/limits?state=broken',
      family: 'bad',
    },
    letters > 0 && { text: plural(letters, 'dead letter'), href: '/dead-letters', family: 'bad' },
    held.length > 0 && { text: `${plural(held.length, 'queue')} paused over 1 h`, href: '/queues', family: 'closed' },
    missed.length > 0 && {
      text:
        missed.length === 1
          ? `schedule ${missed[0]} missed a time`
          : `${plural(missed.length, 'schedule')} missed times`,
      href: missed.length === 1 ? `/schedules/${encodeURIComponent(missed[0] ?? '')}` : '/schedules',
      family: 'again',
    },
  ]
  return all.filter((need) => need !== false)
}

const waitedMs = ({ readySince }: Queue, now: number): number =>
  readySince === undefined ? 0 : Math.max(0, now - Date.parse(readySince))

const sum = (counts: Around['counts'], state: State): number =>
  counts.filter((each) => each.state === state).reduce((total, each) => total + each.count, 0)

/** Jobs are ready, and nothing has been claimed for a minute. */
function standsStill({ queues, traffic, now }: Around): string | undefined {
  const ready = queues.filter((queue) => !queue.paused && waitedMs(queue, now) > STILL_MS)
  if (ready.length === 0 || traffic === undefined || now - Date.parse(traffic.since) < 2 * STILL_MS) return undefined
  const last = traffic.steps.findLast(({ events }) => (events['claimed'] ?? 0) > 0)
  if (last !== undefined && now - Date.parse(last.at) < STILL_MS + traffic.stepMs) return undefined
  return 'Work stands still: jobs are ready, and no worker has claimed any for a minute.'
}

function factsOf({ counts, terminal, queues, traffic, now }: Around): string {
  const live = counts.filter(({ state }) => !terminal.includes(state)).reduce((total, each) => total + each.count, 0)
  const oldest = Math.max(0, ...queues.map((queue) => waitedMs(queue, now)))
  const waited = oldest < 1_000 ? '' : ` The oldest ready job has waited ${span(Math.floor(oldest / 1_000) * 1_000)}.`
  if (traffic === undefined) return `${plural(live, 'job')} live.${waited}`
  const minutes = Math.max(1 / 6, (Date.parse(traffic.at) - Date.parse(traffic.from)) / 60_000)
  const came = traffic.changes
    .filter(({ event }) => event === 'enqueued')
    .reduce((total, each) => total + each.count, 0)
  const ended = traffic.changes.filter(({ to }) => terminal.includes(to)).reduce((total, each) => total + each.count, 0)
  return `${plural(live, 'job')} live. ${flow(came / minutes)} come in, ${flow(ended / minutes)} end.${waited}`
}

const flow = (perMinute: number): string => (perMinute < 0.05 ? 'none' : rate(perMinute))
