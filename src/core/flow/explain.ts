/** What holds a job, since when and until when: the first that applies along its keys. */
import type { Time } from '../job.ts'
import type { KeyEvent } from './event.ts'
import { type KeyRecord, keyStateAt, type Limit } from './key.ts'
import { mostOf, RAISE_MS, STRIKES_TO_BREAK } from './numbers.ts'
import { shortageOf } from './room.ts'
import type { Counted, Slot } from './slots.ts'

export interface HoldingKey extends Counted {
  readonly record: KeyRecord
  readonly limit: Limit
  /** Slots let in since the cool-down ended, where there was one. */
  readonly probes: readonly Slot[]
  /** The last that are kept of its changes. */
  readonly log: readonly KeyEvent[]
}

export interface Holding {
  readonly because: string
  readonly who: string
  /** When it changes by itself; undefined where it does not. */
  readonly when: Time | undefined
  readonly next: string
}

/** `others`: flows that take turns with the job's in its lane; `weighed`: by whose weight it has its share. Undefined: nothing holds it. */
export function explainHeld(
  keys: readonly HoldingKey[],
  turns: { readonly lane: string; readonly others: number; readonly weighed: string } | undefined,
  now: Time,
): Holding | undefined {
  for (const key of keys) {
    const holding = heldBy(key, now)
    if (holding !== undefined) return holding
  }
  if (turns === undefined) return undefined
  return {
    because: `It takes turns with ${turns.others} other flows of lane ${turns.lane}.`,
    who: `the flows of lane ${turns.lane}`,
    when: undefined,
    next: `Wait: its turn comes; or give it a greater share: pawl limits set ${turns.weighed} --weight 2.`,
  }
}

function heldBy({ record, limit, gate, count, probes, log }: HoldingKey, now: Time): Holding | undefined {
  const { key } = record
  const shortage = shortageOf(gate, count, now)
  if (shortage === undefined) return undefined
  const held = (because: string, verb: 'show' | 'set' | 'reset', when: Time | undefined): Holding => ({
    because,
    who: `the jobs of key ${key}`,
    when,
    next: `Wait, or see to it: pawl limits ${verb} ${key}.`,
  })
  switch (shortage.obstacle) {
    case 'closed':
      return held(
        `Key ${key} is broken since ${told(record.since)} after ${blame(record)}${reasonIn(log)}: nothing is let in.`,
        'reset',
        shortage.wakeAt,
      )
    case 'spent':
      return held(`Key ${key} has spent ${count.spent} of ${gate.budget} for this window.`, 'set', shortage.wakeAt)
    case 'probed': {
      const who = probes.map(({ job, letInAt }) => `job ${job} since ${told(letInAt)}`)
      return held(`Key ${key} is being probed by ${who.join(' and ')}.`, 'show', undefined)
    }
    case 'paced':
      return held(
        `Key ${key} had ${gate.rate} of ${gate.rate} starts within ${gate.rateMs} ms.`,
        'set',
        shortage.wakeAt,
      )
    case 'full': {
      const runs = `Key ${key} runs ${count.taken} of ${gate.cap}`
      if (keyStateAt(record, now) !== 'slow') return held(`${runs}.`, 'set', undefined)
      const most = mostOf(record, { limit, taken: count.taken })
      const slowed = `slowed from ${most} since ${told(record.since)} after ${blame(record)}; session ${record.session}`
      return held(`${runs} (${slowed}).`, 'reset', Math.max(now, record.stepAt + RAISE_MS))
    }
  }
}

/** Why it broke, where its log has it still. */
function reasonIn(log: readonly KeyEvent[]): string {
  const broken = log.findLast(({ type }) => type === 'broken')
  const reason = broken && REASONS[`${broken.input} ${broken.from}`]
  return reason === undefined ? '' : ` (${reason})`
}

const REASONS: Readonly<Record<string, string | undefined>> = {
  'retry_after open': 'Retry-After',
  'retry_after slow': 'Retry-After',
  'retry_after probing': 'Retry-After',
  'unavailable open': `${STRIKES_TO_BREAK.open} failures in a row`,
  'unavailable slow': `${STRIKES_TO_BREAK.slow} failures in a row`,
  'unavailable probing': 'its probe failed',
  'throttled slow': 'throttled at its least',
  'throttled probing': 'its probe was throttled',
}

function blame({ cause }: KeyRecord): string {
  if (cause === undefined) return 'nobody remembers what'
  const { code, job, actor } = cause
  return job === undefined ? `a word of ${actor}` : `${code ?? 'the end'} of job ${job}`
}

const told = (at: Time): string => new Date(at).toISOString()
