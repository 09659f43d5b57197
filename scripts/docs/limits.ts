import { JSON_LENGTH_MAX } from '../../src/core/json.ts'
import { AT_ONCE, COUNTS, DURATIONS, LENGTHS, SIZES } from '../../src/core/limits.ts'
import { AUDIT_DAYS } from '../../src/engine/audit.ts'
import { TIMES_WHAT_IS_LEFT } from '../../src/gateway/allowance.ts'
import { CAPS } from '../../src/gateway/caps.ts'
import { BODY_BYTES } from '../../src/gateway/contract/route.ts'
import { OBJECTIONS } from '../../src/gateway/problem.ts'
import { code, page, table } from './markdown.ts'

export function limitsPage(): string {
  return page(
    'Limits',
    'src/core/limits.ts and src/gateway/caps.ts',
    'Everything of which there can be many has a bound with a name. A refusal tells it; nothing is cut short in silence.',
    '## Caps of a gateway',
    'An operator sets them: `pawl serve --cap streamsPerToken=500`, or `caps` of `startGateway`. The problem that refuses has the name as `cap` and the number as `most`. What is per token is the token’s own fault (429), what is per process is everybody’s (503); both come with `Retry-After`.',
    table(
      ['cap', 'default', 'per', 'of', 'refused as'],
      Object.entries(CAPS).map(([name, { most, per, of, refusal }]) => [
        code(name),
        String(most),
        per,
        of,
        refusal === undefined ? '' : `${OBJECTIONS[refusal].status} ${code(refusal)}`,
      ]),
    ),
    `Bodies without anything in them that is kept as it is are smaller whatever the cap: words alone ${BODY_BYTES.words} bytes, lists of names ${BODY_BYTES.lists}. Of each body the first 16 KiB are not counted among the bytes under way, so that a heartbeat is always heard. Lists are turned away when half of \`requests\` are under way, enqueues at three quarters, claims at all of them, words of owners never.`,
    `What is per process is for everybody: of streams, polls, lanes and bytes a tenant may have ${TIMES_WHAT_IS_LEFT} times as much as it leaves to others, whatever number of tokens it has; alone that is four fifths.`,
    'Queues and types are counted by each gateway: what the store held when it was first asked, and what came through it since. Kinds are counted by what has ever come through a gateway of the installation, since stores never forget one; another gateway that runs at the same time hears of those when it starts. A worker’s name is its token’s for as long as it is present, which is a minute after its last word; then another token of the tenant may take it. One that has been silent for an hour is shown no more, makes room when the next one tells of itself, and is removed by retention. Where a tenant has all the tokens it may have, those that have expired or been revoked make room.',
    `The audit log keeps its entries for ${AUDIT_DAYS} days.`,
    '## What one job may have',
    'The same for everybody, over HTTP or not; refused as `LIMIT_REACHED`, `INBOX_FULL`, or `INVALID` with the field.',
    table(
      ['what', 'most', 'meaning'],
      Object.entries(SIZES).map(([name, most]) => [code(name), String(most), MEANINGS[name as keyof typeof SIZES]]),
    ),
    `An input, a result, a memo has ${JSON_LENGTH_MAX} characters as JSON at most; what is larger belongs elsewhere, with a pointer here.`,
    '## Lengths',
    'In UTF-16 code units.',
    table(
      ['of', 'most'],
      Object.entries(LENGTHS).map(([name, most]) => [code(name), String(most)]),
    ),
    '## At once',
    'How many a single request may name.',
    table(
      ['of', 'most'],
      Object.entries(AT_ONCE).map(([name, most]) => [code(name), String(most)]),
    ),
    '## Policies',
    table(
      ['of', 'least', 'most'],
      Object.entries({ ...DURATIONS, ...COUNTS }).map(([name, { min, max }]) => [code(name), String(min), String(max)]),
    ),
  )
}

const MEANINGS: Readonly<Record<keyof typeof SIZES, string>> = {
  inbox: 'signals that nobody has waited for yet',
  recent: 'answers remembered for repetition under one lease; older ones are found in the log',
  counters: 'counters',
  artifacts: 'artifacts',
  compensations: 'steps that would have to be undone',
  labels: 'labels',
  requires: 'capabilities that its route requires',
  capabilities: 'capabilities that a worker tells of',
  env: 'entries of its environment',
  context: 'entries in the context of a failure',
  limits: 'limit keys of one job',
  breaking: 'codes in `breaking`',
  errors: 'codes in the error table of its policy',
  observations: 'progress, checkpoints, steps, artifacts and signals in its log; heartbeats apart',
  bodySize: 'code units of its checkpoint, memos and signals together',
}
