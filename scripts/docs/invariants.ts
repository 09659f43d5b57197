import { FIELDS, INVARIANTS } from '../../src/core/invariants.ts'
import { STATES } from '../../src/core/job.ts'
import { code, page, table } from './markdown.ts'

export function invariantsPage(): string {
  return page(
    'Invariants',
    'src/core/invariants.ts',
    'What always holds. `stepBreaches` and `recordBreaches` in `src/core/invariants.ts` judge a step and a record; the tests, the model checker and the stores’ checks call these very functions.',
    table(
      ['', 'what holds'],
      Object.entries(INVARIANTS).map(([name, text]) => [`**${name}**`, text]),
    ),
    '## Fields of each state (I5)',
    'Present exactly where marked; elsewhere the field is absent.',
    table(
      ['state', ...Object.keys(FIELDS).map(code)],
      STATES.map((state) => [
        code(state),
        ...Object.values(FIELDS).map((states) => (states.includes(state) ? '✓' : '')),
      ]),
    ),
  )
}
