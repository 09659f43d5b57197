import type { Repeated } from './prove.ts'

/** What each byte becomes, and who waits for five seconds, is the same SQL however it is reached: postgres.test.ts has them all. */
export const ELSEWHERE: Repeated = {
  cases: /^(S10 in a new job|S8 what nothing came of|S18 what nobody claims within five seconds)/,
  because: 'it is the same SQL, and postgres.test.ts has them all',
}
