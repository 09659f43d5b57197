/** What somebody asks of many jobs, judged before anything is kept. The same for code, HTTP and the command line. */
import { DURATION_RULE, type Duration, parseDuration } from '../../core/duration.ts'
import type { State } from '../../core/job.ts'
import { LENGTHS, MAX_DURATION_MS } from '../../core/limits.ts'
import { ACTIONS, type Action, type Edit, mostStatesOf, type OperationSpec, statesFor } from '../../core/operation.ts'
import type { Violation } from '../../core/refusal.ts'
import { parseSearch, type Term } from '../../core/search.ts'

export interface OperationInput {
  /** `redrive`: a second chance. `cancel`: what lives ends. `purge`: what has ended is gone, with its log. */
  readonly action: Action
  /** Which jobs, in the grammar of searches: `queue:mail code:E_5XX_ORIGIN created:<1d`. */
  readonly query: string
  /**
   * Look only, and count what would be touched.
   * @default false
   */
  readonly dryRun?: boolean | undefined
  /**
   * Of a redrive: so many first, the rest if all of them succeed.
   * @default none: all of them
   */
  readonly canary?: number | undefined
  /**
   * How long the canaries may take. Where they have not succeeded by then, the rest stays as it is.
   * @default '1h'
   */
  readonly canaryWithin?: Duration | undefined
  /**
   * Of a cancel: `soft` asks handlers to stop; `hard` ends jobs now and fences their owners out.
   * @default 'soft'
   */
  readonly mode?: 'soft' | 'hard' | undefined
  /**
   * Why, for the log of each job.
   * @default none
   */
  readonly reason?: string | undefined
}

/** Who asks, and with which edited input, as text. */
export interface Asking extends Pick<OperationSpec, 'by' | 'queues'> {
  readonly input: string | undefined
  readonly patch: string | undefined
}

/** Durations as they come from outside: text that may be none. */
type Unjudged = Omit<OperationInput, 'canaryWithin'> & { readonly canaryWithin?: string | number | undefined }

export type Judged =
  | { readonly ok: true; readonly spec: OperationSpec }
  | { readonly ok: false; readonly violations: readonly Violation[] }

export const CANARY_MOST = 1_000
export const CANARY_WITHIN = '1h'
export const QUERY_LENGTH = 2_000

export function operationFrom(words: Unjudged, asking: Asking): Judged {
  const violations: Violation[] = []
  const object = (field: string, rule: string) => violations.push({ field, rule })
  const { action, query, dryRun = false, mode = 'soft', reason } = words
  if (!ACTIONS.includes(action)) return { ok: false, violations: [{ field: 'action', rule: ONE_OF(ACTIONS) }] }
  judgeQuery(action, query, object)
  if (!MODES.includes(mode)) object('mode', ONE_OF(MODES))
  if (words.mode !== undefined && action !== 'cancel') object('mode', 'is a cancel’s')
  if (reason !== undefined && !(typeof reason === 'string' && reason.length <= LENGTHS.message))
    object('reason', `must be text of at most ${LENGTHS.message} characters`)
  const canary = canaryFrom(words, object)
  const edit = editFrom(action, asking, object)
  if (violations.length > 0) return { ok: false, violations }
  const { by, queues } = asking
  return { ok: true, spec: { action, query, dryRun, by, queues, reason, canary, edit, mode } }
}

const MODES = ['soft', 'hard'] as const
const ONE_OF = (names: readonly string[]): string => `must be one of ${names.join(', ')}`

type Object = (field: string, rule: string) => void

function judgeQuery(action: Action, query: unknown, object: Object): void {
  if (typeof query !== 'string' || query.length > QUERY_LENGTH)
    return void object('query', `must be a search of at most ${QUERY_LENGTH} characters`)
  const search = parseSearch(query)
  if (!search.ok) {
    const hint = search.instead === undefined ? '' : ` Did you mean ${search.instead}?`
    return void object('query', `cannot have ${search.term}: ${search.message}${hint}`)
  }
  if (search.terms.length === 0 && action !== 'redrive')
    object('query', `is empty: to ${action} all there is, name the states (state:${mostStatesOf(action).join(',')})`)
  if (statesFor(action, statesIn(search.terms)).length === 0)
    object(
      'query',
      `finds nothing that one can ${action}: of all states these can be: ${mostStatesOf(action).join(', ')}`,
    )
}

/** Undefined where none are named. */
function statesIn(terms: readonly Term[]): readonly State[] | undefined {
  const asked = terms.filter(({ field, not }) => field === 'state' && !not)
  if (asked.length === 0) return undefined
  const [first, ...rest] = asked.map(({ values }) => values)
  return (first ?? []).filter((state) => rest.every((values) => values.includes(state))) as State[]
}

function canaryFrom(words: Unjudged, object: Object): OperationSpec['canary'] {
  const { action, canary: first, canaryWithin } = words
  if (first === undefined) {
    if (canaryWithin !== undefined) object('canaryWithin', 'needs a canary')
    return undefined
  }
  if (action !== 'redrive') object('canary', 'is a redrive’s: what is cancelled or purged does not run')
  if (!(Number.isInteger(first) && first >= 1 && first <= CANARY_MOST))
    object('canary', `must be a whole number from 1 to ${CANARY_MOST}`)
  const withinMs = parseDuration(canaryWithin ?? CANARY_WITHIN)
  if (withinMs === undefined || withinMs <= 0 || withinMs > MAX_DURATION_MS) object('canaryWithin', DURATION_RULE)
  return { first, withinMs: withinMs ?? 0 }
}

function editFrom(action: Action, { input, patch }: Asking, object: Object): Edit | undefined {
  if (input === undefined && patch === undefined) return undefined
  const field = input === undefined ? 'patch' : 'input'
  if (action !== 'redrive') object(field, 'is a redrive’s')
  if (input !== undefined && patch !== undefined) object('patch', 'a whole input or a patch of each, not both')
  return input === undefined ? { patch: patch ?? '' } : { input }
}
