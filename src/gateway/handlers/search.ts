/** `GET /jobs?q=`: what a caller may ask for, and what is told where it cannot be read. */
import { parseSearch, type Term } from '../../core/search.ts'
import type { Call } from '../call.ts'
import { isMasked } from '../masking.ts'
import { Objected, objection } from '../problem.ts'

/** `field`: where the search stands in the request. */
export function termsIn(text: string, field: string, call: Call): readonly Term[] {
  const search = parseSearch(text)
  if (!search.ok) {
    const { term, message, instead } = search
    const hint = instead === undefined ? '' : ` Did you mean ${instead}?`
    throw new Objected(objection('MALFORMED', `${message}${hint}`, [{ field, rule: `cannot have ${term}` }]))
  }
  if (isMasked(call) && search.terms.some((term) => term.field.startsWith('input.')))
    throw new Objected(objection('FORBIDDEN', 'A viewer does not see inputs, and cannot search them.'))
  return search.terms
}
