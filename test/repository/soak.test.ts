/** `npm run soak` stays below four hours: each part is stopped at its limit, and they run one after the other. */
import { expect, it } from 'vitest'
import { partsOf, SOAK_MINUTES } from '../../scripts/parts.ts'

it('the parts of the soak together may take less than 240 minutes', () => {
  const minutes = partsOf(true).map(({ soakMinutes = SOAK_MINUTES }) => soakMinutes)
  expect(minutes.reduce((sum, each) => sum + each, 0)).toBeLessThan(240)
  for (const each of minutes) expect(each).toBeGreaterThan(0)
})
