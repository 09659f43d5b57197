import { CODE_MEANS, DEFAULT_ERRORS, DEPENDENCY_CODES } from '../../src/core/errors.ts'
import { DEAD_LETTER_REASONS, STAGES } from '../../src/core/job.ts'
import { CLASS_MEANS, OWN_CODE_MEANS, REASON_MEANS } from '../../src/core/meanings.ts'
import { ERROR_CLASSES } from '../../src/core/policy.ts'
import { REFUSALS } from '../../src/core/refusal.ts'
import { OBJECTIONS } from '../../src/gateway/problem.ts'
import { code, codes, page, table } from './markdown.ts'

export function errorsPage(): string {
  return page(
    'Errors',
    'src/core/refusal.ts, src/core/errors.ts, src/core/job.ts and src/gateway/problem.ts',
    'Families of words, never mixed: **refusals** say why pawl did not accept a command (**objections** why the gateway did not), **error codes** say what went wrong in a handler, and **classes** say what that means for the job.',
    '## Refusals',
    'A refusal changes nothing. It names the job, its state and revision, the current owner and the end of its lease, and what to do next; the same object reaches the library, the command line and HTTP.',
    ...Object.entries(REFUSALS).map(
      ([name, { title, why, next }]) => `### ${name}\n\n**${title}.** ${why}\n\n*Next:* ${next}`,
    ),
    '## Objections',
    'What the gateway itself refuses, before anybody asks about a job. The `type` of every problem leads to the same words at the gateway’s own `/docs/errors`.',
    ...Object.entries(OBJECTIONS).map(
      ([name, { status, title, next }]) => `### ${name}\n\n**${title}.** HTTP ${status}.\n\n*Next:* ${next}`,
    ),
    '## Error classes',
    table(
      ['class', 'what happens'],
      ERROR_CLASSES.map((name) => [code(name), CLASS_MEANS[name]]),
    ),
    '## Error codes',
    'The default table. A job type may add codes and override these; the error’s own class counts before this table, and an unknown code is `transient`.',
    table(
      ['code', 'class', 'stands for', 'besides'],
      [...DEFAULT_ERRORS].map(([name, kind]) => [
        code(name),
        kind,
        CODE_MEANS[name] ? code(CODE_MEANS[name]) : '',
        besides(name),
      ]),
    ),
    '## Dead letters',
    `Each has a reason, a stage (${codes(STAGES)}), the last error, the number of attempts, the last owner, the end of its lease and the correlation id; null where nothing ever ran.`,
    table(
      ['reason', 'when'],
      DEAD_LETTER_REASONS.map((name) => [code(name), REASON_MEANS[name]]),
    ),
  )
}

function besides(name: string): string {
  const own = OWN_CODE_MEANS[name]
  if (own !== undefined) return own
  return DEPENDENCY_CODES.has(name) ? 'retries spent: `dependency_unavailable`' : ''
}
