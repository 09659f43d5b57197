/** One rule of a policy, as it is written and as it is asked. */
import { z } from 'zod'
import { DURATION_RULE, parseDuration } from '../core/duration.ts'
import type { Limit } from '../core/flow/key.ts'
import { resolveByHand } from '../core/flow/limit-input.ts'
import { type Bound, COUNTS, DURATIONS, LENGTHS, LIMITS, SIZES } from '../core/limits.ts'
import { COMMA_RULE, isSegment, SEGMENT_RULE } from '../core/name.ts'
import type { Violation } from '../core/refusal.ts'
import { isReserved, RESERVED_RULE } from '../core/reserved.ts'
import { compiled, type Expression, Unacceptable } from './expression.ts'
import { patternRule } from './topics.ts'

/** What a rule may say about the jobs it is for. Of several that apply, all hold; `deny` is the last word. */
export const DECISIONS = ['deny', 'require_approval', 'throttle', 'redirect', 'constrain', 'allow'] as const
export type Decision = (typeof DECISIONS)[number]

const DAY_MS = 86_400_000

export const name = z.string().min(1).max(LENGTHS.name).refine(isSegment, SEGMENT_RULE)

const pattern = z
  .string()
  .min(1)
  .max(LENGTHS.name)
  .superRefine((text, context) => {
    const rule = patternRule(text)
    if (rule !== undefined) context.addIssue(rule)
  })

const topic = pattern
  .refine((text) => !/[*>]/.test(text), 'must be a topic, not a pattern')
  .refine((text) => !text.includes(','), COMMA_RULE)
  .refine((text) => !isReserved(text), RESERVED_RULE)

/** Numbers of a key, in the words that a job type has for them. */
const limit = z.unknown().transform((asked, context): Limit => {
  const found: Violation[] = []
  const numbers = resolveByHand(asked, '', found)
  // Whether anything is said at all is of interest where nothing is wrong with it.
  const wrong = found.length > 1 ? found.filter(({ field }) => field !== '') : found
  for (const { field, rule } of wrong)
    context.addIssue({ code: 'custom', message: rule, path: field.split('.').filter((part) => part !== '') })
  return found.length === 0 ? numbers : z.NEVER
})

const within = ({ min, max }: Bound) =>
  z.union([z.string(), z.number()]).transform((text, context) => {
    const ms = parseDuration(text)
    if (ms !== undefined && ms >= min && ms <= max) return ms
    context.addIssue(ms === undefined ? DURATION_RULE : `must be between ${min} and ${max} ms`)
    return z.NEVER
  })

const condition = z.string().transform((text, context): Expression => {
  try {
    return compiled(text)
  } catch (error) {
    if (!(error instanceof Unacceptable)) throw error
    context.addIssue(error.message)
    return z.NEVER
  }
})

export const common = {
  id: name.describe('told with every decision it makes; no other rule has it'),
  tenants: z.array(name).min(1).max(1_000).optional().describe('whose jobs it is for; everybody’s unless given'),
  topics: z.array(pattern).min(1).max(1_000).optional().describe('which topics it is for; all unless given'),
  when: condition.optional().describe('a condition in CEL; true unless given'),
  reason: z.string().max(LENGTHS.message).optional().describe('told to whoever asks why'),
}

const constraint = z
  .strictObject({
    timeout: within(DURATIONS.attemptMs).optional().describe('how long an attempt may run at most'),
    attempts: z.int().min(COUNTS.maxAttempts.min).max(COUNTS.maxAttempts.max).optional(),
    concurrency: z
      .int()
      .min(LIMITS.concurrency.min)
      .max(LIMITS.concurrency.max)
      .optional()
      .describe('how many of the jobs that this rule is for run at once, in each tenant'),
    labels: z
      .record(
        name.refine((text) => text !== '__proto__', 'must not be __proto__'),
        z.string().max(LENGTHS.entry),
      )
      .refine((labels) => Object.keys(labels).length > 0, 'must name one')
      .refine((labels) => Object.keys(labels).length <= SIZES.labels, `must be at most ${SIZES.labels}`)
      .optional()
      .describe('what it is labelled with, whatever it was enqueued with under these names'),
  })
  .refine((terms) => Object.keys(terms).length > 0, 'must narrow something')

export const ruleSchema = z.discriminatedUnion('decision', [
  z.strictObject({ ...common, decision: z.literal('allow') }),
  z.strictObject({ ...common, decision: z.literal('deny') }),
  z.strictObject({
    ...common,
    decision: z.literal('require_approval'),
    expires: within({ min: 1_000, max: 30 * DAY_MS })
      .default(DAY_MS)
      .describe('not approved by then: denied'),
    fourEyes: z.boolean().default(false).describe('whoever enqueued the job cannot approve it'),
  }),
  z.strictObject({
    ...common,
    decision: z.literal('throttle'),
    key: name.describe('the key whose limit holds'),
    limit: limit.optional().describe('what holds for the key unless somebody sets another limit for it'),
  }),
  z.strictObject({ ...common, decision: z.literal('constrain'), constrain: constraint }),
  z.strictObject({ ...common, decision: z.literal('redirect'), topic: topic.describe('where it goes instead') }),
])

export type Rule = z.output<typeof ruleSchema>
export type Constraint = z.output<typeof constraint>
