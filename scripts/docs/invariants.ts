import { FIELDS, INVARIANTS, type InvariantName } from '../../src/core/invariants.ts'
import { STATES } from '../../src/core/job.ts'
import { code, page, table } from './markdown.ts'

const STEPS = 'each step, by the tests of core, the model and `verify`'
const RECORDS = 'each record, by the tests of core, the model and `verify`'

const CHECKED: Readonly<Record<InvariantName, string>> = {
  I1: 'each step and record, by the tests of core, the model and `verify`; races of claimers on every store',
  I2: STEPS,
  I3: `${STEPS}; the fold of every log by \`verify\``,
  I4: STEPS,
  I5: RECORDS,
  I6: STEPS,
  I7: STEPS,
  I8: 'the model, whose workers believe in every old fence; zombies in `test/chaos/`',
  I9: 'crashes of stores and hosts in the tests of the stores; promise S1',
  I10: RECORDS,
  I11: '`verify` compares the counters with the records',
  I12: 'the model, promise S11, `verify`',
  I13: 'nothing yet: there are no such limits',
  I14: 'promise S16, and the tests of closing in `test/engine/` and `test/chaos/`',
  I15: 'the model: from every record it reaches, fair futures are followed to the end',
  I16: STEPS,
}

export function invariantsPage(): string {
  return page(
    'Invariants',
    'src/core/invariants.ts',
    'What always holds. `stepBreaches` and `recordBreaches` in `src/core/invariants.ts` judge a step and a record; the tests, the model checker and the stores’ checks call these very functions.',
    table(
      ['', 'what holds', 'what looks at it'],
      Object.entries(INVARIANTS).map(([name, text]) => [`**${name}**`, text, CHECKED[name as InvariantName]]),
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
