/** What could be wrong with the life of a key. */
import { type Mutant, mutant } from './mutant.ts'

export const KEY_LIFE: readonly Mutant[] = [
  mutant('echoes-count', 'keys', ['flow/decide.ts', 'claimedAt >= key.freshFrom', 'claimedAt >= 0']),
  mutant('fresh-in-the-same-millisecond', 'keys', [
    'flow/evolve.ts',
    'const fresh = { freshFrom: at + 1,',
    'const fresh = { freshFrom: at,',
  ]),
  mutant('use-of-a-later-session-not-noted', 'keys', [
    'flow/decide.ts',
    'now - lastHeardAt(key) < HEARD_MS',
    'now >= 0',
  ]),
  mutant('allowed-none', 'keys', ['flow/numbers.ts', 'Math.max(1, Math.floor(n / 2))', 'Math.floor(n / 2)']),
  mutant('no-break-at-the-least', 'keys', ['flow/decide.ts', "(state === 'slow' && have <= 1)", 'false']),
  mutant('retry-after-holds-only-the-job', 'keys', [
    'flow/decide.ts',
    'return retryAfter(here, input.retryAfterMs, isFresh(here, input))',
    'return isFresh(here, input) ? throttled(here) : undefined',
  ]),
  mutant('retry-after-of-an-echo-ignored', 'keys', [
    'flow/decide.ts',
    'if (!fresh) return broken(here, asked, { rotate: false, worse: false })',
    'if (!fresh) return undefined',
  ]),
  mutant('until-moves-nearer', 'keys', ['flow/decide.ts', 'at + asked > key.until ?', 'true ?']),
  mutant('cool-down-flat', 'keys', ['flow/numbers.ts', 'COOL_BASE_MS * 2 ** (level - 1)', 'COOL_BASE_MS']),
  mutant('level-not-raised', 'keys', ['flow/numbers.ts', 'Math.min(LEVEL_MAX, level + 1)', 'Math.max(1, level)']),
  mutant('level-without-end', 'keys', ['flow/numbers.ts', 'Math.min(LEVEL_MAX, level + 1)', 'level + 2']),
  mutant('two-probes', 'keys', ['flow/gate.ts', '{ slots: 1, cap: concurrency', '{ slots: 2, cap: concurrency']),
  mutant('probe-waits-for-old-attempts', 'keys', ['flow/gate.ts', 'since: key.freshFrom', 'since: 0']),
  mutant('probe-although-full', 'keys', ['flow/gate.ts', '{ slots: 1, cap: concurrency', '{ slots: 1, cap: undefined']),
  mutant('probe-before-its-time', 'keys', ['flow/gate.ts', 'openAt: key.until', 'openAt: 0']),
  mutant('probe-opens', 'keys', [
    'flow/decide.ts',
    "if (state === 'probing') return { type: 'recovering', to: 'slow', payload: {} }",
    "if (state === 'probing') return { type: 'opened', to: 'open', payload: {} }",
  ]),
  mutant('probe-lets-all-in', 'keys', [
    'flow/evolve.ts',
    'return { ...NO_COUNTS, allowed: 1, until: 0, stepAt: at, since: at }',
    'return { ...NO_COUNTS, allowed: 2, until: 0, stepAt: at, since: at }',
  ]),
  mutant('open-without-calm', 'keys', ['flow/decide.ts', 'at - key.freshFrom >= calmMs(key.level)', 'true']),
  mutant('open-before-all-is-allowed', 'keys', ['flow/decide.ts', 'key.allowed >= most', 'key.allowed >= 1']),
  mutant('no-raise', 'keys', ['flow/decide.ts', 'good >= key.allowed && at - key.stepAt >= RAISE_MS', 'false']),
  mutant('raise-too-soon', 'keys', ['flow/decide.ts', ' && at - key.stepAt >= RAISE_MS', '']),
  mutant('raise-beyond-the-limit', 'keys', ['flow/decide.ts', 'Math.min(most, raisedFrom(key, most))', '2 * most']),
  mutant('strikes-kept-after-success', 'keys', [
    'flow/decide.ts',
    'strikes: 0, struckAt: 0, good: 0, heardAt: at }',
    'strikes: key.strikes, struckAt: key.struckAt, good: 0, heardAt: at }',
  ]),
  mutant('strikes-kept-for-ever', 'keys', [
    'flow/decide.ts',
    'at - key.struckAt > STRIKE_MS ? 0 : key.strikes',
    'key.strikes',
  ]),
  mutant('strikes-never-break', 'keys', ['flow/decide.ts', "key.state === 'open' ? 'open' : 'slow'", "'open'"]),
  mutant('session-kept', 'keys', ['flow/decide.ts', 'session: key.session + 1,', 'session: key.session,']),
  mutant('session-rotated-by-failures', 'keys', [
    'flow/decide.ts',
    'const asked = askedMs(retryAfterMs, seedOf(here))\n',
    'const asked = askedMs(retryAfterMs, seedOf(here))\n  if (!fresh) return broken(here, asked, { rotate: true, worse: false })\n',
  ]),
  mutant('session-forgotten-by-reset', 'keys', [
    'flow/evolve.ts',
    'return { ...OPEN, freshFrom: at + 1, since: at }',
    'return { ...OPEN, session: 0, freshFrom: at + 1, since: at }',
  ]),
  mutant('hastened-probe-by-an-old-attempt', 'keys', [
    'flow/evolve.ts',
    'return { until: at + 1, freshFrom: at + 1 }',
    'return { until: at, freshFrom: at }',
  ]),
  mutant('limit-not-lowered', 'keys', [
    'flow/decide.ts',
    "key.state === 'slow' ? allowedNow(key, around)",
    'false ? 0',
  ]),
]
