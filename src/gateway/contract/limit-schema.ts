/** What is said about limit keys. */
import { z } from 'zod'
import { KEY_STATES } from '../../core/flow/key.ts'
import { LIMITS, SIZES } from '../../core/limits.ts'
import { listOf, membersOnly } from './collections.ts'
import { duration, key, text } from './fields.ts'
import { pageQuery } from './queries.ts'

const within = ({ min, max }: { readonly min: number; readonly max: number }) => z.number().min(min).max(max)

const numbers = {
  concurrency: z.int().min(LIMITS.concurrency.min).max(LIMITS.concurrency.max).optional(),
  rate: z
    .union([text(40), membersOnly({ most: z.int().min(LIMITS.rate.min).max(LIMITS.rate.max), per: duration })])
    .optional()
    .describe('starts within any window: `5/s`, `100/m`, `10/30s`'),
  budget: membersOnly({ amount: within(LIMITS.amount), per: duration })
    .optional()
    .describe('what may be spent'),
  weight: within(LIMITS.weight).optional().describe('its share of the turns; 1 unless given'),
}

export const limit = membersOnly(numbers)

export const declaredLimits = listOf(membersOnly({ ...numbers, adaptive: z.boolean().optional() }), {
  most: SIZES.limits,
})

export const jobFlow = membersOnly({
  keys: listOf(key, { most: SIZES.limits }).default([]).describe('its limit keys, in the order its type declares them'),
  fair: key.optional().describe('on whose account it takes turns'),
}).transform(({ keys, fair }) => ({ keys, fair }))

export const limitsQuery = membersOnly({
  ...pageQuery.shape,
  state: z
    .string()
    .transform((value) => value.split(','))
    .pipe(listOf(z.enum(KEY_STATES), { most: KEY_STATES.length }))
    .optional()
    .describe('open, slow, broken, probing; several with commas. The page may be short, and go on'),
})
