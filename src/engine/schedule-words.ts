/** What somebody says about a schedule, judged before anything is kept. The same for code, HTTP and the command line. */
import { DURATION_RULE, parseDuration } from '../core/duration.ts'
import type { JobFlow, Priority } from '../core/job.ts'
import { LENGTHS, MAX_DURATION_MS } from '../core/limits.ts'
import { isSegment } from '../core/name.ts'
import type { Violation } from '../core/refusal.ts'
import { CATCH_UP_CAP, CATCH_UPS, type CatchUp, type Definition, type Timing } from '../core/schedule.ts'
import { flowViolations } from '../core/validate.ts'
import { cronTimes } from './cron.ts'

export interface ScheduleWords {
  readonly name: string
  readonly cron?: string | undefined
  /** A duration as people write it. */
  readonly every?: string | number | undefined
  readonly timeZone?: string | undefined
  readonly catchUp?: CatchUp | undefined
  readonly cap?: number | undefined
  readonly jitter?: string | number | undefined
  readonly type: string
  readonly queue?: string | undefined
  readonly priority: Priority
  readonly input: string | undefined
  readonly flow?: JobFlow | undefined
  readonly paused?: boolean | undefined
  readonly source: 'code' | 'hand'
}

type Judged =
  | { readonly ok: true; readonly definition: Definition }
  | { readonly ok: false; readonly violations: readonly Violation[] }

const NAME_RULE = `must be a name of 1 to ${LENGTHS.name} characters, without commas and control characters`
const isName = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= LENGTHS.name && isSegment(value) && !value.includes(',')

const INPUT_RULE = `must have at most ${LENGTHS.scheduleInput} characters as JSON (scheduleInput); let it name what is larger`
const CAP_MOST = 10_000
const DEFAULT_ZONE = 'UTC'

export function definitionFrom(words: ScheduleWords): Judged {
  const { name, type, queue, priority, input, flow, paused, source, catchUp = 'skip', cap = CATCH_UP_CAP } = words
  const violations: Violation[] = []
  const object = (field: string, rule: string) => violations.push({ field, rule })
  for (const [field, value] of Object.entries({ name, type, queue }))
    if (value !== undefined && !isName(value)) object(field, NAME_RULE)
  if (!CATCH_UPS.includes(catchUp)) object('catchUp', `must be one of ${CATCH_UPS.join(', ')}`)
  if (!(Number.isInteger(cap) && cap >= 1 && cap <= CAP_MOST))
    object('cap', `must be a whole number from 1 to ${CAP_MOST}`)
  if (input !== undefined && input.length > LENGTHS.scheduleInput) object('input', INPUT_RULE)
  if (flow !== undefined) violations.push(...flowViolations(flow))
  const jitterMs = parseDuration(words.jitter ?? 0)
  if (jitterMs === undefined || jitterMs < 0 || jitterMs > MAX_DURATION_MS) object('jitter', DURATION_RULE)
  const timing = timingFrom(words, object)
  if (timing === undefined || jitterMs === undefined || violations.length > 0) return { ok: false, violations }
  return {
    ok: true,
    definition: { name, timing, catchUp, cap, jitterMs, type, queue, priority, input, flow, paused, source },
  }
}

function timingFrom(
  { cron, every, timeZone }: Pick<ScheduleWords, 'cron' | 'every' | 'timeZone'>,
  object: (field: string, rule: string) => void,
): Timing | undefined {
  if ((cron === undefined) === (every === undefined)) {
    object('cron', 'a schedule has either cron, or every')
    return undefined
  }
  if (cron !== undefined) {
    const times = cronTimes(String(cron), timeZone ?? DEFAULT_ZONE)
    if (times.ok) return { cron, timeZone: timeZone ?? DEFAULT_ZONE }
    object(/time zone/i.test(times.rule) ? 'timeZone' : 'cron', times.rule)
    return undefined
  }
  if (timeZone !== undefined) object('timeZone', 'an interval is elapsed time: it has none')
  const everyMs = parseDuration(every)
  if (everyMs !== undefined && Number.isInteger(everyMs) && everyMs >= 1_000 && everyMs <= MAX_DURATION_MS)
    return { everyMs, anchor: 0 }
  object('every', `${DURATION_RULE}, a second at least`)
  return undefined
}
