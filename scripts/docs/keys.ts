import { KEY_INPUTS, type KeyInputType } from '../../src/core/flow/event.ts'
import { FLOW_INVARIANTS } from '../../src/core/flow/invariants.ts'
import { KEY_STATE_MEANS, KEY_STATES } from '../../src/core/flow/key.ts'
import {
  CALM_BASE_MS,
  COOL_BASE_MS,
  COOL_MAX_MS,
  calmMs,
  LEVEL_MAX,
  RAISE_MS,
  RAISED_CAP_MAX_MS,
  recoveryMs,
  STRIKE_MS,
  STRIKES_TO_BREAK,
} from '../../src/core/flow/numbers.ts'
import { BREAKING_CODES, THROTTLING_CODES } from '../../src/core/flow/signal.ts'
import { keyMovesFrom } from '../../src/core/flow/transitions.ts'
import { code, codes, page, table } from './markdown.ts'

export function keysPage(): string {
  return page(
    'The life of a key',
    'src/core/flow/',
    'Jobs that share something (a domain, an API, a customer) share a key. What is behind it may push back or fail, and then the key has a life of its own: a second, small machine. Like the first it is data, `decideKey` asserts that whatever it answers with stands here, and the model checker explores it and kills its mutants. It is the part of flow that is pure: job types do not have `limit` yet.',
    '## States',
    '`probing` is not stored: it is `broken` whose time has come, as “delayed” is `queued` with a later `runAt`.',
    table(
      ['state', 'meaning'],
      KEY_STATES.map((state) => [code(state), KEY_STATE_MEANS[state]]),
    ),
    '## What changes it',
    'A signal is *fresh* if its attempt was claimed after the last episode began; else it is an *echo* of that one. So a burst of failures is one episode. What has no cell changes nothing.',
    table(
      ['input', ''],
      KEY_INPUTS.map((input) => [code(input), INPUT_MEANS[input]]),
    ),
    table(['input', 'while', 'to', 'event', 'when'], moves()),
    '## Numbers',
    table(
      ['what', 'number'],
      [
        ['what is allowed after being pushed back', 'half of what was, at least 1'],
        [
          'failures in a row that break it',
          `${STRIKES_TO_BREAK.open} while open, ${STRIKES_TO_BREAK.slow} while slow, 1 while probing; older than ${STRIKE_MS / 1_000} s does not count`,
        ],
        [
          'cool-down',
          `${COOL_BASE_MS / 1_000} s, doubled with each level, ${COOL_MAX_MS / 1_000} s at most, and up to a fifth longer`,
        ],
        ['levels', `0–${LEVEL_MAX}: bad episodes since it was last open`],
        ['the least time between two raises', `${RAISE_MS / 1_000} s, and as many successes as are allowed at once`],
        ['a raise', 'twice as many up to where it was pushed back, then a sixteenth of its concurrency'],
        [
          'calm before it opens',
          `${CALM_BASE_MS / 1_000} s, doubled with each level, ${calmMs(LEVEL_MAX) / 1_000} s at most`,
        ],
        [
          'cap of the backoff while it pushes back',
          `that of class \`throttled\`, doubled with each level, ${RAISED_CAP_MAX_MS / 60_000} minutes at most`,
        ],
        ['`Retry-After`', 'as asked and up to a tenth longer, a day at most'],
        [
          'heard late, where a process died',
          `\`Retry-After\` runs from the end of its attempt; being pushed back counts for ${recoveryMs(0) / 1_000} to ${recoveryMs(LEVEL_MAX) / 1_000} s, as long as the key would have taken to recover, a failure or a success for ${STRIKE_MS / 1_000} s; what is older is dropped`,
        ],
      ],
    ),
    `Throttling codes: class \`throttled\`, and ${codes([...THROTTLING_CODES])}. Breaking codes: ${codes([...BREAKING_CODES])}.`,
    '## What always holds',
    table(
      ['', 'what holds'],
      Object.entries(FLOW_INVARIANTS).map(([name, text]) => [`**${name}**`, text]),
    ),
  )
}

const INPUT_MEANS: Readonly<Record<KeyInputType, string>> = {
  throttled: 'an attempt was pushed back',
  retry_after: 'an attempt was pushed back and told when to come again',
  unavailable: 'an attempt failed with a breaking code',
  succeeded: 'an attempt succeeded',
  set: 'somebody set another limit',
  reset: 'somebody says that nothing is wrong',
  probe: 'somebody wants it tried now',
  time: 'the cool-down is over: told with whatever comes of it, as of then',
}

const moves = (): readonly (readonly string[])[] =>
  KEY_INPUTS.flatMap((input) =>
    KEY_STATES.flatMap((state) =>
      keyMovesFrom(input, state).map(({ event, to, when }) => [
        code(input),
        code(state),
        to === state ? '*same*' : code(to),
        code(event),
        when,
      ]),
    ),
  )
