import { mayWrite } from '../core/body.ts'
import type { Event } from '../core/event.ts'
import type { Violation } from '../core/refusal.ts'
import type { Body } from '../store/store.ts'
import type { Word } from './engine.ts'

const NONE: readonly Body[] = []
const NO_VIOLATIONS: readonly Violation[] = []

/** Each text must be the one its command refers to. */
export function bodyViolations({ command, bodies }: Word): readonly Violation[] {
  if (bodies === undefined || bodies.length === 0) return NO_VIOLATIONS
  return bodies
    .filter(({ name }) => !mayWrite(command.type, name))
    .map(({ name }) => ({ field: `bodies.${name.slice(0, 40)}`, rule: `${command.type} does not write this body` }))
}

/** The texts under the names the events give them: only when a signal is accepted does it get its number. */
export function wordBodies({ command, bodies }: Word, events: readonly Event[]): readonly Body[] {
  if (bodies === undefined || bodies.length === 0) return NONE
  if (command.type !== 'signal') return bodies
  const numbered = events.flatMap((event) =>
    event.type === 'signal_stored' || event.type === 'signalled' ? [event.payload.signal.body?.name] : [],
  )
  const name = numbered[0]
  const text = bodies[0]?.text
  return name === undefined || text === undefined ? NONE : [{ name, text }]
}
