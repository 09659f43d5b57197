/** What could be wrong with slots, room and turns. */
import { type Mutant, mutant, ofStore } from './mutant.ts'

export const LETTING_IN: readonly Mutant[] = [
  mutant('nothing-taken-back', 'hall', ['flow/take-back.ts', 'back.push(slot.job)', '']),
  mutant('taken-back-too-little', 'hall', ['flow/take-back.ts', 'if (!isBeyond(gate, left, now)) break', 'break']),
  mutant('rate-freed-at-the-end-of-the-job', 'hall', [
    'flow/slots.ts',
    'pace === undefined ? paces : [...paces, pace]',
    'paces',
  ]),
  mutant('window-one-too-short', 'hall', [
    'flow/slots.ts',
    '=> at > now - gate.rateMs',
    '=> at > now - gate.rateMs + 1',
  ]),
  mutant('unclaimed-not-counted', 'hall', [
    'flow/slots.ts',
    'started: starts.length + unclaimed',
    'started: starts.length',
  ]),
  mutant('no-wake', 'hall', ['flow/let-in.ts', 'this.#wakes.set(key, shortage.wakeAt)', '{}']),
  mutant('unclaimed-rate-slot-without-wake', 'hall', [
    'flow/room.ts',
    '(oldestStart ?? now)',
    '(oldestStart ?? Infinity)',
  ]),
  mutant('wake-of-the-newest', 'hall', ['flow/slots.ts', 'Math.min(...starts)', 'Math.max(...starts) + 1']),
  mutant('window-never-turns', 'hall', ['flow/slots.ts', 'window === windowAt(gate, now) ? spent : 0', 'spent']),
  mutant('budget-wakes-late', 'hall', [
    'flow/room.ts',
    '(Math.floor(now / gate.perMs) + 1)',
    '(Math.floor(now / gate.perMs) + 2)',
  ]),
  mutant('part-of-the-keys-taken', 'hall', [
    'flow/let-in.ts',
    'this.admitted.push({ job, flow: name, keys })',
    'this.admitted.push({ job, flow: name, keys: keys.slice(0, 1) })',
  ]),
  mutant('only-the-first-key-asked', 'hall', [
    'flow/let-in.ts',
    'for (const key of keys) {\n      const { gate, count } = this.#key(key)\n      const shortage',
    'for (const key of keys.slice(0, 1)) {\n      const { gate, count } = this.#key(key)\n      const shortage',
  ]),
  mutant('stop-after-one', 'hall', ['flow/let-in.ts', 'ring.putBack(next)', '']),
  mutant('slots-of-this-commit-not-counted', 'hall', ['flow/let-in.ts', 'count: oneMore(count)', 'count']),
  mutant('lane-without-window', 'hall', ['flow/let-in.ts', 'this.#standingIn(lane) >= this.#hall.window', 'false']),
  mutant('let-in-while-paused', 'hall', [
    'flow/let-in.ts',
    'if (this.#hall.isPaused(queue)) return atQueue(queue)',
    '',
  ]),
  mutant('later-job-forgotten', 'hall', ['flow/let-in.ts', 'nextAt: head.readyAt', 'nextAt: undefined']),
  mutant('budget-not-asked', 'hall', [
    'flow/room.ts',
    'gate.budget !== undefined && count.spent >= gate.budget)\n    return { obstacle',
    'false)\n    return { obstacle',
  ]),
  mutant('turns-by-flow', 'accounts', [
    'flow/hall.ts',
    'Math.max(pass, last ?? pass) + 1 / weight',
    'pass + 1 / weight',
  ]),
  mutant('joins-before-its-account', 'accounts', [
    'flow/hall.ts',
    'if (last !== undefined) return last + 1 / weight',
    'if (last !== undefined) return last',
  ]),
  mutant('account-of-this-round-forgotten', 'accounts', [
    'flow/let-in.ts',
    'this.#last.set(flow.account, flow.pass)',
    '',
  ]),
  mutant('account-that-waits-forgotten', 'accounts', [
    'flow/let-in.ts',
    'this.#last.get(line) ?? this.#hall.lastOf(place, priority, account)',
    'this.#last.get(line)',
  ]),
  mutant('weight-of-an-account-ignored', 'accounts', [
    'flow/hall.ts',
    'Math.max(pass, last ?? pass) + 1 / weight',
    'Math.max(pass, last ?? pass) + 1',
  ]),
  ofStore('taken-back-place-lost', '_now: number): number => readyAt', 'now: number): number => now + readyAt * 0'),
  ofStore('pause-keeps-slots', 'readonly Job[] => standing', 'readonly Job[] => standing.slice(0, 0)'),
  ofStore('resume-lets-nobody-in', 'readonly Place[] => [queue]', 'readonly Place[] => [queue].slice(1)'),
  ofStore('cancel-lets-nobody-in', 'readonly Place[] => freed', 'readonly Place[] => freed.slice(0, 0)'),
  ofStore(
    'wait-keeps-its-slot',
    "(_then: 'ended' | 'aside' | 'again'): boolean => true",
    "(then: string): boolean => then !== 'aside'",
  ),
  ofStore('arrival-lost', '(arrived: boolean): boolean => arrived', '(arrived: boolean): boolean => arrived && false'),
  ofStore('lanes-not-looked-at-by-the-ticker', '  ...lanes,\n', ''),
  mutant('pass-of-a-returning-flow-kept-low', 'accounts', ['flow/hall.ts', 'Math.max(pass, lowest)', 'pass']),
  mutant('no-ageing', 'ageing', [
    'flow/let-in.ts',
    'urgencyOf(priority, hall.hungrySince(place, priority), now, AGE_MS)',
    'priority',
  ]),
  mutant('no-patience', 'hall', ['flow/take-back.ts', 'now - letInAt >= PATIENCE_MS', 'false']),
]
