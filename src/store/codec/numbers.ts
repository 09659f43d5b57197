import { assert } from '../../core/assert.ts'

type Numbers = { 2: readonly [number, number]; 3: readonly [number, number, number] }

/** A cursor or a position is numbers with points between. */
export function numbersIn<Length extends keyof Numbers>(
  text: string,
  length: Length,
  what = 'cursor of this store',
): Numbers[Length] {
  const numbers: readonly number[] = text.split('.').map(Number)
  assert(numbers.length === length && numbers.every(Number.isSafeInteger), `not a ${what}: ${text}`)
  return numbers as Numbers[Length]
}
